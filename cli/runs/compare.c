// SPDX-License-Identifier: MIT
// collwire compare: runs scenarios under several policies and seeds, each run in a separate
// process.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/result_set.h"
#include "cli/runs/compare_draws.h"
#include "cli/runs/report.h"
#include "cli/runs/run_folder.h"
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
#include "report/study/worker_pool.h"

/* ---- compare plan ---- */

// The runs of a comparison: every value of --vary under every policy of --cc with every seed.

/* ---- a run ---- */

// Load the scenario of a run: the user's settings, the varied values, the seed, those of a draw and
// the policy's, in this order.
struct collwire_scenario *compare_load(const struct compare *c, const struct variant *one,
                                       const struct draw_sets *draw, struct err *err)
{
    const struct options *o = c->options;
    struct options sets = {0};
    char *seed = text_format("%llu", (unsigned long long)one->seed);
    options_set_all(&sets, o->sets, o->n_sets);
    for (size_t p = 0; p < grid_paths(&c->grid); p++)
        options_set(&sets, grid_path(&c->grid, p), grid_value(&c->grid, one->point, p));
    options_set(&sets, "seed", seed);
    if (draw)
        options_set_all(&sets, draw->list, draw->n);
    if (one->choice)
        options_set_all(&sets, one->choice->sets, one->choice->n_sets);
    struct collwire_scenario *scenario =
        scenario_open(o, one->of->path, sets.sets, sets.n_sets, err);
    free(seed);
    free(sets.sets);
    return scenario;
}

static char *dir_of(const struct compare *c, const struct variant *one)
{
    char *folder = run_folder(one->of->name, one->name, c->options->seeds > 1 ? &one->seed : NULL);
    char *dir = text_format("%s/%s", c->dir, folder);
    free(folder);
    return dir;
}

// The name of a run in tables: the values that vary, then the policy where --cc names some.
static char *name_of(const struct compare *c, const struct variant *one)
{
    char *values = grid_values_text(&c->grid, one->point, NULL);
    char *name = text_format("%s%s%s", values, *values && one->choice ? ", " : "",
                             one->choice ? one->choice->text : "");
    free(values);
    return name;
}

static void check_dirs(const struct compare *c, struct err *err)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(c->list[i].dir, c->list[k].dir) == 0)
                err_add(err, c->list[i].dir, "would hold the results of two runs");
}

// Add the runs of a value and a policy, NULL = the scenario's own. The scenario with the first seed
// is loaded here, to report its errors; the workers load the others.
static void add_runs(struct compare *c, struct compared *of, size_t point,
                     const struct policy_choice *choice, struct err *err)
{
    char *policy = choice ? memory_text(choice->text) : NULL;
    for (uint64_t k = 0; k < c->options->seeds; k++) {
        struct variant one = {.of = of, .choice = choice, .point = point};
        struct err own = {0};
        one.seed = collwire_scenario_seed(of->base) + k;
        one.name = name_of(c, &one);
        one.dir = dir_of(c, &one);
        if (grid_paths(&c->grid) > 0)
            one.vary = grid_values_json(&c->grid, point);
        if (k == 0)
            one.scenario = compare_load(c, &one, NULL, &own);
        err_add_all(err, one.name, &own);
        err_free(&own);
        if (!policy && one.scenario)
            policy = policy_own(scenario_of(one.scenario));
        one.policy = memory_text(policy ? policy : "");
        c->list = memory_resize(c->list, c->n + 1, sizeof *c->list);
        c->list[c->n++] = one;
    }
    free(policy);
}

/* ---- all of them ---- */

// A value with errors ends with its first policy.
static void add_point(struct compare *c, struct compared *of, size_t point, struct err *err)
{
    size_t errors = err->n_errors;
    if (!c->options->cc && grid_paths(&c->grid) > 0) {
        add_runs(c, of, point, NULL, err);
        return;
    }
    for (size_t i = 0; i < of->n_choices && err->n_errors == errors; i++)
        add_runs(c, of, point, &of->choices[i], err);
}

