// SPDX-License-Identifier: MIT
#include "cli/library/library_beside.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "collective/algorithm/collective.h"
#include "engine/base/units.h"

struct beside_size {
    const struct measured_row *row;
    double simulated_ns;
};

// The scenario of a size.
static json_t *scenario_make(const struct options *o, const struct query *q, uint64_t bytes)
{
    json_t *library = json_pack("{s:s}", "kind", q->settings.rccl ? "rccl" : "nccl");
    if (!q->settings.rccl)
        json_object_set_new(library, "nccl",
                            json_string(nccl_version_name((enum nccl_version)q->settings.version)));
    if (o->env != NULL)
        json_object_set_new(library, "env", json_string(o->env));
    return json_pack("{s:s, s:s, s:{s:o, s:I}, s:{s:s, s:s, s:I, s:o}}", "name", "library",
                     "network", "hybrid", "topology", "machine", query_machine(o), "nodes",
                     (json_int_t)q->nodes, "workload", "kind", "collective", "op",
                     coll_op_name(q->op), "bytes", (json_int_t)bytes, "library", library);
}

// The time of the collective of a run; below 0 after an error.
static double time_of(const char *metrics)
{
    json_t *all = json_loads(metrics, 0, NULL);
    json_t *one = json_array_get(json_object_get(all, "collectives"), 0);
    json_t *start = json_object_get(one, "start_ns"), *end = json_object_get(one, "end_ns");
    double ns = json_is_number(end) ? json_number_value(end) - json_number_value(start) : -1;
    json_decref(all);
    return ns;
}

// Returns an exit code.
static int size_run(const struct options *o, const struct query *q, struct beside_size *size,
                    struct err *err)
{
    struct options none = {.policies = o->policies};
    json_t *json = scenario_make(o, q, size->row->bytes);
    struct collwire_scenario *scenario = scenario_of_json(&none, json, ".", err);
    json_decref(json);
    if (scenario == NULL)
        return EXIT_BAD_USE;
    err_drop_warnings(err);
    struct simulated made = simulate_in_memory(scenario, false, 1);
    size->simulated_ns = made.metrics != NULL ? time_of(made.metrics) : -1;
    simulated_free(&made);
    simulate_forget();
    collwire_scenario_free(scenario);
    return made.code;
}

/* ---- what is printed ---- */

static void words_of(const struct answer *a, uint64_t bytes, const char **algorithm,
                     const char **protocol)
{
    *algorithm = "pairs";
    *protocol = "-";
    if (!a->has_function)
        return;
    struct nccl_operation chosen = answer_choice(a, bytes);
    *algorithm = executor_algorithm_word(chosen.choice.algorithm);
    *protocol = executor_protocol_word(chosen.choice.protocol);
}

static void size_print(const struct answer *a, const struct beside_size *s)
{
    const char *algorithm, *protocol;
    char measured[UNIT_TEXT], simulated[UNIT_TEXT];
    double measured_ns = s->row->time_us * 1e3;
    double factor = coll_bus_factor(a->query->op, a->comm.ranks) * (double)s->row->bytes;
    words_of(a, s->row->bytes, &algorithm, &protocol);
    printf("%12" PRIu64 "  %-14s %-7s %10s %10s %6.2f %10.3f %10.3f\n", s->row->bytes, algorithm,
           protocol, human_ns((int64_t)measured_ns, measured),
           human_ns((int64_t)s->simulated_ns, simulated), s->simulated_ns / measured_ns,
           factor / measured_ns, factor / s->simulated_ns);
}

static json_t *size_json(const struct answer *a, const struct beside_size *s)
{
    const char *algorithm, *protocol;
    double measured_ns = s->row->time_us * 1e3;
    words_of(a, s->row->bytes, &algorithm, &protocol);
    return json_pack("{s:I, s:s, s:s, s:f, s:f, s:f}", "bytes", (json_int_t)s->row->bytes, "algo",
                     algorithm, "proto", protocol, "measured_ns", measured_ns, "simulated_ns",
                     s->simulated_ns, "ratio", s->simulated_ns / measured_ns);
}

static void heading_print(const struct options *o, const struct answer *a,
                          const struct measured_table *t)
{
    printf("%s of %u ranks beside %s (%s); simulated on the hybrid network, nothing else in it\n",
           coll_op_name(a->query->op), a->comm.ranks, o->against, t->kind);
    printf("%12s  %-14s %-7s %10s %10s %6s %10s %10s\n", "size (B)", "algorithm", "proto",
           "measured", "simulated", "ratio", "busbw", "simulated");
    printf("%12s  %-14s %-7s %10s %10s %6s %10s %10s\n", "", "", "", "", "", "", "(GB/s)",
           "(GB/s)");
}

/* ---- all ---- */

int library_beside(const struct options *o, const struct answer *a, struct measured_table *t,
                   struct err *err)
{
    const struct query *q = a->query;
    json_t *rows = json_array();
    int code = EXIT_DONE;
    if (measured_table_fit(t, o->against, coll_op_name(q->op), a->comm.ranks, err) != 0 ||
        (q->bytes > 0 && measured_table_need(t, o->against, q->bytes, err) != 0)) {
        json_decref(rows);
        return EXIT_BAD_USE;
    }
    errors_print(err); // what is noticed of the table
    if (o->format != FORMAT_JSON)
        heading_print(o, a, t);
    for (size_t i = 0; i < t->n && code == EXIT_DONE; i++) {
        struct beside_size size = {.row = &t->rows[i]};
        if (q->bytes > 0 && q->bytes != size.row->bytes)
            continue;
        code = size_run(o, q, &size, err);
        if (code != EXIT_DONE)
            break;
        if (o->format == FORMAT_JSON)
            json_array_append_new(rows, size_json(a, &size));
        else
            size_print(a, &size);
    }
    if (o->format == FORMAT_JSON) {
        json_t *root =
            json_pack("{s:s, s:i, s:s, s:s, s:O}", "op", coll_op_name(q->op), "ranks",
                      (int)a->comm.ranks, "file", o->against, "kind", t->kind, "rows", rows);
        json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(10));
        putchar('\n');
        json_decref(root);
    }
    json_decref(rows);
    if (code == EXIT_INTERRUPTED)
        ends_note();
    return code;
}
