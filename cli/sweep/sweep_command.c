// SPDX-License-Identifier: MIT
// collwire sweep: runs a grid of points into a store, resumes, lists, and merges shards.
#include "cli/sweep/sweep_command.h"

#include <stdlib.h>
#include <string.h>

#include "cli/measured/beside.h"
#include "cli/runs/report.h"
#include "cli/sweep/sweep_internal.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- merge ---- */

// Joins the stores of shards.

struct merge {
    struct store *to;
    struct err *err;
    size_t n;
};

static void add_point(void *ctx, const struct store_point *p)
{
    struct merge *m = ctx;
    if (m->err->n_errors > 0 || store_finished(m->to, p->hash))
        return;
    m->n += store_add(m->to, p, m->err) == 0;
}

static int add_store(struct merge *m, const char *dir)
{
    struct store *from = store_open(dir, STORE_READ, collwire_version(), m->err);
    if (!from)
        return -1;
    size_t n = store_paths(from);
    const char **paths = memory_zeroed(n, sizeof *paths);
    for (size_t p = 0; p < n; p++)
        paths[p] = store_path(from, p);
    int status = store_describe(m->to, store_name(from), store_scenario(from), paths, n, m->err);
    if (status == 0)
        status = store_each(from, add_point, m, m->err);
    free(paths);
    store_close(from);
    return status == 0 && m->err->n_errors == 0 ? 0 : -1;
}

// All stores must be readable before anything is written.
static int check_stores(const struct options *o, struct err *err)
{
    for (size_t i = 0; i < o->n_args; i++)
        store_close(store_open(o->args[i], STORE_READ, collwire_version(), err));
    return err->n_errors == 0 ? 0 : -1;
}

static int merge_into(const struct options *o, struct result_set *set, struct err *err)
{
    struct merge m = {.err = err};
    if (result_set_claim(set, "sweep.csv", err) != 0 ||
        result_set_claim(set, "sweep.json", err) != 0)
        return -1;
    m.to = store_open(o->out, STORE_CREATE, collwire_version(), err);
    int status = m.to ? 0 : -1;
    for (size_t i = 0; i < o->n_args && status == 0; i++)
        status = add_store(&m, o->args[i]);
    if (status == 0)
        status = sweep_commit(set, m.to, o->why, NULL, err);
    if (status == 0 && !o->quiet) {
        printf("%zu points added\n", m.n);
        if (o->why)
            sweep_print_why(m.to, err);
        sweep_results_print(o->out);
    }
    store_close(m.to);
    return status;
}

static int sweep_merge(const struct options *o)
{
    struct err err = {0};
    if (!o->out || o->n_args == 0) {
        fputs("collwire: sweep --merge takes the directories of sweeps and --out DIR; see "
              "collwire sweep --help\n",
              stderr);
        return EXIT_BAD_USE;
    }
    signals_phase("merging");
    struct result_set *set = NULL;
    int status = check_stores(o, &err);
    if (status == 0 && (set = result_set_open(o->out, &err)) != NULL) {
        signals_hold(true);
        status = merge_into(o, set, &err);
        signals_hold(false);
    }
    result_set_close(set);
    errors_print(&err);
    return status == 0 && set ? report_after(o, o->out, EXIT_DONE) : EXIT_BAD_USE;
}

/* ---- the store ---- */

static void note_done(void *ctx, const struct store_point *p)
{
    struct sweep *s = ctx;
    if (strcmp(p->status, "failed") == 0)
        return;
    s->done = memory_resize(s->done, s->n_done + 1, sizeof *s->done);
    memcpy(s->done[s->n_done++], p->hash, POINT_HASH);
}

// Read which points an existing store has finished.
static void store_look(struct sweep *s, struct err *err)
{
    struct store *store = store_open(s->dir, STORE_LOOK, collwire_version(), err);
    if (store)
        store_each(store, note_done, s, err);
    store_close(store);
}

struct stale {
    const struct sweep *sweep;
    char (*hashes)[POINT_HASH];
    size_t n;
};

static int by_position(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    return (x->position > y->position) - (x->position < y->position);
}

