// SPDX-License-Identifier: MIT
// collwire compare: runs scenarios under several policies and seeds, each run in a separate
// process.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/result_set.h"
#include "cli/runs/report.h"
#include "cli/runs/runs.h"
#include "cli/runs/runs_internal.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/pool_progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/study/pool.h"

#define COST_FROM_S 5 // wall time: the estimate of a longer comparison is shown

/* ---- running ---- */

// In the worker: write the id of the set of files to the pipe.
static void work(void *ctx, size_t task, int to_parent)
{
    const struct compare *c = ctx;
    struct variant *one = &c->list[task];
    struct err err = {0};
    signals_keep(); // the parent removes its own files
    signals_install();
    result_set_leave(c->set);
    memory_share(c->options->jobs);
    if (!one->scenario)
        one->scenario = compare_load(c, one, &err);
    if (!one->scenario) {
        errors_print(&err);
        _exit(EXIT_BAD_USE);
    }
    struct simulation_options options = {
        .plain = c->options->plain, .one_of_many = true, .threads = (unsigned)c->options->threads};
    struct simulated run = simulate(one->scenario, one->dir, &options);
    size_t length = run.written ? strlen(run.id) : 0;
    bool told = write(to_parent, run.id, length) == (ssize_t)length;
    _exit(told ? run.code : EXIT_NOT_COMPLETED);
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct compare *c = ctx;
    struct variant *one = &c->list[end->task];
    one->ran = true;
    one->code = end->code < 0 ? EXIT_NOT_COMPLETED : end->code;
    one->failure = pool_failure(end);
    snprintf(one->id, sizeof one->id, "%s", end->bytes);
    if (one->failure) {
        pool_line_clear(&c->line);
        fprintf(stderr, "collwire: %s: %s\n", one->dir, one->failure);
    }
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    struct compare *c = ctx;
    pool_line_show(&c->line, p);
}

// Returns the estimated time of a run, by the cost of the first run. If the comparison will take
// long, prints an estimate before it begins.
static double estimate_s(const struct compare *c)
{
    struct err ignored = {0};
    char clock[CLOCK_TEXT];
    struct collwire_cost cost;
    struct collwire_sim *sim = simulation_build(c->list[0].scenario, &cost, &ignored);
    double jobs = (double)(c->options->jobs < c->n ? c->options->jobs : c->n), run_s = 0;
    if (sim)
        run_s = cost.wall_s;
    collwire_sim_free(sim);
    err_free(&ignored);
    double all_s = run_s * (double)c->n / jobs;
    if (all_s > COST_FROM_S)
        fprintf(stderr, "%zu runs, about %s with %.0f at a time\n", c->n, clock_text(all_s, clock),
                jobs);
    return run_s;
}

static void run_all(struct compare *c)
{
    struct pool_ops ops = {.ctx = c,
                           .work = work,
                           .ended = on_ended,
                           .progress = on_progress,
                           .progress_s = progress_wanted(c->options) ? POOL_PROGRESS_S : 0,
                           .death_signal = SIGTERM}; // end with the results so far
    c->line.noun = "runs";
    signals_phase("comparing");
    double *expected_s = memory_zeroed(c->n, sizeof *expected_s);
    if (progress_wanted(c->options)) {
        double run_s = estimate_s(c);
        for (size_t i = 0; i < c->n; i++)
            expected_s[i] = run_s;
        ops.expected_s = expected_s;
    }
    c->interrupted = ends_pool(&ops, c->n, c->options->jobs) != 0;
    pool_line_clear(&c->line);
    free(expected_s);
}

static int finish(struct compare *c)
{
    struct rows rows = {0};
    int code = EXIT_DONE;
    for (size_t i = 0; i < c->n; i++) {
        const struct variant *one = &c->list[i];
        char *metrics = one->id[0] ? result_set_read(one->dir, one->id, "metrics.json") : NULL;
        struct row_source run = {.scenario = one->of->name,
                                 .policy = one->policy,
                                 .name = one->name,
                                 .vary = one->vary,
                                 .seed = one->seed,
                                 .metrics = metrics,
                                 .failure = one->ran ? one->failure : NOT_STARTED};
        rows_add(&rows, &run);
        free(metrics);
        if (one->code != EXIT_DONE || !one->ran)
            code = EXIT_NOT_COMPLETED;
    }
    c->written = compare_write(c, &rows) == 0;
    if (!c->written)
        code = EXIT_NOT_COMPLETED;
    rows_free(&rows);
    ends_say("the results of the runs that have ended are kept");
    return code;
}

static void compare_free(struct compare *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].dir);
        free(c->list[i].policy);
        free(c->list[i].name);
        json_decref(c->list[i].vary);
        free(c->list[i].failure);
        collwire_scenario_free(c->list[i].scenario);
    }
    free(c->list);
    for (size_t i = 0; i < c->n_scenarios; i++) {
        policy_choices_free(c->scenarios[i].choices, c->scenarios[i].n_choices);
        collwire_scenario_free(c->scenarios[i].base);
    }
    free(c->scenarios);
    result_set_close(c->set);
    grid_free(&c->grid);
    free(c->heading);
    free(c->dir);
}

static int check_arguments(const struct options *o)
{
    for (size_t i = 0; i < o->n_args; i++)
        if (strcmp(o->args[i], "-") == 0) {
            fputs("collwire: compare reads a scenario several times: it takes files, not -\n",
                  stderr);
            return -1;
        }
    if (o->n_args > 0)
        return 0;
    fputs("collwire: compare takes one or more scenario files; see collwire compare --help\n",
          stderr);
    return -1;
}

int command_compare(const struct options *given)
{
    struct options o = *given;
    struct err err = {0};
    struct compare c = {.options = &o};
    if (check_arguments(&o) != 0)
        return EXIT_BAD_USE;
    options_jobs(&o);
    signals_phase("reading the scenario");
    signals_show(progress_wanted(&o));
    compare_plan(&c, &err);
    signals_show(false);
    int code = EXIT_BAD_USE;
    bool good = err.n_errors == 0;
    errors_print(&err);
    if (good) {
        run_all(&c);
        code = finish(&c);
        result_set_close(c.set); // the report has a lock of its own
        c.set = NULL;
        if (c.written && !c.interrupted)
            code = report_after(&o, c.dir, code);
    }
    compare_free(&c);
    return code;
}
