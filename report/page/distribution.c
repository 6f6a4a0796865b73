// SPDX-License-Identifier: MIT
// Distributions of messages: of each policy in each scenario over all its seeds, also by the
// dimension that the messages cross, and the slowest messages of a run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/page/page_internal.h"

static const char *const keys[PAGE_DISTRIBUTIONS] = {"fct_ns", "slowdown"};
static const char *const histograms[PAGE_DISTRIBUTIONS] = {"fct_ns_histogram",
                                                           "slowdown_histogram"};

// ---- samples of all runs ----

struct sample {
    double value, count; // of messages with this value, or above the one before and up to it
};

enum { ALL_DIMENSIONS = -1 };

struct page_samples {
    char *scenario, *policy;
    int dim;         // ALL_DIMENSIONS, or an index; the number of dimensions = several at once
    char *dimension; // its name, NULL of all
    struct samples {
        struct sample *list;
        size_t n, cap;
    } of[PAGE_DISTRIBUTIONS];
};

static void sample_add(struct samples *s, double value, double count)
{
    if (s->n == s->cap)
        s->list = memory_grow(s->list, &s->cap, sizeof *s->list);
    s->list[s->n++] = (struct sample){value, count};
}

static void add_flow(struct page_samples *s, const json_t *flow)
{
    for (size_t k = 0; k < PAGE_DISTRIBUTIONS; k++) {
        const json_t *value = json_object_get(flow, keys[k]);
        if (json_is_number(value))
            sample_add(&s->of[k], json_number_value(value), 1);
    }
}

// The bins of a histogram; the last one ends with the largest value.
static void add_binned(struct samples *s, const json_t *histogram, const json_t *stats)
{
    const json_t *below = json_object_get(histogram, "below"),
                 *count = json_object_get(histogram, "count"), *edge;
    double max = json_number_value(json_object_get(stats, "max"));
    size_t i;
    json_array_foreach(below, i, edge)
    {
        double upper = json_number_value(edge);
        sample_add(s, max > 0 && upper > max ? max : upper,
                   json_number_value(json_array_get(count, i)));
    }
}

static struct page_samples *samples_of(struct page *page, const char *scenario, const char *policy,
                                       int dim)
{
    for (size_t i = 0; i < page->n_samples; i++)
        if (strcmp(page->samples[i].scenario, scenario) == 0 &&
            strcmp(page->samples[i].policy, policy) == 0 && page->samples[i].dim == dim)
            return &page->samples[i];
    page->samples = memory_resize(page->samples, page->n_samples + 1, sizeof *page->samples);
    struct page_samples *s = &page->samples[page->n_samples++];
    *s = (struct page_samples){
        .scenario = memory_text(scenario), .policy = memory_text(policy), .dim = dim};
    return s;
}

// ---- by dimension ----

// "dimension 1: leaf_spine of 4"
static char *dimension_name(const json_t *dims, int dim)
{
    const json_t *one = json_array_get(dims, (size_t)dim);
    if (!one)
        return memory_text("several dimensions");
    const char *kind = json_string_value(json_object_get(one, "kind"));
    return text_format("dimension %d: %s of %lld", dim, kind ? kind : "",
                       (long long)json_integer_value(json_object_get(one, "size")));
}

// Messages within servers are many and fast, and would hide those between servers in one
// distribution of both.
static void add_by_dimension(struct page *page, const char *scenario, const char *policy,
                             const json_t *metrics)
{
    const json_t *topology = json_object_get(json_object_get(metrics, "scenario"), "topology"),
                 *dims = json_object_get(topology, "dims"), *flow;
    size_t i;
    if (json_array_size(dims) < 2)
        return;
    json_array_foreach(json_object_get(metrics, "flows"), i, flow)
    {
        const json_t *dim = json_object_get(flow, "dim");
        if (!dim)
            continue;
        struct page_samples *s = samples_of(page, scenario, policy, (int)json_integer_value(dim));
        if (!s->dimension)
            s->dimension = dimension_name(dims, s->dim);
        add_flow(s, flow);
    }
}

// True if messages of the scenario cross other dimensions too.
static bool has_other_dimensions(const struct page *page, const struct page_samples *of)
{
    for (size_t i = 0; i < page->n_samples; i++) {
        const struct page_samples *s = &page->samples[i];
        if (s->dimension && s->dim != of->dim && strcmp(s->scenario, of->scenario) == 0)
            return true;
    }
    return false;
}

