// SPDX-License-Identifier: MIT
// Runs of all policies, tests and seeds, alone and beside the congestors, each in a process.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/gpcnet/experiment.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/pool_progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "config/draft.h"
#include "config/policy_choice.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/study/worker_pool.h"
#include "sim/spec/spec.h"

/* ---- the network ---- */

static struct collwire_scenario *with_jobs(const struct experiment *g, json_t *jobs,
                                           const struct policy_choice *choice, uint64_t seed,
                                           struct err *err)
{
    struct options o = *g->options;
    json_t *scenario = json_deep_copy(g->draft.json);
    o.sets = memory_zeroed(o.n_sets + choice->n_sets + 1, sizeof *o.sets);
    for (size_t i = 0; i < o.n_sets; i++)
        o.sets[i] = g->options->sets[i];
    for (size_t i = 0; i < choice->n_sets; i++)
        o.sets[o.n_sets++] = choice->sets[i];
    json_object_set_new(scenario, "workload", jobs);
    json_object_del(scenario, "capture");
    json_object_set_new(scenario, "seed", json_integer((json_int_t)seed));
    char end[32];
    snprintf(end, sizeof end, "%lluns", (unsigned long long)g->span.end_ns);
    json_object_set_new(scenario, "limits", json_pack("{s:s}", "sim_time", end));
    json_object_set_new(scenario, "report",
                        json_pack("{s:i, s:i}", "flows_max", 0, "collectives_max", 1000000));
    struct collwire_scenario *made = scenario_of_json(&o, scenario, g->draft.folder, err);
    free(o.sets);
    json_decref(scenario);
    return made;
}

// Keys that the command sets itself.
static void refuse_sets(const struct options *o, struct err *err)
{
    static const char *const own[] = {"workload", "limits", "report", "seed", "capture"};
    for (size_t i = 0; i < o->n_sets; i++)
        for (size_t k = 0; k < sizeof own / sizeof *own; k++) {
            size_t length = strlen(own[k]);
            char next =
                strncmp(o->sets[i].path, own[k], length) == 0 ? o->sets[i].path[length] : 'x';
            if (next == '\0' || next == '.' || next == '[')
                err_add(err, o->sets[i].path, "is set by gpcnet itself");
        }
}

// All links of a rank together, or more: those of planes, and of direct topologies to each
// neighbour.
static double rank_bps(const struct spec *spec, const char *resolved)
{
    double sum = 0;
    json_t *scenario = json_loads(resolved, 0, NULL);
    const json_t *dims = json_object_get(json_object_get(scenario, "topology"), "dims");
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        double planes = json_number_value(json_object_get(json_array_get(dims, d), "planes"));
        sum += (double)spec->dims[d].links[0].rate_bps * fmax(planes, 1) *
               (spec->dims[d].kind->fabric ? 1 : (double)spec->dims[d].size);
    }
    json_decref(scenario);
    return sum;
}

static void check_network(const struct experiment *g, const struct spec *spec, struct err *err)
{
    if (spec->network != NETWORK_PACKET)
        err_add(err, "network", "the analytical network knows no congestion");
    if (spec->n_dims > 1 && !spec->dims[0].sw.routing.relay)
        err_add(err, "topology",
                "any two ranks must reach each other: one dimension, or switch.routing.relay");
    if (g->ranks < GPCNET_LEAST_RANKS)
        err_add(err, "topology",
                "has %u ranks; a network test and four congestors need at least %d", g->ranks,
                GPCNET_LEAST_RANKS);
    if (g->options->format == FORMAT_CSV)
        err_add(err, "--format", "gpcnet has no csv");
}

int experiment_read(struct experiment *g, const char *path, struct err *err)
{
    refuse_sets(g->options, err);
    if (draft_read(&g->draft, path, err) != 0)
        return -1;
    json_t *nothing =
        json_pack("[{s:s, s:s, s:[i, i]}]", "kind", "collective", "op", "barrier", "ranks", 0, 1);
    json_int_t seed = json_integer_value(json_object_get(g->draft.json, "seed"));
    g->first_seed = seed > 0 ? (uint64_t)seed : 1;
    g->span = gpcnet_span_of(1e9, 1e9); // until the network is known
    const struct policy_choice unchanged = {0};
    struct collwire_scenario *base = with_jobs(g, nothing, &unchanged, g->first_seed, err);
    if (base == NULL)
        return -1;
    const struct spec *spec = scenario_spec(scenario_of(base));
    g->ranks = spec_ranks(spec);
    g->span = gpcnet_span_of((double)spec_slowest_bps(spec),
                             rank_bps(spec, collwire_scenario_json(base)));
    check_network(g, spec, err);
    char *own = g->options->cc == NULL ? policy_own(scenario_of(base)) : NULL;
    g->n_policies = policy_choices_read(own != NULL ? own : g->options->cc, scenario_of(base),
                                        &g->choices, err);
    free(own);
    collwire_scenario_free(base);
    return g->n_policies > 0 && err->n_errors == 0 ? 0 : -1;
}

