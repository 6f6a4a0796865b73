// SPDX-License-Identifier: MIT
// The results of a sweep: sweep.csv, tables, the list of points, and the cost before it runs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep_command.h"
#include "cli/sweep/sweep_internal.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/page/effects.h"
#include "report/study/comparison_table.h"

enum { TABLE_ROWS_MAX = 40 };

/* ---- the files ---- */

// Returns sweep.json as text, to be freed.
static char *description(struct store *store, const char *csv, bool why, struct err *err)
{
    json_t *paths = json_array(), *scenario = json_loads(store_scenario(store), 0, NULL);
    for (size_t p = 0; p < store_paths(store); p++)
        json_array_append_new(paths, json_string(store_path(store, p)));
    json_t *root =
        json_pack("{s:s, s:s, s:o, s:o}", "schema", "collwire.sweep/1", "name", store_name(store),
                  "varied", paths, "scenario", scenario ? scenario : json_null());
    json_object_set_new(root, "effects", csv ? sweep_csv_effects(csv) : json_array());
    if (why)
        json_object_set_new(root, "why", sweep_why(store, err));
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}

int sweep_commit(struct result_set *set, struct store *store, bool why,
                 const struct measured_table *measured, struct err *err)
{
    char *csv = sweep_csv(store, why, measured, err), *json = description(store, csv, why, err);
    int status = csv ? result_set_write(set, "sweep.csv", csv, err) : -1;
    if (status == 0)
        status = result_set_write(set, "sweep.json", json, err);
    if (status == 0)
        status = result_set_commit(set, NULL, err);
    free(csv);
    free(json);
    return status;
}

/* ---- rows of this shard ---- */

struct collecting {
    const struct sweep *sweep;
    struct rows rows;
    char **labels; // borrowed by the rows
    size_t n_labels, n_completed, n_incomplete, n_failed;
};

// The name of a point's scenario; "" where there is one.
static const char *scenario_at(const struct sweep *s, size_t position)
{
    return s->n_scenarios > 1 ? grid_value(&s->grid, position, 0) : "";
}

// The values of a point without its seed and scenario: "64KB, dcqcn"; to be freed.
static char *short_label(const struct sweep *s, size_t position)
{
    struct text text;
    FILE *out = text_open(&text);
    bool first = true;
    for (size_t p = 0; p < grid_paths(&s->grid); p++) {
        if (strcmp(grid_path(&s->grid, p), sweep_seed) == 0 ||
            strcmp(grid_path(&s->grid, p), sweep_scenario) == 0)
            continue;
        fprintf(out, "%s%s", first ? "" : ", ", grid_value(&s->grid, position, p));
        first = false;
    }
    return text_close(out, &text);
}

static size_t path_number(const struct sweep *s, const char *path)
{
    size_t p = 0;
    while (strcmp(grid_path(&s->grid, p), path) != 0)
        p++;
    return p;
}

// The rows of a point's jobs.
static void collect_jobs(struct collecting *c, const struct row_source *source, const char *text)
{
    json_t *jobs = text ? json_loads(text, 0, NULL) : NULL, *job, *value;
    size_t i, k;
    json_array_foreach(jobs, i, job)
    {
        struct row *row =
            rows_add_plain(&c->rows, source, json_string_value(json_object_get(job, "name")),
                           json_string_value(json_object_get(job, "status")));
        json_array_foreach(json_object_get(job, "values"), k, value)
        {
            if (k < ROW_COLUMNS && json_is_number(value))
                row->values[k] = json_number_value(value);
        }
    }
    json_decref(jobs);
}

static void collect(void *ctx, const struct store_point *p)
{
    struct collecting *c = ctx;
    const struct sweep *s = c->sweep;
    if (p->position >= s->n_grid)
        return;
    const char *seed = grid_value(&s->grid, p->position, path_number(s, sweep_seed));
    c->labels = memory_resize(c->labels, c->n_labels + 1, sizeof *c->labels);
    c->labels[c->n_labels] = short_label(s, p->position);
    struct row_source source = {.scenario = scenario_at(s, p->position),
                                .policy = c->labels[c->n_labels++],
                                .seed = strtoull(seed, NULL, 10),
                                .failure = p->failure};
    struct row *row = rows_add_plain(&c->rows, &source, NULL, p->status);
    memcpy(row->values, p->columns, sizeof row->values);
    c->n_completed += strcmp(p->status, "completed") == 0;
    c->n_incomplete += strcmp(p->status, "incomplete") == 0;
    c->n_failed += strcmp(p->status, "failed") == 0;
    collect_jobs(c, &source, p->jobs);
}

