// SPDX-License-Identifier: MIT
// Divides a graph of operators, and writes it as a program: each operator is a computation on its
// rank, and each edge between ranks a message with the edge's number as its tag.
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/partition/divided.h"
#include "cli/partition/operator_file.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define RUN_PS_MOST 4e18 // below half of the longest time of a simulation, 2^63 ps

/* ---- the scenario ---- */

static json_t *scenario_with(const struct model *m, json_t *nodes)
{
    static const char *const own[] = {"operators", "edges", "capacity_bytes"};
    json_t *scenario = json_deep_copy(m->draft.json), *ranks = json_array();
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        json_object_del(scenario, own[i]);
    for (uint32_t k = 0; k < m->parts; k++)
        json_array_append_new(ranks, json_integer(k));
    if (json_object_get(scenario, "name") == NULL)
        json_object_set_new(scenario, "name", json_string("partition"));
    if (json_object_get(scenario, "topology") == NULL)
        json_object_set_new(scenario, "topology",
                            json_pack("{s:[{s:s, s:i, s:{s:s, s:s}}]}", "dims", "kind", "switch",
                                      "size", m->parts > 1 ? (int)m->parts : 2, "link", "rate",
                                      "400Gbps", "delay", "1us"));
    json_object_set_new(
        scenario, "workload",
        json_pack("{s:s, s:o, s:o}", "kind", "program", "ranks", ranks, "nodes", nodes));
    return scenario;
}

static void add_message(json_t *nodes, const struct operator_graph *g, const uint32_t *part,
                        uint32_t e, json_int_t id, json_int_t after)
{
    const struct operator_edge *edge = &g->edges[e];
    bool sends = after >= 0;
    json_int_t from = part[edge->from], to = part[edge->to];
    json_t *node = json_pack("{s:I, s:I, s:s, s:I, s:I, s:s}", "rank", sends ? from : to, "id", id,
                             "kind", sends ? "send" : "recv", sends ? "to" : "from",
                             sends ? to : from, "tag", (json_int_t)e, "use", "edges");
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%.0fB", fmax(1, edge->bytes)); // a dependency alone: one byte
    if (sends) {
        json_object_set_new(node, "bytes", json_string(bytes));
        json_object_set_new(node, "after", json_integer(after));
    }
    json_array_append_new(nodes, node);
}

// Nodes in topological order: an operator behind what it receives, and its messages behind it.
static json_t *program_nodes(const struct operator_graph *g, const uint32_t *order,
                             const uint32_t *part)
{
    json_t *nodes = json_array();
    json_int_t *ids = memory_zeroed(g->n, sizeof *ids), next = 0;
    struct operator_ends in = operator_ends(g, false, true), out = operator_ends(g, true, false);
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t v = order[i];
        json_t *after = json_array();
        char time[32];
        for (uint32_t j = in.first[v]; j < in.first[v + 1]; j++) {
            uint32_t from = g->edges[in.edges[j]].from;
            bool cut = part[from] != part[v];
            json_array_append_new(after, json_integer(cut ? next : ids[from]));
            if (cut)
                add_message(nodes, g, part, in.edges[j], next++, -1);
        }
        ids[v] = next++;
        snprintf(time, sizeof time, "%.0fps", g->nodes[v].time_ps);
        json_array_append_new(nodes,
                              json_pack("{s:i, s:I, s:s, s:s, s:s, s:o}", "rank", (int)part[v],
                                        "id", ids[v], "kind", "compute", "name", g->nodes[v].name,
                                        "time", time, "after", after));
        for (uint32_t j = out.first[v]; j < out.first[v + 1]; j++)
            if (part[g->edges[out.edges[j]].to] != part[v])
                add_message(nodes, g, part, out.edges[j], next++, ids[v]);
    }
    free(ids);
    operator_ends_free(&in);
    operator_ends_free(&out);
    return nodes;
}

/* ---- the network ---- */

// The time of a byte on the slowest link of the network that the graph asks for.
static int read_network(const struct model *m, double *byte_ps, struct err *err)
{
    json_t *nodes = json_pack("[{s:i, s:s, s:s}]", "rank", 0, "kind", "compute", "time", "1ns");
    json_t *scenario = scenario_with(m, nodes);
    struct collwire_scenario *parsed = scenario_of_json(m->options, scenario, m->draft.folder, err);
    json_decref(scenario);
    if (parsed == NULL)
        return -1;
    *byte_ps = 8e12 / (double)spec_slowest_bps(scenario_spec(scenario_of(parsed)));
    collwire_scenario_free(parsed);
    return 0;
}