// Load all scenarios, so that the errors of all are reported at once.
static void open_scenarios(struct compare *c, struct err *err)
{
    const struct options *o = c->options;
    for (size_t i = 0; i < o->n_args; i++) {
        struct compared *of = &c->scenarios[c->n_scenarios++];
        of->path = o->args[i];
        of->base = scenario_open_one(o, of->path, err);
        if (!of->base)
            continue;
        of->name = collwire_scenario_name(of->base);
        for (const struct compared *other = c->scenarios; other < of; other++)
            if (other->name && strcmp(other->name, of->name) == 0)
                err_add(err, of->path, "has the same name as %s: \"%s\"", other->path, of->name);
    }
    if (!c->dir && o->n_args == 1 && !o->out) // one scenario's name is that of the directory
        c->dir = text_format("out/%s-compare", c->scenarios[0].name ? c->scenarios[0].name : "");
    else if (!c->dir)
        c->dir = memory_text(o->out ? o->out : "out/compare");
}

static void add_scenario(struct compare *c, struct compared *of, struct err *err)
{
    const struct options *o = c->options;
    size_t errors = err->n_errors;
    char *all = o->cc ? NULL : policy_choices_default(scenario_of(of->base));
    of->n_choices =
        policy_choices_read(o->cc ? o->cc : all, scenario_of(of->base), &of->choices, err);
    free(all);
    size_t points = grid_points(&c->grid, err);
    for (size_t point = 0; point < points && err->n_errors == errors; point++)
        add_point(c, of, point, err);
}

static bool has_value(const struct variant *one, const char *text)
{
    const char *path;
    json_t *value;
    json_object_foreach(one->vary, path, value)
    {
        if (strcmp(json_string_value(value), text) == 0)
            return true;
    }
    return false;
}

// Choose the baseline: the first run with the name, value or policy of --baseline, else with policy
// `none`, else the first run.
static void choose_baseline(struct compare *c, struct err *err)
{
    const char *wanted = c->options->baseline ? c->options->baseline : "none";
    if (c->n > 0)
        c->baseline = c->list[0].name;
    for (size_t i = 0; i < c->n; i++) {
        const struct variant *one = &c->list[i];
        if (strcmp(one->name, wanted) == 0 || strcmp(one->policy, wanted) == 0 ||
            has_value(one, wanted)) {
            c->baseline = one->name;
            return;
        }
    }
    if (c->options->baseline && err->n_errors == 0)
        err_add(err, "--baseline", "\"%s\" is not one of the policies%s that are compared", wanted,
                grid_paths(&c->grid) > 0 ? " or values" : "");
}

// Read --vary into the grid, and the heading of the rows that follows from it: "algorithm, policy".
static void read_axis(struct compare *c, struct err *err)
{
    const struct options *o = c->options;
    if (o->vary.n > 1)
        err_add(err, "--vary", "compare has one axis; a sweep has several");
    else if (o->vary.n == 1)
        grid_vary(&c->grid, o->vary.list[0], err);
    if (grid_varies(&c->grid, "seed"))
        err_add(err, "--vary", "seeds are compared with --seeds");
    if (o->cc && (grid_varies(&c->grid, "cc") || grid_varies(&c->grid, "cc.kind")))
        err_add(err, "--cc", "the policy is varied already, by --vary");
    struct text text;
    FILE *out = text_open(&text);
    for (size_t p = 0; p < grid_paths(&c->grid); p++) {
        const char *path = grid_path(&c->grid, p), *dot = strrchr(path, '.');
        fprintf(out, "%s%s", p > 0 ? ", " : "", dot ? dot + 1 : path);
    }
    if (grid_paths(&c->grid) == 0 || o->cc)
        fprintf(out, "%spolicy", grid_paths(&c->grid) > 0 ? ", " : "");
    c->heading = text_close(out, &text);
}

// Load all scenarios, list the runs and open the directory; errors are added to `err`.
static void compare_plan(struct compare *c, struct err *err)
{
    const struct options *o = c->options;
    c->scenarios = memory_zeroed(o->n_args, sizeof *c->scenarios);
    read_axis(c, err);
    if (err->n_errors == 0)
        open_scenarios(c, err);
    for (size_t i = 0; i < c->n_scenarios && err->n_errors == 0; i++)
        add_scenario(c, &c->scenarios[i], err);
    choose_baseline(c, err);
    check_dirs(c, err);
    if (err->n_errors == 0 && (o->draws > 0 || o->list))
        c->draws = compare_draws_plan(c, err);
    if (err->n_errors == 0 && !o->list && (c->set = result_set_open(c->dir, err)) != NULL) {
        result_set_claim(c->set, "compare.json", err);
        result_set_claim(c->set, "compare.csv", err);
        result_set_claim(c->set, "report.html", err);
    }
}