static void collecting_free(struct collecting *c)
{
    rows_free(&c->rows);
    texts_free(c->labels, c->n_labels);
}

/* ---- the table of nccl-tests ---- */

static double mean_at(const struct collecting *c, const char *scenario, const char *label,
                      size_t column)
{
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < c->rows.n; i++) {
        const struct row *row = &c->rows.list[i];
        if (strcmp(row->policy, label) == 0 && strcmp(row->scenario, scenario) == 0 &&
            !isnan(row->values[column])) {
            sum += row->values[column];
            n++;
        }
    }
    return n > 0 ? sum / (double)n : (double)NAN;
}

static void print_heading(bool measured)
{
    printf("%12s %12s %13s %13s", "size", "time", "algbw", "busbw");
    printf(measured ? " %13s %8s\n" : "\n", "measured", "ratio");
    printf("%12s %12s %13s %13s", "(B)", "(us)", "(GB/s)", "(GB/s)");
    printf(measured ? " %13s %8s\n" : "\n", "(us)", "");
}

static void print_size(const struct measured_table *measured, uint64_t bytes, double ns, double bps)
{
    const struct measured_row *row = measured_table_at(measured, bytes);
    if (isnan(ns))
        printf("%12llu %12s %13s %13s", (unsigned long long)bytes, "-", "-", "-");
    else
        printf("%12llu %12.2f %13.3f %13.3f", (unsigned long long)bytes, ns / 1e3,
               (double)bytes / ns, bps / 8e9);
    if (row && !isnan(ns))
        printf(" %13.2f %8.3f", row->time_us, ns / 1e3 / row->time_us);
    else if (measured->n > 0)
        printf(" %13s %8s", "-", "-");
    putchar('\n');
}

// Print a line for each size: the mean over seeds, in the units of nccl-tests, and its time by what
// was measured.
static void print_sizes(const struct sweep *s, const struct collecting *c)
{
    size_t at = grid_paths(&s->grid) - 1, seeds = s->grid.axes[s->grid.n_axes - 1].n;
    while (strncmp(grid_path(&s->grid, at), "workload", 8) != 0)
        at--;
    const char *sizes = grid_path(&s->grid, at);
    size_t time = row_column_find("collective_ns"), bus = row_column_find("busbw_bps");
    char *before = NULL;
    for (size_t position = 0; position < s->n_grid; position += seeds) {
        char *label = short_label(s, position), *group = grid_label(&s->grid, position, sizes);
        char *end = strstr(group, ", seed="),
             *start = strncmp(group, "seed=", 5) == 0 ? group : end;
        if (start)
            *start = '\0'; // the table has the mean over seeds
        if (!before || strcmp(before, group) != 0)
            printf("%s%s%s", before ? "\n" : "", group, *group ? "\n" : "");
        if (!before || strcmp(before, group) != 0)
            print_heading(s->measured.n > 0);
        uint64_t bytes = 0;
        parse_bytes(grid_value(&s->grid, position, at), &bytes);
        const char *scenario = scenario_at(s, position);
        double ns = mean_at(c, scenario, label, time), bps = mean_at(c, scenario, label, bus);
        print_size(&s->measured, bytes, ns, bps);
        free(before);
        before = group;
        free(label);
    }
    free(before);
}

/* ---- the end of a sweep ---- */

static void print_table(const struct collecting *c)
{
    struct table_style style = {"point", terminal_width(stdout), terminal_colours(stdout), false};
    struct comparison *comparison = comparison_new(&c->rows, c->labels[0]);
    for (size_t g = 0; g < comparison->n; g++) {
        const struct group *of = &comparison->groups[g];
        char *table = comparison_table(of, &style);
        const char *job = of->job ? of->job : "";
        if (*of->scenario != '\0' || *job != '\0')
            printf("%s%s%s\n", of->scenario,
                   *of->scenario && *job ? ", job "
                   : *job                ? "job "
                                         : "",
                   job);
        puts(table);
        free(table);
    }
    comparison_free(comparison);
}

// A point with all of its seeds is a row.
static size_t rows_of_table(const struct sweep *s)
{
    size_t at = path_number(s, sweep_seed);
    size_t a = 0;
    while (at >= s->grid.axes[a].n_paths)
        at -= s->grid.axes[a++].n_paths;
    return s->n_grid / s->grid.axes[a].n;
}