void page_samples_add(struct page *page, const char *scenario, const char *policy,
                      const json_t *metrics)
{
    const json_t *flows = json_object_get(metrics, "flows"), *flow,
                 *summary = json_object_get(metrics, "flows_summary");
    struct page_samples *s = samples_of(page, scenario, policy, ALL_DIMENSIONS);
    bool listed = true;
    size_t i;
    for (size_t k = 0; k < PAGE_DISTRIBUTIONS; k++) {
        const json_t *histogram = json_object_get(summary, histograms[k]);
        if (histogram)
            add_binned(&s->of[k], histogram, json_object_get(summary, keys[k]));
        listed &= !histogram;
    }
    // A histogram exists where the messages were too many to be listed. What is listed would count
    // twice.
    if (!listed)
        return;
    json_array_foreach(flows, i, flow) add_flow(s, flow);
    add_by_dimension(page, scenario, policy, metrics);
}

void page_samples_free(struct page *page)
{
    for (size_t i = 0; i < page->n_samples; i++) {
        for (size_t k = 0; k < PAGE_DISTRIBUTIONS; k++)
            free(page->samples[i].of[k].list);
        free(page->samples[i].scenario);
        free(page->samples[i].policy);
        free(page->samples[i].dimension);
    }
    free(page->samples);
}

// ---- points of a distribution ----

static int largest_first(const void *a, const void *b)
{
    double x = ((const struct sample *)a)->value, y = ((const struct sample *)b)->value;
    return (x < y) - (x > y);
}

static void prepend(json_t *points, double value, double share)
{
    json_array_insert_new(points, 0, json_pack("[o, f]", page_number(value), share));
}

// Steps of a distribution: at most SHARES, and STEPS of all policies together; in the tail a step
// is TAIL times closer than that.
enum { SHARES = 200, SHARES_LEAST = 40, STEPS = 3000, TAIL = 10 };

// Points [value, share of messages up to it], exact where they are: in steps of 1/shares, and
// closer in the tail, where a step is a part of the messages above it. NULL if there are no
// messages.
static json_t *points_of(struct samples *s, double shares)
{
    double total = 0, above = 0, kept = -1;
    for (size_t i = 0; i < s->n; i++)
        total += s->list[i].count;
    if (total <= 0)
        return NULL;
    qsort(s->list, s->n, sizeof *s->list, largest_first);
    json_t *points = json_array();
    for (size_t i = 0; i < s->n; i++) {
        bool first_of_value = i == 0 || s->list[i].value < s->list[i - 1].value;
        double step = fmin(above * (double)TAIL / shares, total / shares);
        if (first_of_value && (kept < 0 || above - kept >= step)) {
            prepend(points, s->list[i].value, 1 - above / total);
            kept = above;
        }
        above += s->list[i].count;
    }
    double least = s->list[s->n - 1].value;
    if (json_number_value(json_array_get(json_array_get(points, 0), 0)) > least)
        prepend(points, least, s->list[s->n - 1].count / total);
    return json_pack("{s:f, s:o}", "count", total, "points", points);
}

// Add the distributions of a key for messages of one dimension, or of all.
static void add_lines(struct page *page, json_t *list, size_t k, int dim)
{
    size_t n = page->n_samples;
    double shares = fmax(SHARES_LEAST, fmin(SHARES, (double)STEPS / (double)n));
    for (size_t i = 0; i < n; i++) {
        struct page_samples *s = &page->samples[i];
        bool wanted = s->dim == dim && (!s->dimension || has_other_dimensions(page, s));
        json_t *one = wanted ? points_of(&s->of[k], shares) : NULL;
        if (!one)
            continue;
        json_object_set_new(one, "scenario", json_string(s->scenario));
        json_object_set_new(one, "policy", json_string(s->policy));
        page_set(one, "dimension", s->dimension ? json_string(s->dimension) : NULL);
        json_array_append_new(list, one);
    }
}

json_t *page_distributions(struct page *page)
{
    json_t *all = json_object();
    int last = ALL_DIMENSIONS;
    for (size_t i = 0; i < page->n_samples; i++)
        last = page->samples[i].dim > last ? page->samples[i].dim : last;
    for (size_t k = 0; k < PAGE_DISTRIBUTIONS; k++) {
        json_t *list = json_array();
        for (int dim = ALL_DIMENSIONS; dim <= last; dim++)
            add_lines(page, list, k, dim);
        json_object_set_new(all, keys[k], list);
    }
    return all;
}

// ---- the slowest ----

json_t *page_slowest_flows(const json_t *flows, size_t limit)
{
    size_t n = json_array_size(flows);
    struct page_ranked *order = memory_zeroed(n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct page_ranked){
            json_number_value(json_object_get(json_array_get(flows, i), "slowdown")), i};
    page_rank(order, n);
    json_t *list = n > 0 ? json_array() : NULL;
    for (size_t i = 0; i < n && i < limit; i++)
        json_array_append(list, json_array_get(flows, order[i].index));
    free(order);
    return list;
}
