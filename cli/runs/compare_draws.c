// SPDX-License-Identifier: MIT
// Draws of a comparison: planned over its rows, run by a pool of workers without files. A worker
// writes the columns of its run to the pipe as doubles, so that the results do not depend on the
// number of workers.
#include "cli/runs/compare_draws.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/draws/draw_list.h"
#include "cli/runs/compare_draws_internal.h"
#include "cli/runs/runs_internal.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/pool_progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "report/metrics_brief.h"

/* ---- the plan ---- */

struct loading {
    const struct compare *c;
    const struct drawn_row *rows; // of one scenario
};

// Loads a row with settings, and builds the first row: some limits, such as the headroom of
// switches, are known only when the network is built.
static bool row_loads(void *ctx, size_t row, const struct draw_sets *sets, char **why)
{
    const struct loading *loading = ctx;
    struct err err = {0};
    struct collwire_scenario *scenario =
        compare_load(loading->c, loading->rows[row].of, sets, &err);
    if (scenario && row == 0) {
        struct collwire_cost cost;
        collwire_sim_free(simulation_build(scenario, &cost, &err));
    }
    bool good = scenario && err.n_errors == 0;
    for (size_t i = 0; i < err.n_items && !good && !*why; i++)
        if (!err.items[i].warning)
            *why = memory_text(err.items[i].text);
    collwire_scenario_free(scenario);
    err_free(&err);
    return good;
}

// A row as the user states it: the seed is stated where it is without the row's own.
static json_t *given_of(const struct compared *of, const struct variant *one)
{
    json_t *given = json_copy((json_t *)(uintptr_t)scenario_given(scenario_of(one->scenario)));
    if (!json_object_get(scenario_given(scenario_of(of->base)), "seed"))
        json_object_del(given, "seed");
    return given;
}

// The rows of a scenario: its runs with the first seed.
static void add_rows(struct compare_draws *d, const struct compare *c, size_t scenario)
{
    const struct compared *of = &c->scenarios[scenario];
    for (size_t i = 0; i < c->n; i++) {
        struct variant *one = &c->list[i];
        if (one->of != of || one->seed != collwire_scenario_seed(of->base))
            continue;
        d->rows = memory_resize(d->rows, d->n_rows + 1, sizeof *d->rows);
        d->rows[d->n_rows++] = (struct drawn_row){.of = one, .given = given_of(of, one), scenario};
    }
}

static void plan_scenario(struct compare_draws *d, const struct compare *c, size_t scenario,
                          struct err *err)
{
    const struct compared *of = &c->scenarios[scenario];
    size_t first = d->n_rows;
    add_rows(d, c, scenario);
    size_t n = d->n_rows - first;
    if (n < 2) {
        err_add(err, "--draws", "%s has one row: there is no other to compare it with", of->name);
        return;
    }
    struct draw_row *rows = memory_zeroed(n, sizeof *rows);
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct draw_row){d->rows[first + i].given,
                                    scenario_of(d->rows[first + i].of->scenario)};
    struct loading loading = {c, &d->rows[first]};
    draw_plan_make(&d->plans[scenario], collwire_scenario_seed(of->base), rows, n, row_loads,
                   &loading);
    free(rows);
    if (draw_plan_is_empty(&d->plans[scenario]) && !c->options->list)
        err_add(err, "--draws", "%s states everything that could be drawn: see --list", of->name);
}

struct compare_draws *compare_draws_plan(const struct compare *c, struct err *err)
{
    if (c->options->draws == 0) {
        err_add(err, "--list", "prints the assumptions of --draws: it needs --draws N");
        return NULL;
    }
    struct compare_draws *d = memory_zeroed(1, sizeof *d);
    d->n_draws = c->options->draws;
    d->n_plans = c->n_scenarios;
    d->plans = memory_zeroed(c->n_scenarios, sizeof *d->plans);
    d->scenarios = c->scenarios;
    for (size_t s = 0; s < c->n_scenarios && err->n_errors == 0; s++)
        plan_scenario(d, c, s, err);
    d->values = memory_zeroed(d->n_draws * d->n_rows * ROW_COLUMNS + 1, sizeof *d->values);
    for (size_t i = 0; i < d->n_draws * d->n_rows * ROW_COLUMNS; i++)
        d->values[i] = (double)NAN;
    return d;
}