/* ---- runs ---- */

int experiment_make(struct experiment *g, struct err *err)
{
    uint64_t seeds = g->options->seeds > 0 ? g->options->seeds : 1;
    g->tasks = memory_zeroed(g->n_policies * seeds * GPCNET_TESTS * 2, sizeof *g->tasks);
    for (size_t p = 0; p < g->n_policies; p++)
        for (uint64_t k = 0; k < seeds; k++) {
            struct gpcnet_nodes nodes = gpcnet_nodes_draw(g->ranks, g->first_seed + k);
            for (int i = 0; i < GPCNET_TESTS * 2; i++) {
                struct task *t = &g->tasks[g->n_tasks++];
                *t = (struct task){.policy = p,
                                   .seed = g->first_seed + k,
                                   .test = (enum gpcnet_test)(i / 2),
                                   .congested = i % 2 != 0};
                t->scenario = with_jobs(g, gpcnet_jobs(&nodes, t->test, t->congested, &g->span),
                                        &g->choices[p], t->seed, err);
            }
            free(nodes.order);
            if (err->n_errors > 0)
                return -1;
        }
    return 0;
}

static void work(void *ctx, size_t task, int to_parent)
{
    const struct experiment *g = ctx;
    struct measured m = {0};
    signals_keep();
    memory_share(g->options->jobs);
    struct simulated run = simulate_in_memory(g->tasks[task].scenario, g->options->plain, 1);
    if (run.metrics == NULL)
        _exit(EXIT_NOT_COMPLETED);
    measured_add(&m, run.metrics, g->tasks[task].test, g->span.end_ns);
    size_t bytes = m.n * sizeof *m.values;
    bool told = write(to_parent, &m.unfinished, sizeof m.unfinished) == sizeof m.unfinished &&
                write(to_parent, m.values, bytes) == (ssize_t)bytes;
    _exit(told ? EXIT_DONE : EXIT_NOT_COMPLETED);
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct experiment *g = ctx;
    struct measured *made = &g->tasks[end->task].made;
    if (end->code == EXIT_DONE && end->n_bytes > sizeof made->unfinished) {
        memcpy(&made->unfinished, end->bytes, sizeof made->unfinished);
        made->n = (end->n_bytes - sizeof made->unfinished) / sizeof *made->values;
        made->values = memory_zeroed(made->n + 1, sizeof *made->values);
        memcpy(made->values, end->bytes + sizeof made->unfinished, made->n * sizeof *made->values);
        made->runs = 1;
    }
    g->failed += made->n == 0;
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    pool_line_show(&((struct experiment *)ctx)->line, p);
}

int experiment_run(struct experiment *g)
{
    struct pool_ops ops = {.ctx = g,
                           .work = work,
                           .ended = on_ended,
                           .progress = progress_wanted(g->options) ? on_progress : NULL,
                           .progress_s = POOL_PROGRESS_S,
                           .death_signal = SIGTERM};
    g->line = (struct pool_line){.noun = "runs"};
    g->impacts = memory_zeroed(g->n_policies, sizeof *g->impacts);
    for (size_t p = 0; p < g->n_policies; p++)
        g->impacts[p].policy = g->choices[p].text;
    int status = ends_pool(&ops, g->n_tasks, g->options->jobs);
    pool_line_clear(&g->line);
    for (size_t i = 0; i < g->n_tasks; i++) { // in their order, not that of their ends
        const struct task *t = &g->tasks[i];
        struct impact *impact = &g->impacts[t->policy];
        measured_join(t->congested ? &impact->beside[t->test] : &impact->alone[t->test], &t->made);
    }
    return status;
}

void experiment_free(struct experiment *g)
{
    for (size_t i = 0; i < g->n_tasks; i++) {
        collwire_scenario_free(g->tasks[i].scenario);
        measured_free(&g->tasks[i].made);
    }
    for (size_t p = 0; g->impacts != NULL && p < g->n_policies; p++)
        for (int t = 0; t < GPCNET_TESTS; t++) {
            measured_free(&g->impacts[p].alone[t]);
            measured_free(&g->impacts[p].beside[t]);
        }
    free(g->impacts);
    free(g->tasks);
    policy_choices_free(g->choices, g->n_policies);
    draft_free(&g->draft);
}
