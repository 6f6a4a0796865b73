// SPDX-License-Identifier: MIT
// A run in the document of the page: its names, the values that comparisons show, and its
// metrics.json with long lists cut. A run that is shown in detail also has its links, series,
// timeline and slowest messages, which are reduced from lists that are too long to be embedded.
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/after_jobs.h"
#include "report/page/page_internal.h"
#include "report/rows.h"
#include "report/why.h"

// ---- metrics.json ----

// How much of metrics.json the page embeds, by a pattern of the path of a key: the first `most`
// items of a list, or nothing where `most` is 0. Of every other list it embeds the first LIST
// items, so that a list which is added to metrics.json later cannot make the page large.
static const struct limit {
    const char *path; // its first PLAIN characters have no wildcard
    size_t most;
    const char *what; // in the note of what is missing; runs in detail share `most`. NULL = neither
} limits[] = {
    {"scenario", 0, NULL}, // the page has that of its first run
    {"flows", 0, NULL}, // page_samples_add(), page_timeline() and page_slowest_flows() read these
    {"flows_summary.*_histogram", 0, NULL},
    {"series", 0, NULL},       // page_series()
    {"links", 0, NULL},        // page_links()
    {"queues.ports", 0, NULL}, // page_links()
    {"nics", 0, NULL},         // the page does not show them
    {"aggregators", 0, NULL},
    {"measured_collectives.sizes.*.m*", 0, NULL}, // the page shows medians
    {"measured_collectives.sizes.*.p9*", 0, NULL},
    {"measured_collectives.sizes", PAGE_MEASURED_SIZES, "sizes of measured collectives"},
    {"memory.iteration", PAGE_MEMORY_STEPS, "steps of an iteration's memory"},
    {"memory.classes", 64, NULL},
    {"slowest.places", 20, NULL},
    {"slowest.iterations", 40, NULL},
    {"collectives.critical.places", 20, NULL},
    {"ranks", 32, NULL},
    {"slowest.layers", SIZE_MAX, NULL}, // the page sorts or counts all of these
    {"training.iterations", SIZE_MAX, NULL},
    {"pfc.ports", SIZE_MAX, NULL},
    {"jobs", SIZE_MAX, NULL},
    {"waiting", SIZE_MAX, NULL},
};
enum { PLAIN = 4, LIST = 200, PATH = 256 };

// What the page has of runs that are not shown in detail.
static const char *const of_every_run[] = {"reason",        "waiting", "explain",     "jobs",
                                           "flows_summary", "slowest", "collectives", "training",
                                           "programs",      "ranks",   "sim_time_ns"};

static const struct limit *limit_of(const char *path)
{
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        // Most paths differ in their first characters, which saves the call of fnmatch().
        if (strncmp(limits[i].path, path, PLAIN) == 0 && fnmatch(limits[i].path, path, 0) == 0)
            return &limits[i];
    return NULL;
}

static json_t *reduced(struct page *page, const json_t *value, const char *path);

static json_t *reduced_list(struct page *page, const json_t *list, const char *path)
{
    const struct limit *limit = limit_of(path);
    size_t n = json_array_size(list),
           most = limit ? limit->most / (limit->what ? page->n_detail : 1) : LIST;
    json_t *copy = json_array();
    // Runs in detail share the room of the page.
    for (size_t i = 0; i < n && i < most; i++)
        json_array_append_new(copy, reduced(page, json_array_get(list, i), path));
    if (n > most && limit && limit->what)
        page_note(page, "Of %zu %s the page has the first %zu.", n, limit->what, most);
    return copy;
}

// Returns a copy of `value`, which stands at `path` in metrics.json, cut as `limits` says.
static json_t *reduced(struct page *page, const json_t *value, const char *path)
{
    if (json_is_array(value))
        return reduced_list(page, value, path);
    if (!json_is_object(value))
        return json_incref((json_t *)(uintptr_t)value);
    json_t *copy = json_object(), *part;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)value, key, part)
    {
        char below[PATH];
        snprintf(below, sizeof below, "%s%s%s", path, *path ? "." : "", key);
        const struct limit *limit = limit_of(below);
        if (!limit || limit->most > 0)
            json_object_set_new(copy, key, reduced(page, part, below));
    }
    return copy;
}