void compare_draws_free(struct compare_draws *d)
{
    if (!d)
        return;
    for (size_t r = 0; r < d->n_rows; r++)
        json_decref(d->rows[r].given);
    for (size_t s = 0; s < d->n_plans; s++)
        draw_plan_free(&d->plans[s]);
    free(d->rows);
    free(d->plans);
    free(d->values);
    free(d);
}

void compare_draws_list(const struct compare_draws *d)
{
    size_t width = terminal_width(stdout);
    for (size_t s = 0; s < d->n_plans; s++) {
        printf("%sassumptions of %s, drawn with equal probability\n", s > 0 ? "\n" : "",
               d->scenarios[s].name);
        draw_plan_print(stdout, &d->plans[s], width);
    }
}

/* ---- running ---- */

struct draws_pool {
    struct compare_draws *d;
    struct compare *c;
};

// With repetitions the last one counts: the others have warmed the connections.
static void keep_last(json_t *metrics, size_t repeats)
{
    json_t *all = json_object_get(metrics, "collectives"), *last = json_array();
    size_t n = json_array_size(all);
    for (size_t i = n - n / repeats; i < n; i++)
        json_array_append(last, json_array_get(all, i));
    json_object_set_new(metrics, "collectives", last);
}

// In the worker: run a row under a draw, and write its columns to the pipe.
static void work(void *ctx, size_t task, int to_parent)
{
    const struct draws_pool *pool = ctx;
    const struct compare_draws *d = pool->d;
    const struct drawn_row *row = &d->rows[task % d->n_rows];
    const struct draw_plan *plan = &d->plans[row->scenario];
    size_t k = task / d->n_rows + 1;
    struct err err = {0};
    signals_keep();
    signals_install();
    result_set_leave(pool->c->set);
    memory_share(pool->c->options->jobs);
    struct draw_sets sets = draw_settings(plan, row->given, k);
    struct collwire_scenario *scenario = compare_load(pool->c, row->of, &sets, &err);
    err_drop_warnings(&err);
    if (!scenario)
        _exit(EXIT_BAD_USE);
    struct simulated made =
        simulate_in_memory(scenario, pool->c->options->plain, (unsigned)pool->c->options->threads);
    json_t *metrics = made.metrics ? metrics_brief(made.metrics) : NULL;
    double values[ROW_COLUMNS];
    size_t repeats = draw_repeats(plan, k);
    if (repeats > 1)
        keep_last(metrics, repeats);
    for (size_t column = 0; column < ROW_COLUMNS; column++)
        values[column] = row_column_value(column, metrics);
    bool told =
        made.code == EXIT_DONE && write(to_parent, values, sizeof values) == (ssize_t)sizeof values;
    _exit(told ? EXIT_DONE : EXIT_NOT_COMPLETED);
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    const struct draws_pool *pool = ctx;
    double *values = &pool->d->values[end->task * ROW_COLUMNS];
    if (end->code == EXIT_DONE && end->n_bytes == ROW_COLUMNS * sizeof *values)
        memcpy(values, end->bytes, end->n_bytes);
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    struct draws_pool *pool = ctx;
    pool_line_show(&pool->c->line, p);
}

void compare_draws_run(struct compare_draws *d, struct compare *c)
{
    struct draws_pool pool = {d, c};
    struct pool_ops ops = {.ctx = &pool,
                           .work = work,
                           .ended = on_ended,
                           .progress = on_progress,
                           .progress_s = progress_wanted(c->options) ? POOL_PROGRESS_S : 0,
                           .death_signal = SIGTERM};
    c->line.noun = "runs of draws";
    signals_phase("drawing");
    c->interrupted = ends_pool(&ops, d->n_draws * d->n_rows, c->options->jobs) != 0;
    pool_line_clear(&c->line);
}