/* ---- the division ---- */

// METIS writes on stdout where it cannot divide a graph; the scenario may go there, and another
// division is taken then.
static struct operator_cost divide_silently(const struct operator_graph *g, const uint32_t *order,
                                            uint32_t parts, uint32_t *part)
{
    fflush(stdout);
    int shown = dup(STDOUT_FILENO), nowhere = open("/dev/null", O_WRONLY);
    if (shown >= 0 && nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    sigset_t terms, before;
    sigemptyset(&terms);
    sigaddset(&terms, SIGTERM); // METIS takes it for a failure of its own, and goes on
    sigprocmask(SIG_BLOCK, &terms, &before);
    struct operator_cost cost = operator_partition(g, order, parts, part);
    sigprocmask(SIG_SETMASK, &before, NULL);
    fflush(stdout);
    if (shown >= 0 && nowhere >= 0)
        dup2(shown, STDOUT_FILENO);
    if (shown >= 0)
        close(shown);
    if (nowhere >= 0)
        close(nowhere);
    return cost;
}

static char *describe(const struct operator_graph *g, uint32_t parts, const uint32_t *part,
                      const struct operator_cost *cost)
{
    struct text text;
    char bytes[UNIT_TEXT], memory[UNIT_TEXT];
    FILE *out = text_open(&text);
    double *ps = memory_zeroed(parts, sizeof *ps);
    uint32_t *n = memory_zeroed(parts, sizeof *n);
    for (uint32_t v = 0; v < g->n; v++) {
        ps[part[v]] += g->nodes[v].time_ps;
        n[part[v]]++;
    }
    for (uint32_t k = 0; k < parts; k++) {
        char time[UNIT_TEXT];
        human_time((ps_t)(ps[k] + 0.5), time);
        fprintf(out, "rank %u: %u operator%s, %s\n", k, n[k], n[k] == 1 ? "" : "s", time);
    }
    free(ps);
    free(n);
    human_bytes((uint64_t)cost->cut_bytes, bytes);
    human_bytes((uint64_t)cost->memory_bytes, memory);
    fprintf(out, "%s cross between ranks; the fullest holds %s.\n", bytes, memory);
    return text_close(out, &text);
}

static void divide_graph(const struct model *m, const struct operator_graph *g,
                         const uint32_t *order, struct divided *d, struct err *err)
{
    char capacity[UNIT_TEXT];
    uint32_t *part = memory_zeroed(g->n, sizeof *part);
    operator_equal(g, order, m->parts, part);
    d->equal_ps = operator_cost(g, m->parts, part).total_ps;
    struct operator_cost cost = divide_silently(g, order, m->parts, part);
    d->cost_ps = cost.total_ps;
    human_bytes((uint64_t)g->capacity_bytes, capacity);
    double most_ps = fmax(cost.total_ps, d->equal_ps);
    if (isfinite(most_ps) && most_ps > RUN_PS_MOST) {
        err_add(err, "operators",
                "take %.0f s on %u ranks in closed form, more than a run can last (%.0f s)",
                most_ps / 1e12, m->parts, RUN_PS_MOST / 1e12);
    } else if (!isfinite(cost.total_ps)) {
        err_add(err, "capacity_bytes", "no division among %u ranks was found that fits into %s",
                m->parts, capacity);
    } else {
        d->text = describe(g, m->parts, part, &cost);
        d->scenario = scenario_with(m, program_nodes(g, order, part));
    }
    free(part);
}

void divide_operators(const struct model *m, struct divided *d, struct err *err)
{
    struct operator_graph g;
    uint32_t *order;
    size_t errors = err->n_errors;
    if (json_object_get(m->draft.json, "workload") != NULL)
        err_add(err, "workload", "is made from `operators`, and must not be given beside them");
    operator_file_read(m->draft.json, &g, &order, err);
    if (err->n_errors == errors && m->parts > g.n)
        err_add(err, "--parts", "there are %u operators to divide, fewer than %u ranks", g.n,
                m->parts);
    if (err->n_errors == errors && read_network(m, &g.byte_ps, err) == 0)
        divide_graph(m, &g, order, d, err);
    free(order);
    operator_graph_free(&g);
}
