// SPDX-License-Identifier: MIT
// Distributions of messages: of each policy in each scenario over all its seeds, and the slowest
// messages of a run.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "report/page/page_internal.h"

static const char *const keys[PAGE_DISTRIBUTIONS] = {"fct_ns", "slowdown"};
static const char *const histograms[PAGE_DISTRIBUTIONS] = {"fct_ns_histogram",
                                                           "slowdown_histogram"};

// ---- samples of all runs ----

struct sample {
    double value, count; // of messages with this value, or above the one before and up to it
};

struct page_samples {
    char *scenario, *policy;
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

static void add_listed(struct samples *s, const json_t *flows, const char *key)
{
    size_t i;
    const json_t *flow;
    json_array_foreach(flows, i, flow)
    {
        const json_t *value = json_object_get(flow, key);
        if (json_is_number(value))
            sample_add(s, json_number_value(value), 1);
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

static struct page_samples *samples_of(struct page *page, const char *scenario, const char *policy)
{
    for (size_t i = 0; i < page->n_samples; i++)
        if (strcmp(page->samples[i].scenario, scenario) == 0 &&
            strcmp(page->samples[i].policy, policy) == 0)
            return &page->samples[i];
    page->samples = memory_resize(page->samples, page->n_samples + 1, sizeof *page->samples);
    struct page_samples *s = &page->samples[page->n_samples++];
    *s = (struct page_samples){.scenario = memory_text(scenario), .policy = memory_text(policy)};
    return s;
}

void page_samples_add(struct page *page, const char *scenario, const char *policy,
                      const json_t *metrics)
{
    const json_t *flows = json_object_get(metrics, "flows"),
                 *summary = json_object_get(metrics, "flows_summary");
    struct page_samples *s = samples_of(page, scenario, policy);
    for (size_t k = 0; k < PAGE_DISTRIBUTIONS; k++) {
        const json_t *histogram = json_object_get(summary, histograms[k]);
        if (histogram)
            add_binned(&s->of[k], histogram, json_object_get(summary, keys[k]));
        else
            add_listed(&s->of[k], flows, keys[k]);
    }
}

void page_samples_free(struct page *page)
{
    for (size_t i = 0; i < page->n_samples; i++) {
        for (size_t k = 0; k < PAGE_DISTRIBUTIONS; k++)
            free(page->samples[i].of[k].list);
        free(page->samples[i].scenario);
        free(page->samples[i].policy);
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

json_t *page_distributions(struct page *page)
{
    json_t *all = json_object();
    size_t n = page->n_samples > 0 ? page->n_samples : 1;
    double shares = fmax(SHARES_LEAST, fmin(SHARES, (double)STEPS / (double)n));
    for (size_t k = 0; k < PAGE_DISTRIBUTIONS; k++) {
        json_t *list = json_array();
        for (size_t i = 0; i < page->n_samples; i++) {
            struct page_samples *s = &page->samples[i];
            json_t *one = points_of(&s->of[k], shares);
            if (!one)
                continue;
            json_object_set_new(one, "scenario", json_string(s->scenario));
            json_object_set_new(one, "policy", json_string(s->policy));
            json_array_append_new(list, one);
        }
        json_object_set_new(all, keys[k], list);
    }
    return all;
}

// ---- the slowest ----

// The messages as (slowdown, index), the slowest first; equal ones in the order of posting.
struct ranked {
    double slowdown;
    size_t index;
};

static int slowest_first(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->slowdown != y->slowdown)
        return x->slowdown < y->slowdown ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

json_t *page_slowest_flows(const json_t *flows, size_t limit)
{
    size_t n = json_array_size(flows);
    struct ranked *order = memory_zeroed(n + 1, sizeof *order);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct ranked){
            json_number_value(json_object_get(json_array_get(flows, i), "slowdown")), i};
    qsort(order, n, sizeof *order, slowest_first);
    json_t *list = n > 0 ? json_array() : NULL;
    for (size_t i = 0; i < n && i < limit; i++)
        json_array_append(list, json_array_get(flows, order[i].index));
    free(order);
    return list;
}
