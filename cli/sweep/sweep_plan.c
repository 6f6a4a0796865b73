// SPDX-License-Identifier: MIT
// The points of a sweep: loading one, and the check of every point before anything runs.
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/runs/simulate.h"
#include "cli/sweep/sweep_command.h"
#include "cli/sweep/sweep_internal.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/study/worker_pool.h"

enum { CHUNK = 32 }; // points that a worker checks

/* ---- loading ---- */

static const struct policy_choice *choice_named(const struct sweep *s, const char *text)
{
    size_t i = 0;
    while (strcmp(s->choices[i].text, text) != 0)
        i++;
    return &s->choices[i];
}

// The file of the scenario with this name.
static const char *path_named(const struct sweep *s, const char *name)
{
    size_t i = 0;
    while (strcmp(collwire_scenario_name(s->bases[i]), name) != 0)
        i++;
    return s->paths[i];
}

static void add_set(struct options *o, const char *path, const char *value)
{
    options_set(o, path, value);
}

struct collwire_scenario *sweep_load(const struct sweep *s, size_t position, const char *wall_limit,
                                     struct err *err)
{
    struct options sets = {0};
    const char *path_of_file = s->paths[0];
    for (size_t i = 0; i < s->options->n_sets; i++)
        add_set(&sets, s->options->sets[i].path, s->options->sets[i].value);
    for (size_t p = 0; p < grid_paths(&s->grid); p++) {
        const char *path = grid_path(&s->grid, p), *value = grid_value(&s->grid, position, p);
        if (strcmp(path, sweep_scenario) == 0) {
            path_of_file = path_named(s, value);
            continue;
        }
        if (strcmp(path, sweep_policy) != 0) {
            add_set(&sets, path, value);
            continue;
        }
        const struct policy_choice *choice = choice_named(s, value);
        for (size_t i = 0; i < choice->n_sets; i++)
            add_set(&sets, choice->sets[i].path, choice->sets[i].value);
    }
    add_set(&sets, "capture", "[]");
    if (wall_limit)
        add_set(&sets, "limits.wall", wall_limit);
    struct collwire_scenario *scenario =
        scenario_open(s->options, path_of_file, sets.sets, sets.n_sets, err);
    free(sets.sets);
    return scenario;
}

char *sweep_values(const struct sweep *s, size_t position)
{
    json_t *values = grid_values_json(&s->grid, position);
    char *text = json_dumps(values, JSON_COMPACT);
    json_decref(values);
    return text;
}

/* ---- the check ---- */

static int by_hash(const void *a, const void *b) { return strcmp(a, b); }

static bool was_done(const struct sweep *s, const char *hash)
{
    return s->n_done > 0 && bsearch(hash, s->done, s->n_done, POINT_HASH, by_hash) != NULL;
}

// Build the network of a point that has to run, for its errors and its estimate.
static void build(const struct collwire_scenario *scenario, struct err *err,
                  struct collwire_cost *cost)
{
    collwire_sim_free(simulation_build(scenario, cost, err));
}

// Identifies the program: its version, and the digests of the command line's plugins. (Plugins of
// the scenario are among the files that it names.)
static char *program_text(const struct policies *p)
{
    struct text text;
    FILE *out = text_open(&text);
    fputs(collwire_version(), out);
    for (size_t i = 0; i < p->n_plugins; i++)
        fprintf(out, " %s", p->plugins[i]->sha256);
    return text_close(out, &text);
}

// Check a point and write its hash, cost and errors as a line of JSON.
static void check_point(const struct sweep *s, const struct point *point, FILE *out)
{
    struct err err = {0};
    char hash[POINT_HASH] = "";
    struct collwire_cost cost = {0};
    struct collwire_scenario *scenario = sweep_load(s, point->position, NULL, &err);
    if (scenario) {
        char *program = program_text(policies_of(s->options->policies));
        point_hash(collwire_scenario_json(scenario), scenario_dir(scenario_of(scenario)), program,
                   hash);
        free(program);
        if (!was_done(s, hash))
            build(scenario, &err, &cost);
    }
    collwire_scenario_free(scenario);
    json_t *errors = json_array();
    for (size_t i = 0; i < err.n_items; i++)
        json_array_append_new(errors, json_pack("[s, b]", err.items[i].text, err.items[i].warning));
    json_t *line = json_pack("{s:s, s:f, s:f, s:o}", "hash", hash, "s", cost.wall_s, "hops",
                             cost.packet_hops, "errors", errors);
    json_dumpf(line, out, JSON_COMPACT);
    fputc('\n', out);
    json_decref(line);
    err_free(&err);
}

// Errors of all points: equal texts count together.
struct finding {
    char *text;
    bool warning;
    size_t first, n; // position of the first point
};

struct checking {
    struct sweep *sweep;
    struct finding *list;
    size_t n;
    struct err *err;
};

