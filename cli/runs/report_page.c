// SPDX-License-Identifier: MIT
// Reads a directory of results into the document of its page.
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/results/result_set.h"
#include "cli/runs/report.h"
#include "cli/runs/run_folder.h"
#include "config/object/output_name.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"
#include "report/comparison/statistics.h"
#include "report/page.h"

enum { RUNS_IN_DETAIL = 12 };

// ---- values ----

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static const char *version_of(const json_t *run)
{
    return text_at(json_object_get(run, "versions"), "collwire");
}

// ---- a run ----

static struct page *run_page(const char *dir, struct err *err)
{
    json_t *metrics = result_set_json(dir, "metrics.json"), *run = result_set_json(dir, "run.json"),
           *timeline = result_set_json(dir, "timeline.json");
    const json_t *scenario = json_object_get(metrics, "scenario");
    struct page *page = NULL;
    if (json_is_object(metrics)) {
        page = page_new(PAGE_RUN, text_at(metrics, "name"), version_of(run), 1);
        page_origin(page, text_at(run, "command"), scenario);
        struct page_run one = {.scenario = text_at(metrics, "name"),
                               .policy = text_at(json_object_get(scenario, "cc"), "kind"),
                               .seed =
                                   (uint64_t)json_integer_value(json_object_get(metrics, "seed")),
                               .metrics = metrics,
                               .timeline = timeline,
                               .detail = true};
        page_add_run(page, &one);
    } else {
        char *path = text_format("%s/metrics.json", dir);
        err_add(err, path, "cannot be read: it is not a whole JSON object");
        free(path);
    }
    json_decref(metrics);
    json_decref(run);
    json_decref(timeline);
    return page;
}

// ---- a comparison ----

// The name of a row: its policy, and with varied values both.
static const char *row_name(const json_t *row)
{
    const char *name = text_at(row, "name");
    return name ? name : text_at(row, "cc");
}

static const char *row_scenario(const json_t *row) { return text_at(row, "scenario"); }

static bool same_text(const char *a, const char *b) { return strcmp(a ? a : "", b ? b : "") == 0; }

// True for the first row of a scenario with its name.
static bool is_first(const json_t *rows, size_t i)
{
    const json_t *row = json_array_get(rows, i);
    for (size_t j = 0; j < i; j++) {
        const json_t *other = json_array_get(rows, j);
        if (same_text(row_name(row), row_name(other)) &&
            same_text(row_scenario(row), row_scenario(other)))
            return false;
    }
    return true;
}

static size_t n_first(const json_t *rows)
{
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        n += is_first(rows, i);
    return n;
}

// The metrics in DIR/NAME if they are those of the row; a directory may have been written since.
static json_t *metrics_of(const json_t *row, const char *dir, const char *name)
{
    char *path = text_format("%s/%s", dir, name);
    json_t *metrics = output_name_escapes(name) ? NULL : result_set_json(path, "metrics.json");
    static const char *const same[] = {"seed", "sim_time_ns"};
    for (size_t i = 0; metrics && i < sizeof same / sizeof *same; i++) {
        const json_t *expected = json_object_get(row, same[i]);
        if (json_is_integer(expected) && !json_equal(expected, json_object_get(metrics, same[i]))) {
            json_decref(metrics);
            metrics = NULL;
        }
    }
    free(path);
    return metrics;
}

// Data that the runs of a comparison share.
struct compared {
    struct page *page;
    const char *dir;
    const json_t *comparison, *rows; // rows of whole runs
    bool seeds;
    /* the run that a scenario's runs are compared with: the first run of the baseline */
    const char *scenario, *baseline_name;
    json_t *baseline;
};

static json_t *metrics_of_row(const struct compared *c, const json_t *row, char **name)
{
    *name = run_folder_of(row, c->seeds);
    return metrics_of(row, c->dir, *name);
}