// True if a point of the store is in the present sweep. For points of other shards only the
// position and the values are compared, since their hashes are not known.
static bool belongs(const struct sweep *s, const struct store_point *p)
{
    if (p->position >= s->n_grid)
        return false;
    char *values = sweep_values(s, p->position);
    bool same = strcmp(values, p->values) == 0;
    free(values);
    struct point key = {.position = p->position};
    const struct point *own = bsearch(&key, s->points, s->n, sizeof key, by_position);
    return same && (!own || strcmp(own->hash, p->hash) == 0);
}

static void note_stale(void *ctx, const struct store_point *p)
{
    struct stale *stale = ctx;
    if (p->position == STORE_RETIRED || belongs(stale->sweep, p))
        return;
    stale->hashes = memory_resize(stale->hashes, stale->n + 1, sizeof *stale->hashes);
    memcpy(stale->hashes[stale->n++], p->hash, POINT_HASH);
}

// The name of the scenario, or the names of several; to be freed.
static char *names_text(const struct sweep *s)
{
    struct text text;
    FILE *out = text_open(&text);
    for (size_t i = 0; i < s->n_scenarios; i++)
        fprintf(out, "%s%s", i == 0 ? "" : ", ", collwire_scenario_name(s->bases[i]));
    return text_close(out, &text);
}

// The scenario with its defaults; several as a list. To be freed.
static char *scenarios_text(const struct sweep *s)
{
    if (s->n_scenarios == 1)
        return memory_text(collwire_scenario_json(s->bases[0]));
    struct text text;
    FILE *out = text_open(&text);
    for (size_t i = 0; i < s->n_scenarios; i++)
        fprintf(out, "%s%s", i == 0 ? "[" : ",", collwire_scenario_json(s->bases[i]));
    fputc(']', out);
    return text_close(out, &text);
}

// Make the store describe the present sweep: its axes, and the positions of the points that it has.
static int store_prepare(struct sweep *s, struct err *err)
{
    struct stale stale = {.sweep = s};
    size_t n = grid_paths(&s->grid);
    const char **paths = memory_zeroed(n, sizeof *paths);
    for (size_t p = 0; p < n; p++)
        paths[p] = grid_path(&s->grid, p);
    char *names = names_text(s), *scenarios = scenarios_text(s);
    int status = store_describe(s->store, names, scenarios, paths, n, err);
    free(names);
    free(scenarios);
    free(paths);
    for (size_t i = 0; i < s->n && status == 0; i++) {
        struct point *point = &s->points[i];
        point->finished = store_finished(s->store, point->hash);
        char *values = sweep_values(s, point->position);
        if (point->finished)
            status = store_move(s->store, point->hash, point->position, values, err);
        free(values);
    }
    if (status == 0)
        status = store_each(s->store, note_stale, &stale, err);
    for (size_t i = 0; i < stale.n && status == 0; i++)
        status = store_move(s->store, stale.hashes[i], STORE_RETIRED, "{}", err);
    free(stale.hashes);
    return status;
}

/* ---- the command ---- */

static void sweep_free(struct sweep *s)
{
    store_close(s->store);
    result_set_close(s->set);
    policy_choices_free(s->choices, s->n_choices);
    for (size_t i = 0; s->bases && i < s->n_scenarios; i++)
        collwire_scenario_free(s->bases[i]);
    free(s->bases);
    grid_free(&s->grid);
    free(s->points);
    free(s->done);
    free(s->dir);
}

// Open the directory and the store for writing.
static int sweep_open(struct sweep *s, struct err *err)
{
    signals_phase("opening the store");
    s->set = result_set_open(s->dir, err);
    if (!s->set || result_set_claim(s->set, "sweep.csv", err) != 0 ||
        result_set_claim(s->set, "sweep.json", err) != 0)
        return -1;
    signals_hold(true); // an interruption must not leave half of a store
    s->store = store_open(s->dir, STORE_CREATE, collwire_version(), err);
    int status = s->store ? store_prepare(s, err) : -1;
    signals_hold(false);
    return status;
}

static int run(struct sweep *s)
{
    struct err err = {0};
    if (sweep_open(s, &err) != 0) {
        errors_print(&err);
        return EXIT_BAD_USE;
    }
    errors_print(&err);
    if (progress_wanted(s->options))
        sweep_print_cost(s, stderr);
    sweep_run(s);
    return sweep_finish(s);
}

