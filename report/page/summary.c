// SPDX-License-Identifier: MIT
// The summary of a run: values for comparisons, its time by cause, and its sentences.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/page_internal.h"
#include "report/rows.h"
#include "report/why.h"

enum { COLLECTIVES = 200, PLACES = 20, LAYERS = 300, ITERATIONS = 40, RANKS = 32 };

// The first `limit` items of a list.
static json_t *head(const json_t *list, size_t limit)
{
    json_t *out = json_array();
    for (size_t i = 0; i < json_array_size(list) && i < limit; i++)
        json_array_append(out, json_array_get(list, i));
    return out;
}

// An object with the lists at these keys cut to `limit` items.
static json_t *cut(const json_t *object, const char *key, size_t limit)
{
    if (!json_is_object(object))
        return NULL;
    json_t *copy = json_copy((json_t *)(uintptr_t)object);
    const json_t *list = json_object_get(copy, key);
    if (json_array_size(list) > limit)
        json_object_set_new(copy, key, head(list, limit));
    return copy;
}

// The columns of comparisons: from the metrics, else from the row of compare.json.
static json_t *values(const struct page_run *run)
{
    json_t *object = json_object();
    for (size_t i = 0; i < ROW_COLUMNS; i++) {
        const char *key = row_columns[i].key;
        if (!run->metrics) {
            page_set(object, key, page_copy(run->row, key));
            continue;
        }
        double value = row_column_value(i, run->metrics);
        if (!isnan(value))
            json_object_set_new(object, key, page_number(value));
    }
    return object;
}

static json_t *collectives(const json_t *metrics)
{
    const json_t *list = json_object_get(metrics, "collectives"), *item;
    json_t *out = json_array();
    size_t i;
    json_array_foreach(list, i, item)
    {
        if (i == COLLECTIVES)
            break;
        json_t *one = json_copy((json_t *)(uintptr_t)item);
        page_set(one, "critical", cut(json_object_get(item, "critical"), "places", PLACES));
        json_array_append_new(out, one);
    }
    return out;
}

// One training job is an object, several are a list.
static json_t *training(const json_t *metrics)
{
    const json_t *jobs = json_object_get(metrics, "training"), *job;
    json_t *out = json_array();
    size_t i;
    if (json_is_object(jobs))
        json_array_append_new(out, cut(jobs, "layers", LAYERS));
    json_array_foreach(jobs, i, job) json_array_append_new(out, cut(job, "layers", LAYERS));
    return out;
}

static json_t *programs(const json_t *metrics)
{
    const json_t *jobs = json_object_get(metrics, "programs"), *job;
    json_t *out = json_array();
    size_t i;
    json_array_foreach(jobs, i, job) json_array_append_new(out, cut(job, "layers", LAYERS));
    return out;
}

static void set_list(json_t *object, const char *key, json_t *list)
{
    if (json_array_size(list) > 0)
        json_object_set(object, key, list);
    json_decref(list);
}

// The summary of messages without its histograms, which page_samples_add() has read.
static json_t *messages(const json_t *metrics)
{
    json_t *summary = json_copy(json_object_get(metrics, "flows_summary"));
    json_object_del(summary, "fct_ns_histogram");
    json_object_del(summary, "slowdown_histogram");
    return summary;
}

static void add_metrics(json_t *one, const json_t *metrics)
{
    static const char *const whole[] = {"status", "reason",      "waiting", "explain",
                                        "jobs",   "sim_time_ns", "cc_cuts"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
        page_set(one, whole[i], page_copy(metrics, whole[i]));
    page_set(one, "flows_summary", messages(metrics));
    json_t *slowest = cut(json_object_get(metrics, "slowest"), "places", PLACES);
    page_set(one, "slowest", cut(slowest, "iterations", ITERATIONS));
    json_decref(slowest);
    page_set(one, "cc", page_copy(json_object_get(metrics, "scenario"), "cc"));
    set_list(one, "collectives", collectives(metrics));
    set_list(one, "training", training(metrics));
    set_list(one, "programs", programs(metrics));
    if (json_array_size(json_object_get(metrics, "programs")) > 0)
        set_list(one, "ranks", head(json_object_get(metrics, "ranks"), RANKS));
}

// Why the run took longer or shorter than the baseline.
static json_t *difference(const struct page_run *run)
{
    size_t n;
    json_t *list = json_array();
    char **sentences = why_differs(run->baseline, run->baseline_name ? run->baseline_name : "",
                                   run->metrics, run->policy ? run->policy : "", &n);
    for (size_t i = 0; i < n; i++) {
        json_t *sentence = json_string(sentences[i]);
        if (sentence)
            json_array_append_new(list, sentence);
        free(sentences[i]);
    }
    free(sentences);
    return list;
}

json_t *page_summary(const struct page_run *run)
{
    json_t *one = json_object();
    page_set(one, "scenario", run->scenario ? json_string(run->scenario) : NULL);
    page_set(one, "policy", run->policy ? json_string(run->policy) : NULL);
    json_object_set_new(one, "seed", json_integer((json_int_t)run->seed));
    page_set(one, "dir", run->dir ? json_string(run->dir) : NULL);
    page_set(one, "failure", run->failure ? json_string(run->failure) : NULL);
    page_set(one, "status", page_copy(run->row, "status"));
    page_set(one, "wall_s", page_copy(run->run, "wall_s"));
    page_set(one, "packet_hops", page_copy(run->run, "packet_hops"));
    json_object_set_new(one, "values", values(run));
    if (run->metrics)
        add_metrics(one, run->metrics);
    if (run->metrics && run->baseline)
        set_list(one, "difference", difference(run));
    return one;
}