/* ---- compare ---- */

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
        one->scenario = compare_load(c, one, NULL, &err);
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
    size_t n = c->n + c->options->draws * (c->n / c->options->seeds);
    double jobs = (double)(c->options->jobs < n ? c->options->jobs : n), run_s = 0;
    if (sim)
        run_s = cost.wall_s;
    collwire_sim_free(sim);
    err_free(&ignored);
    double all_s = run_s * (double)n / jobs;
    if (all_s > COST_FROM_S)
        fprintf(stderr, "%zu runs, about %s with %.0f at a time\n", n, clock_text(all_s, clock),
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

static struct rows rows_of(const struct compare *c)
{
    struct rows rows = {0};
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
    }
    return rows;
}

static int finish(struct compare *c)
{
    struct rows rows = rows_of(c);
    int code = EXIT_DONE;
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].code != EXIT_DONE || !c->list[i].ran)
            code = EXIT_NOT_COMPLETED;
    if (!c->interrupted && compare_try(c, &rows)) {
        rows_free(&rows);
        rows = rows_of(c);
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
    compare_draws_free(c->draws);
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

static int command_compare(const struct options *given)
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
    if (good && o.list) {
        compare_draws_list(c.draws);
        code = EXIT_DONE;
    } else if (good) {
        run_all(&c);
        if (c.draws && !c.interrupted)
            compare_draws_run(c.draws, &c);
        else {
            compare_draws_free(c.draws);
            c.draws = NULL; // nothing to say of draws that were not begun
        }
        code = finish(&c);
        result_set_close(c.set); // the report has a lock of its own
        c.set = NULL;
        if (c.written && !c.interrupted)
            code = report_after(&o, c.dir, code);
    }
    compare_free(&c);
    return code;
}

/* ---- its row ---- */

static const char compare_text[] =
    "Simulates each scenario under each policy, in parallel, and prints a row for each policy "
    "with the parts of its time, and the change that would save most. With --vary, the same for "
    "each value of a key.\n\n"
    "A policy is NAME, NAME:PRESET, or either with settings, NAME{KEY=VALUE,...}: a key without "
    "a dot is one of the policy or of its transport, a key with a dot is a path as in --set. "
    "all is every policy that the transport can run. Without --cc these are none and the "
    "scenario's own policy, or all if that is none; with --vary the scenario's own. A policy "
    "replaces the scenario's cc object, "
    "unless it is of that kind already.\n\n"
    "With --seeds, times are means with 95 % intervals (below 5 seeds the times themselves), "
    "and ratios are over pairs of runs with the same seed.\n\n"
    "With --draws, every row is run again under N draws of what the scenario does not state (cold "
    "or warm connections, noise, latencies, buffer, ACKs, queue pairs, seed), the same for all "
    "rows; the median of each ratio, its 10 to 90 %, in how many draws the order stands and what "
    "moves it most are printed. What the scenario or --set states is not drawn; --list prints the "
    "ranges.\n\n"
    "The directory then holds compare.json, compare.csv (a row for each run, and for each job) "
    "and the results of each run in SCENARIO/[VALUE-][POLICY][-seedK].\n\n"
    "  collwire compare scenarios/incast.json --cc none,window,dcqcn\n"
    "  collwire compare scenarios/incast.json --cc all --seeds 5 --jobs 4\n"
    "  collwire compare job.json --cc 'none,dcqcn:scaled{rate_ai=40Mbps}'\n"
    "  collwire compare a.json b.json --cc dcqcn,swift --baseline dcqcn\n"
    "  collwire compare job.json --cc none,dcqcn --draws 20 --set switch.buffer=32MB\n"
    "  collwire compare ring.json --vary workload.algorithm=ring,halving_doubling";

const struct command compare_command = {
    .name = "compare",
    .help = "scenarios under several policies, side by side",
    .args = "SCENARIO...",
    .text = compare_text,
    .run = command_compare,
    .completes = COMPLETE_FILES,
};