void sweep_results_print(const char *dir)
{
    path_print(stdout, "results: %s/sweep.csv", dir);
    path_print(stdout, ", %s/" STORE_FILE "\n", dir);
}

static void print_counts(const struct sweep *s, const struct collecting *c)
{
    printf("%zu of %zu points: %zu completed, %zu incomplete, %zu failed\n",
           c->n_completed + c->n_incomplete + c->n_failed, s->n_grid, c->n_completed,
           c->n_incomplete, c->n_failed);
    sweep_results_print(s->dir);
}

static void print_results(const struct sweep *s, const struct collecting *c, const char *csv)
{
    if (s->options->format == FORMAT_CSV) {
        fputs(csv, stdout);
        return;
    }
    if (s->options->format == FORMAT_JSON) {
        char *text = rows_document(&c->rows, collwire_scenario_name(s->bases[0]));
        puts(text);
        free(text);
        return;
    }
    if (s->options->sizes && c->rows.n > 0)
        print_sizes(s, c);
    else if (c->rows.n > 0 && rows_of_table(s) <= TABLE_ROWS_MAX)
        print_table(c);
    sweep_print_effects(csv);
    if (s->options->why)
        sweep_print_why(s->store, &(struct err){0});
    print_counts(s, c);
}

int sweep_finish(struct sweep *s)
{
    struct err err = {0};
    struct collecting c = {.sweep = s};
    signals_phase("writing the results");
    int status = store_each(s->store, collect, &c, &err);
    if (status == 0)
        status = sweep_commit(s->set, s->store, s->options->why, &s->measured, &err);
    char *csv = status == 0 ? sweep_csv(s->store, s->options->why, &s->measured, &err) : NULL;
    errors_print(&err);
    if (csv && options_print_results(s->options))
        print_results(s, &c, csv);
    size_t bad = c.n_incomplete + c.n_failed;
    collecting_free(&c);
    free(csv);
    ends_say("the same command runs the rest");
    return status == 0 && bad == 0 && !s->stop ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

/* ---- before a sweep ---- */

void sweep_print_list(const struct sweep *s)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct point *point = &s->points[i];
        char *label = grid_label(&s->grid, point->position, NULL);
        printf("%6zu  %-8s  ", point->position + 1, point->finished ? "finished" : "to run");
        terminal_wrap(stdout, label, 18, 20, terminal_width(stdout));
        free(label);
    }
}

void sweep_print_cost(const struct sweep *s, FILE *out)
{
    double seconds = 0, longest = 0;
    size_t finished = 0;
    char clock[CLOCK_TEXT];
    for (size_t i = 0; i < s->n; i++) {
        double expected = s->points[i].expected_s * s->calibration;
        finished += s->points[i].finished;
        seconds += s->points[i].finished ? 0 : expected;
        longest = !s->points[i].finished && expected > longest ? expected : longest;
    }
    double jobs = (double)s->options->jobs,
           wall = seconds / jobs > longest ? seconds / jobs : longest;
    fprintf(out, "%zu points: %zu finished, %zu to run, about %s with %llu at a time\n", s->n,
            finished, s->n - finished, clock_text(wall, clock),
            (unsigned long long)s->options->jobs);
}

static void list_point(void *ctx, const struct store_point *p)
{
    json_t *values = json_loads(p->values, 0, NULL), *value;
    const char *path;
    struct text text;
    FILE *out = text_open(&text);
    bool first = true;
    size_t *at = ctx;
    json_object_foreach(values, path, value)
    {
        fprintf(out, "%s%s=%s", first ? "" : ", ", path, json_string_value(value));
        first = false;
    }
    if (p->position == STORE_RETIRED)
        fputs("of an earlier sweep", out);
    char *label = text_close(out, &text);
    printf("%6zu  %-10s  ", ++*at, p->status);
    terminal_wrap(stdout, label, 20, 22, terminal_width(stdout));
    free(label);
    json_decref(values);
}

int sweep_list_store(const struct options *o)
{
    struct err err = {0};
    size_t at = 0;
    struct store *store = store_open(o->out, STORE_READ, collwire_version(), &err);
    if (store)
        store_each(store, list_point, &at, &err);
    store_close(store);
    bool good = err.n_errors == 0;
    errors_print(&err);
    return good ? EXIT_DONE : EXIT_BAD_USE;
}