// Plan and check; then run, or print what would be run.
static int command_on(struct sweep *s)
{
    const struct options *o = s->options;
    struct err err = {0};
    signals_phase("planning the sweep");
    if (o->against && !o->sizes)
        err_add(&err, "--against", "measured times stand beside --sizes");
    else if (o->against)
        beside_table(&s->measured, o->against, &err);
    sweep_plan(s, &err);
    for (size_t i = 0; i < s->n_scenarios && err.n_errors == 0 && o->against; i++) {
        if (i > 0 && s->measured.op != NULL)
            err_add(&err, "--against", "this table is of one operation: give one scenario");
        else
            beside_fit(&s->measured, o->against, s->bases[i], &err);
    }
    if (err.n_errors == 0)
        store_look(s, &err);
    if (err.n_errors == 0)
        sweep_check(s, &err);
    bool good = err.n_errors == 0;
    errors_print(&err);
    if (!good)
        return EXIT_BAD_USE;
    if (s->interrupted)
        return EXIT_NOT_COMPLETED;
    if (o->list) {
        sweep_print_list(s);
        return EXIT_DONE;
    }
    if (o->dry_run) {
        sweep_calibrate(s);
        sweep_print_cost(s, stdout);
        return EXIT_DONE;
    }
    return run(s);
}

static int check_arguments(const struct options *o)
{
    for (size_t i = 0; i < o->n_args; i++)
        if (strcmp(o->args[i], "-") == 0) {
            fputs("collwire: sweep reads a scenario several times: it takes a file, not -\n",
                  stderr);
            return -1;
        }
    if (o->n_args > 0)
        return 0;
    fputs("collwire: sweep takes one or more scenario files; see collwire sweep --help\n", stderr);
    return -1;
}

static int command_sweep(const struct options *given)
{
    struct options o = *given;
    struct sweep s = {.options = &o, .calibration = 1};
    if (o.merge)
        return sweep_merge(&o);
    if (o.list && o.n_args == 0 && o.out)
        return sweep_list_store(&o);
    if (check_arguments(&o) != 0)
        return EXIT_BAD_USE;
    s.paths = o.args;
    s.n_scenarios = o.n_args;
    options_jobs(&o);
    int code = command_on(&s);
    char *dir = memory_text(s.dir ? s.dir : "");
    bool ran =
        s.set != NULL && (code == EXIT_DONE || code == EXIT_NOT_COMPLETED) && !ends_interrupted();
    measured_table_free(&s.measured);
    sweep_free(&s);
    if (ran) // the report has a lock of its own
        code = report_after(&o, dir, code);
    free(dir);
    return code;
}

/* ---- its row ---- */

static const char sweep_text[] =
    "Runs all combinations of the values that --vary gives to keys of the scenario, of the "
    "policies of --cc and of --seeds, in parallel. Paths are those of --set.\n\n"
    "The directory (out/NAME-sweep) then holds results.sqlite, the store, with a row and the "
    "metrics.json of each point, and sweep.csv, with a row for each point. A point that has "
    "finished is not run again: the same command after an interruption runs the rest, and one "
    "with more values runs those. What identifies a point are the scenario with all defaults, "
    "the contents of the files that it names, and the version of the program. Points write no "
    "captures.\n\n"
    "  collwire sweep job.json --vary switch.buffer=8MB,32MB --cc none,dcqcn\n"
    "  collwire sweep job.json --vary 'cc.kind=dcqcn,hpcc;switch.buffer=8MB,9MB'\n"
    "  collwire sweep ring.json --sizes 1KB:1GB --cc none,swift\n"
    "  collwire sweep ring.json tree.json --sizes 8:128M --why\n"
    "  collwire sweep job.json --sizes 1M:1G --against nccl-tests.txt\n"
    "  collwire sweep job.json --vary cc.kind=dcqcn,hpcc --seeds 5 --dry-run\n"
    "  collwire sweep job.json --vary ... --shard 1/4 --out out/part1\n"
    "  collwire sweep --merge out/part1 out/part2 --out out/all";

const struct command sweep_command = {
    .name = "sweep",
    .help = "every combination of values of some keys, resumable",
    .args = "SCENARIO...",
    .text = sweep_text,
    .run = command_sweep,
    .completes = COMPLETE_FILES,
};