// Read the metrics of the baseline of this row's scenario, unless they have been read.
static void find_baseline(struct compared *c, const json_t *row)
{
    const char *wanted = text_at(c->comparison, "baseline");
    if (c->baseline_name && same_text(c->scenario, row_scenario(row)))
        return;
    json_decref(c->baseline);
    c->baseline = NULL;
    c->baseline_name = wanted ? wanted : "";
    c->scenario = row_scenario(row);
    size_t i;
    const json_t *other;
    json_array_foreach(c->rows, i, other)
    {
        char *name;
        if (!same_text(row_name(other), wanted) || !same_text(row_scenario(other), c->scenario))
            continue;
        c->baseline = metrics_of_row(c, other, &name);
        free(name);
        break;
    }
}

static void note_missing(const struct compared *c, const json_t *row)
{
    const char *status = text_at(row, "status"), *policy = row_name(row);
    if (status && strcmp(status, "failed") != 0)
        page_note(
            c->page,
            "The metrics of %s with seed %lld are not in the directory of the comparison; its "
            "row is shown.",
            policy ? policy : "a run", (long long)json_integer_value(json_object_get(row, "seed")));
}

static void add_row(struct compared *c, size_t i, bool detail)
{
    const json_t *row = json_array_get(c->rows, i);
    char *name;
    json_t *metrics = metrics_of_row(c, row, &name);
    char *path = text_format("%s/%s", c->dir, name);
    json_t *timeline = metrics && detail ? result_set_json(path, "timeline.json") : NULL;
    find_baseline(c, row);
    if (!metrics)
        note_missing(c, row);
    bool compare = is_first(c->rows, i) && !same_text(row_name(row), c->baseline_name);
    struct page_run one = {.scenario = row_scenario(row),
                           .policy = row_name(row),
                           .seed = (uint64_t)json_integer_value(json_object_get(row, "seed")),
                           .dir = metrics ? name : NULL,
                           .failure = text_at(row, "failure"),
                           .row = row,
                           .metrics = metrics,
                           .timeline = timeline,
                           .baseline = compare ? c->baseline : NULL,
                           .baseline_name = c->baseline_name,
                           .detail = detail};
    page_add_run(c->page, &one);
    if (i == 0)
        page_origin(c->page, NULL, json_object_get(metrics, "scenario"));
    json_decref(metrics);
    json_decref(timeline);
    free(path);
    free(name);
}

// The rows of whole runs: those of jobs follow them in compare.json.
static json_t *rows_of_runs(const json_t *comparison)
{
    json_t *rows = json_array(), *row;
    size_t i;
    json_array_foreach(json_object_get(comparison, "rows"), i, row)
    {
        if (!json_is_string(json_object_get(row, "job")))
            json_array_append(rows, row);
    }
    return rows;
}

static void add_rows(struct compared *c, size_t n_detail)
{
    size_t in_detail = 0;
    for (size_t i = 0; i < json_array_size(c->rows); i++) {
        bool detail = is_first(c->rows, i) && in_detail < n_detail;
        in_detail += detail;
        add_row(c, i, detail);
    }
}

static struct page *comparison_page(const char *dir, struct err *err)
{
    json_t *comparison = result_set_json(dir, "compare.json"),
           *run = result_set_json(dir, "run.json"), *rows = rows_of_runs(comparison);
    struct page *page = NULL;
    if (json_is_array(json_object_get(comparison, "rows"))) {
        size_t all = n_first(rows), n = all < RUNS_IN_DETAIL ? all : RUNS_IN_DETAIL;
        page = page_new(PAGE_COMPARISON, text_at(comparison, "name"), version_of(run), n);
        page_origin(page, text_at(run, "command"), NULL);
        page_add_comparison(page, comparison);
        if (all > n)
            page_note(page,
                      "Links, series and timelines are shown for the first %zu of %zu policies.", n,
                      all);
        struct compared c = {.page = page,
                             .dir = dir,
                             .comparison = comparison,
                             .rows = rows,
                             .seeds = json_integer_value(json_object_get(comparison, "seeds")) > 1};
        add_rows(&c, n);
        json_decref(c.baseline);
    } else {
        char *path = text_format("%s/compare.json", dir);
        err_add(err, path, "cannot be read: it is not a comparison");
        free(path);
    }
    json_decref(rows);
    json_decref(comparison);
    json_decref(run);
    return page;
}