static void check_work(void *ctx, size_t task, int to_parent)
{
    const struct checking *c = ctx;
    const struct sweep *s = c->sweep;
    FILE *out = fdopen(to_parent, "w");
    signals_keep(); // SIGTERM ends a worker at once and without a message
    memory_share(s->options->jobs);
    for (size_t i = task * CHUNK; out && i < (task + 1) * CHUNK && i < s->n; i++)
        check_point(s, &s->points[i], out);
    _exit(out && fclose(out) == 0 ? EXIT_DONE : EXIT_NOT_COMPLETED);
}

static void finding_add(struct checking *c, const char *text, bool warning, size_t position)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->list[i].text, text) == 0) {
            c->list[i].n++;
            if (position < c->list[i].first)
                c->list[i].first = position;
            return;
        }
    c->list = memory_resize(c->list, c->n + 1, sizeof *c->list);
    c->list[c->n++] = (struct finding){memory_text(text), warning, position, 1};
}

static void check_line(struct checking *c, struct point *point, const json_t *line)
{
    const json_t *errors = json_object_get(line, "errors"), *item;
    size_t i;
    snprintf(point->hash, sizeof point->hash, "%s",
             json_string_value(json_object_get(line, "hash")));
    point->expected_s = json_number_value(json_object_get(line, "s"));
    point->expected_hops = json_number_value(json_object_get(line, "hops"));
    point->finished = was_done(c->sweep, point->hash);
    json_array_foreach(errors, i, item)
        finding_add(c, json_string_value(json_array_get(item, 0)),
                    json_is_true(json_array_get(item, 1)), point->position);
}

static void check_ended(void *ctx, const struct pool_end *end)
{
    struct checking *c = ctx;
    struct sweep *s = c->sweep;
    const char *at = end->bytes;
    char *failure = pool_failure(end);
    size_t i = end->task * CHUNK, last = i + CHUNK < s->n ? i + CHUNK : s->n;
    for (; i < last && *at != '\0'; i++) {
        size_t length = strcspn(at, "\n");
        json_t *line = json_loadb(at, length, 0, NULL);
        if (line)
            check_line(c, &s->points[i], line);
        json_decref(line);
        at += length + (at[length] == '\n');
    }
    if (i < last && end->signal != SIGTERM) {
        char *label = grid_label(&s->grid, s->points[i].position, NULL);
        err_add(c->err, label, "the check of this point %s", failure ? failure : "failed");
        free(label);
    }
    free(failure);
}

static void check_progress(void *ctx, const struct pool_progress *p)
{
    struct checking *c = ctx;
    pool_line_show(&c->sweep->line, p);
}

static void findings_report(struct checking *c)
{
    for (size_t i = 0; i < c->n; i++) {
        const struct finding *f = &c->list[i];
        char *label = grid_label(&c->sweep->grid, f->first, NULL);
        char *others = f->n > 1 ? text_format(" and %zu more", f->n - 1) : memory_text("");
        bool all = f->n == c->sweep->n;
        char *where = all ? memory_text("") : text_format(" (%s%s)", label, others);
        if (f->warning)
            err_warn(c->err, NULL, "%s%s", f->text, where);
        else
            err_add(c->err, NULL, "%s%s", f->text, where);
        free(where);
        free(others);
        free(label);
        free(f->text);
    }
    free(c->list);
}

static int by_point_hash(const void *a, const void *b)
{
    const struct point *const *x = a, *const *y = b;
    int order = strcmp((*x)->hash, (*y)->hash);
    return order != 0 ? order
                      : ((*x)->position > (*y)->position) - ((*x)->position < (*y)->position);
}

// Report points that are the same scenario, such as 1MB and 1000KB.
static void check_twins(const struct sweep *s, struct err *err)
{
    const struct point **sorted = memory_zeroed(s->n, sizeof *sorted);
    for (size_t i = 0; i < s->n; i++)
        sorted[i] = &s->points[i];
    qsort(sorted, s->n, sizeof *sorted, by_point_hash);
    for (size_t i = 1; i < s->n; i++) {
        if (sorted[i]->hash[0] == '\0' || strcmp(sorted[i]->hash, sorted[i - 1]->hash) != 0)
            continue;
        char *a = grid_label(&s->grid, sorted[i - 1]->position, NULL),
             *b = grid_label(&s->grid, sorted[i]->position, NULL);
        err_add(err, "--vary", "two points are the same scenario: (%s) and (%s)", a, b);
        free(a);
        free(b);
    }
    free(sorted);
}

void sweep_check(struct sweep *s, struct err *err)
{
    struct checking c = {.sweep = s, .err = err};
    struct pool_ops ops = {.ctx = &c,
                           .work = check_work,
                           .ended = check_ended,
                           .progress = check_progress,
                           .progress_s = progress_wanted(s->options) ? POOL_PROGRESS_S : 0,
                           .death_signal = SIGKILL};
    s->line.noun = "blocks of points";
    if (s->n_done > 0)
        qsort(s->done, s->n_done, POINT_HASH, by_hash);
    s->interrupted = ends_pool(&ops, (s->n + CHUNK - 1) / CHUNK, s->options->jobs) != 0;
    pool_line_clear(&s->line);
    findings_report(&c);
    if (err->n_errors == 0 && !s->interrupted)
        check_twins(s, err);
}