static bool is_of_every_run(const char *key)
{
    for (size_t i = 0; i < sizeof of_every_run / sizeof *of_every_run; i++)
        if (strcmp(of_every_run[i], key) == 0)
            return true;
    return false;
}

json_t *page_metrics(struct page *page, const json_t *metrics, bool detail)
{
    json_t *known = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)(uintptr_t)metrics, key, value)
    {
        // Empty values would only take room.
        bool empty = json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0);
        if (!empty && (detail || is_of_every_run(key)))
            json_object_set(known, key, value);
    }
    json_t *copy = reduced(page, known, "");
    json_decref(known);
    return copy;
}

// ---- a run ----

// Returns the columns of comparisons. They are computed from metrics.json; where that is missing,
// they are those of the run in compare.json.
static json_t *values(const struct page_run *run)
{
    json_t *object = json_object();
    for (size_t i = 0; i < ROW_COLUMNS; i++) {
        const char *key = row_columns[i].key;
        double value = run->metrics ? row_column_value(i, run->metrics) : (double)NAN;
        if (!run->metrics)
            page_set(object, key, page_copy(run->row, key));
        else if (!isnan(value))
            json_object_set_new(object, key, page_number(value));
    }
    return object;
}

// Why the run took longer or shorter than the baseline; NULL = nothing is known.
static json_t *difference(const struct page_run *run)
{
    if (!run->metrics || !run->baseline)
        return NULL;
    size_t n;
    json_t *list = json_array();
    char **sentences = why_differs(run->baseline, run->baseline_name ? run->baseline_name : "",
                                   run->metrics, run->policy ? run->policy : "", &n);
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(list, json_string(sentences[i]));
        free(sentences[i]);
    }
    free(sentences);
    return list;
}

static json_t *detail(struct page *page, const struct page_run *run)
{
    const json_t *metrics = run->metrics;
    json_t *object = json_object();
    page_set(object, "links", page_links(page, metrics, PAGE_LINKS / page->n_detail));
    page_set(object, "series", page_series(page, metrics, PAGE_SERIES_BYTES / page->n_detail));
    page_set(object, "timeline",
             page_timeline(page, run->timeline, metrics, PAGE_TIMELINE_SLICES / page->n_detail));
    page_set(object, "slowest_flows", page_slowest_flows(json_object_get(metrics, "flows"), 20));
    return object;
}

static void add_notes(struct page *page, const struct page_run *run)
{
    const json_t *shrunk = json_object_get(json_object_get(run->metrics, "scenario"), "shrunk");
    if (shrunk)
        page_note(page, "Shrunk: %s.", json_string_value(shrunk));
    char *after = after_jobs_text(run->metrics);
    if (after)
        page_note(page, "%s: %s.", run->policy ? run->policy : "", after);
    free(after);
}

void page_add_run(struct page *page, const struct page_run *run)
{
    const json_t *metrics = run->metrics;
    json_t *one = json_object();
    page_set(one, "scenario", run->scenario ? json_string(run->scenario) : NULL);
    page_set(one, "policy", run->policy ? json_string(run->policy) : NULL);
    json_object_set_new(one, "seed", json_integer((json_int_t)run->seed));
    page_set(one, "dir", run->dir ? json_string(run->dir) : NULL);
    page_set(one, "failure", run->failure ? json_string(run->failure) : NULL);
    page_set(one, "status", page_copy(metrics ? metrics : run->row, "status"));
    json_object_set_new(one, "values", values(run));
    page_set(one, "difference", difference(run));
    if (metrics)
        page_samples_add(page, run->scenario ? run->scenario : "", run->policy ? run->policy : "",
                         metrics);
    bool shown = run->detail && metrics;
    page_set(one, "detail", shown ? detail(page, run) : NULL);
    json_object_set_new(one, "metrics", page_metrics(page, metrics, run->detail));
    if (shown)
        add_notes(page, run);
    json_array_append_new(page->runs, one);
}
