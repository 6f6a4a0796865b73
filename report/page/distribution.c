// SPDX-License-Identifier: MIT
// Distributions of messages: quantiles of a value over completed messages, and the slowest of them.
#include <stdlib.h>

#include "engine/memory.h"
#include "report/page/page_internal.h"

enum { QUANTILES = 201 };

struct values {
    double *list;
    size_t n;
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct values values_of(const json_t *flows, const char *key)
{
    struct values v = {memory_zeroed(json_array_size(flows) + 1, sizeof(double)), 0};
    size_t i;
    const json_t *flow;
    json_array_foreach(flows, i, flow)
    {
        const json_t *value = json_object_get(flow, key);
        if (json_is_number(value))
            v.list[v.n++] = json_number_value(value);
    }
    qsort(v.list, v.n, sizeof *v.list, by_value);
    return v;
}

json_t *page_distribution(const json_t *flows, const char *key)
{
    struct values v = values_of(flows, key);
    json_t *list = json_array();
    size_t n = v.n < QUANTILES ? v.n : QUANTILES;
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, page_number(v.list[n < 2 ? 0 : i * (v.n - 1) / (n - 1)]));
    json_t *result =
        v.n > 0 ? json_pack("{s:I, s:O}", "count", (json_int_t)v.n, "quantiles", list) : NULL;
    json_decref(list);
    free(v.list);
    return result;
}

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
