// SPDX-License-Identifier: MIT
#include "cli/partition/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

double chain_cost(const struct chain *c, uint32_t parts, const uint32_t *first)
{
    double longest = 0, boundary = 0;
    for (uint32_t k = 0; k < parts; k++) {
        double work = 0;
        for (uint32_t i = first[k]; i < first[k + 1]; i++)
            work += c->work[i];
        longest = fmax(longest, work);
        if (k > 0)
            boundary = fmax(boundary, c->boundary[first[k] - 1]);
    }
    return longest + boundary;
}

void chain_equal(uint32_t n, uint32_t parts, uint32_t *first)
{
    for (uint32_t k = 0; k <= parts; k++)
        first[k] = (uint32_t)((uint64_t)n * k / parts);
}

/* ---- cuts whose boundaries have a limit ---- */

// Items between cuts that are allowed are one group.
struct groups {
    uint32_t n;
    uint32_t *first; // [n + 1] item with which a group begins
    double *before;  // [n + 1] work of the groups before
};

struct table {
    struct groups groups;
    double *longest, *next; // [n + 1] longest part of the first groups, of k - 1 and of k parts
    uint32_t *last;         // [parts + 1][n + 1] first group of the last part
};

static void group(const struct chain *c, double limit, struct groups *g)
{
    double work = 0;
    g->n = 0;
    g->first[0] = 0;
    g->before[0] = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        work += c->work[i];
        if (i + 1 < c->n && c->boundary[i] > limit)
            continue;
        g->n++;
        g->first[g->n] = i + 1;
        g->before[g->n] = work;
    }
}

static double value(const struct table *t, uint32_t i, uint32_t j)
{
    return fmax(t->longest[i], t->groups.before[j] - t->groups.before[i]);
}

// Row k of the table: the longest of k parts of the first j groups.
static void fill_row(struct table *t, uint32_t k, uint32_t *last)
{
    uint32_t i = k - 1;
    for (uint32_t j = k; j <= t->groups.n; j++) {
        while (i + 1 < j && value(t, i + 1, j) <= value(t, i, j))
            i++;
        t->next[j] = value(t, i, j);
        last[j] = i;
    }
    double *row = t->longest;
    t->longest = t->next;
    t->next = row;
}

// The longest part if no boundary is above the limit, INFINITY if there are too few such cuts.
static double cut_within(const struct chain *c, uint32_t parts, struct table *t, double limit)
{
    group(c, limit, &t->groups);
    uint32_t n = t->groups.n;
    if (n < parts)
        return INFINITY;
    for (uint32_t j = 0; j <= n; j++)
        t->longest[j] = t->groups.before[j];
    for (uint32_t k = 2; k <= parts; k++)
        fill_row(t, k, &t->last[(size_t)k * (c->n + 1)]);
    return t->longest[n];
}

static void trace_back(const struct chain *c, uint32_t parts, const struct table *t,
                       uint32_t *first)
{
    uint32_t j = t->groups.n;
    first[parts] = c->n;
    for (uint32_t k = parts; k > 1; k--) {
        j = t->last[(size_t)k * (c->n + 1) + j];
        first[k - 1] = t->groups.first[j];
    }
    first[0] = 0;
}

/* ---- all limits ---- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The largest boundary is one of those behind items; without a cut it is none.
static uint32_t limits_of(const struct chain *c, uint32_t parts, double *limits)
{
    uint32_t n = 0;
    limits[0] = 0;
    if (parts < 2)
        return 1;
    memcpy(limits, c->boundary, (c->n - 1) * sizeof *limits);
    qsort(limits, c->n - 1, sizeof *limits, ascending);
    for (uint32_t i = 0; i + 1 < c->n; i++)
        if (n == 0 || limits[i] > limits[n - 1])
            limits[n++] = limits[i];
    return n;
}

double chain_cut(const struct chain *c, uint32_t parts, uint32_t *first)
{
    size_t n = (size_t)c->n + 1;
    struct table t = {.groups = {.first = memory_zeroed(n, sizeof *t.groups.first),
                                 .before = memory_zeroed(n, sizeof *t.groups.before)},
                      .longest = memory_zeroed(n, sizeof *t.longest),
                      .next = memory_zeroed(n, sizeof *t.next),
                      .last = memory_zeroed(n * ((size_t)parts + 1), sizeof *t.last)};
    double *limits = memory_zeroed(n, sizeof *limits), least = 0, all = 0, best = INFINITY;
    for (uint32_t i = 0; i < c->n; i++) {
        least = fmax(least, c->work[i]);
        all += c->work[i];
    }
    least = fmax(least, all / parts);
    uint32_t n_limits = limits_of(c, parts, limits);
    for (uint32_t i = 0; i < n_limits && least + limits[i] < best; i++) {
        double cost = limits[i] + cut_within(c, parts, &t, limits[i]);
        if (!(cost < best))
            continue;
        best = cost;
        trace_back(c, parts, &t, first);
    }
    free(t.groups.first);
    free(t.groups.before);
    free(t.longest);
    free(t.next);
    free(t.last);
    free(limits);
    return best;
}