// ---- a sweep ----

static char *read_text(const char *path)
{
    const char *why;
    FILE *in = regular_file_stream(path, &why);
    if (!in)
        return NULL;
    struct text text;
    FILE *out = text_open(&text);
    char buffer[1 << 14];
    size_t n;
    while ((n = fread(buffer, 1, sizeof buffer, in)) > 0)
        fwrite(buffer, 1, n, out);
    bool good = !ferror(in);
    fclose(in);
    char *all = text_close(out, &text);
    if (good)
        return all;
    free(all);
    return NULL;
}

// Most points times metrics whose intervals are computed: about a second.
enum { INTERVALS = 1500 };

static bool mean_interval(const double *values, size_t n, double *low, double *high)
{
    bool same = true;
    for (size_t i = 1; i < n; i++)
        same &= !(values[i] < values[0]) && !(values[i] > values[0]);
    if (n < INTERVAL_LEAST || same)
        return false;
    struct resamples draws = resamples_new(n);
    struct interval interval = interval_of_center(CENTER_MEAN, &draws, values);
    resamples_free(&draws);
    *low = interval.low;
    *high = interval.high;
    return true;
}

static struct page *sweep_page(const char *dir, struct err *err)
{
    char *path = text_format("%s/sweep.csv", dir), *csv = read_text(path);
    json_t *run = result_set_json(dir, "run.json"), *sweep = result_set_json(dir, "sweep.json");
    const char *name = text_at(sweep, "name");
    char *folder = realpath(dir, NULL);
    const char *last = folder ? strrchr(folder, '/') : NULL;
    struct page *page = page_new(PAGE_SWEEP,
                                 name   ? name
                                 : last ? last + 1
                                        : "sweep",
                                 version_of(run), 1);
    page_origin(page, text_at(run, "command"), json_object_get(sweep, "scenario"));
    page_add_why(page, json_object_get(sweep, "why"));
    if (!csv)
        err_add(err, path, "cannot be read: %s", strerror(errno));
    if (!csv || page_add_sweep(page, csv, path, err) != 0) {
        page_free(page);
        page = NULL;
    }
    if (page)
        page_add_intervals(page, mean_interval, INTERVALS);
    json_decref(run);
    json_decref(sweep);
    free(folder);
    free(csv);
    free(path);
    return page;
}

// ---- a diagnosis ----

static struct page *diagnosis_page(const char *dir, struct err *err)
{
    char *path = text_format("%s/diagnosis.json", dir), *text = read_text(path);
    json_t *diagnosis = text ? json_loads(text, 0, NULL) : NULL,
           *run = result_set_json(dir, "run.json");
    struct page *page = page_new(PAGE_DIAGNOSIS, text_at(diagnosis, "name"), version_of(run), 1);
    page_origin(page, text_at(run, "command"), NULL);
    if (page_add_diagnosis(page, diagnosis, path, err) != 0) {
        page_free(page);
        page = NULL;
    }
    json_decref(run);
    json_decref(diagnosis);
    free(text);
    free(path);
    return page;
}

// ---- any results ----

static bool has_file(const char *dir, const char *name)
{
    struct stat about;
    char *path = text_format("%s/%s", dir, name);
    bool there = lstat(path, &about) == 0 && S_ISREG(about.st_mode);
    free(path);
    return there;
}

struct page *report_page(const char *dir, struct err *err)
{
    if (has_file(dir, "sweep.csv"))
        return sweep_page(dir, err);
    char *run = result_set_read(dir, NULL, "run.json");
    bool whole = run != NULL;
    free(run);
    if (whole && has_file(dir, "compare.json"))
        return comparison_page(dir, err);
    if (whole && has_file(dir, "metrics.json"))
        return run_page(dir, err);
    if (has_file(dir, "diagnosis.json"))
        return diagnosis_page(dir, err);
    err_add(err, dir, "has no results of collwire run, compare, sweep or diagnose");
    return NULL;
}
