// SPDX-License-Identifier: MIT
#include "cli/partition/operators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/partition/divide.h"
#include "engine/base/memory.h"

#define PASSES_MOST 20
#define LESS (1 - 1e-12) // a gain that is no rounding

void operator_graph_free(struct operator_graph *g)
{
    for (uint32_t v = 0; v < g->n; v++)
        free(g->nodes[v].name);
    free(g->nodes);
    free(g->edges);
    *g = (struct operator_graph){0};
}

/* ---- edges of an operator ---- */

struct operator_ends operator_ends(const struct operator_graph *g, bool leaving, bool arriving)
{
    struct operator_ends s = {.first = memory_zeroed((size_t)g->n + 2, sizeof *s.first),
                              .edges = memory_zeroed(2 * (size_t)g->n_edges + 1, sizeof *s.edges)};
    for (uint32_t e = 0; e < g->n_edges; e++) {
        s.first[g->edges[e].from + 2] += leaving;
        s.first[g->edges[e].to + 2] += arriving;
    }
    for (uint32_t v = 1; v <= g->n; v++)
        s.first[v + 1] += s.first[v];
    for (uint32_t e = 0; e < g->n_edges; e++) {
        if (leaving)
            s.edges[s.first[g->edges[e].from + 1]++] = e;
        if (arriving)
            s.edges[s.first[g->edges[e].to + 1]++] = e;
    }
    return s;
}

void operator_ends_free(struct operator_ends *s)
{
    free(s->first);
    free(s->edges);
}

uint32_t operator_order(const struct operator_graph *g, uint32_t *order)
{
    struct operator_ends s = operator_ends(g, true, false);
    uint32_t *missing = memory_zeroed((size_t)g->n + 1, sizeof *missing), n = 0;
    for (uint32_t e = 0; e < g->n_edges; e++)
        missing[g->edges[e].to]++;
    for (uint32_t v = 0; v < g->n; v++)
        if (missing[v] == 0)
            order[n++] = v;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = s.first[order[i]]; j < s.first[order[i] + 1]; j++) {
            uint32_t to = g->edges[s.edges[j]].to;
            if (--missing[to] == 0)
                order[n++] = to;
        }
    free(missing);
    operator_ends_free(&s);
    return n;
}

/* ---- the closed form ---- */

struct loads { // sums of each part
    double *time_ps, *memory_bytes;
    uint32_t *count;
    double cut_bytes;
};

static struct loads loads_of(const struct operator_graph *g, uint32_t parts, const uint32_t *part)
{
    struct loads l = {.time_ps = memory_zeroed(parts, sizeof *l.time_ps),
                      .memory_bytes = memory_zeroed(parts, sizeof *l.memory_bytes),
                      .count = memory_zeroed(parts, sizeof *l.count)};
    for (uint32_t v = 0; v < g->n; v++) {
        l.time_ps[part[v]] += g->nodes[v].time_ps;
        l.memory_bytes[part[v]] += g->nodes[v].memory_bytes;
        l.count[part[v]]++;
    }
    for (uint32_t e = 0; e < g->n_edges; e++)
        if (part[g->edges[e].from] != part[g->edges[e].to])
            l.cut_bytes += g->edges[e].bytes;
    return l;
}

static void loads_free(struct loads *l)
{
    free(l->time_ps);
    free(l->memory_bytes);
    free(l->count);
}

static struct operator_cost cost_of(const struct operator_graph *g, uint32_t parts,
                                    const struct loads *l)
{
    struct operator_cost cost = {.cut_bytes = l->cut_bytes};
    bool good = true;
    for (uint32_t k = 0; k < parts; k++) {
        cost.longest_ps = fmax(cost.longest_ps, l->time_ps[k]);
        cost.memory_bytes = fmax(cost.memory_bytes, l->memory_bytes[k]);
        good = good && l->count[k] > 0;
    }
    good = good && (g->capacity_bytes <= 0 || cost.memory_bytes <= g->capacity_bytes);
    cost.total_ps = good ? cost.longest_ps + cost.cut_bytes * g->byte_ps : INFINITY;
    return cost;
}

struct operator_cost operator_cost(const struct operator_graph *g, uint32_t parts,
                                   const uint32_t *part)
{
    struct loads l = loads_of(g, parts, part);
    struct operator_cost cost = cost_of(g, parts, &l);
    loads_free(&l);
    return cost;
}

void operator_equal(const struct operator_graph *g, const uint32_t *order, uint32_t parts,
                    uint32_t *part)
{
    for (uint32_t i = 0; i < g->n; i++)
        part[order[i]] = (uint32_t)((uint64_t)i * parts / g->n);
}

/* ---- improvement ---- */

struct mover {
    const struct operator_graph *g;
    struct operator_ends ends;
    struct loads loads;
    uint32_t parts;
    uint32_t *part;
    struct operator_cost cost;
};

// Bytes that are cut after a move less those before.
static double cut_change(const struct mover *m, uint32_t v, uint32_t to)
{
    double change = 0;
    uint32_t from = m->part[v];
    for (uint32_t j = m->ends.first[v]; j < m->ends.first[v + 1]; j++) {
        const struct operator_edge *e = &m->g->edges[m->ends.edges[j]];
        uint32_t other = m->part[operator_other(e, v)];
        change += (other == from ? e->bytes : 0) - (other == to ? e->bytes : 0);
    }
    return change;
}

static void move(struct mover *m, uint32_t v, uint32_t to, double change)
{
    const struct operator_graph *g = m->g;
    uint32_t from = m->part[v];
    m->loads.time_ps[from] -= g->nodes[v].time_ps;
    m->loads.time_ps[to] += g->nodes[v].time_ps;
    m->loads.memory_bytes[from] -= g->nodes[v].memory_bytes;
    m->loads.memory_bytes[to] += g->nodes[v].memory_bytes;
    m->loads.count[from]--;
    m->loads.count[to]++;
    m->loads.cut_bytes += change;
    m->part[v] = to;
}

// The cost falls only if fewer bytes are cut or the longest part gets shorter.
static bool try_move(struct mover *m, uint32_t v, uint32_t to)
{
    uint32_t from = m->part[v];
    if (to == from || m->loads.count[from] < 2)
        return false;
    double change = cut_change(m, v, to);
    if (change >= 0 && m->loads.time_ps[from] < m->cost.longest_ps)
        return false;
    move(m, v, to, change);
    struct operator_cost moved = cost_of(m->g, m->parts, &m->loads);
    if (moved.total_ps < m->cost.total_ps * LESS) {
        m->cost = moved;
        return true;
    }
    move(m, v, from, -change);
    return false;
}

static uint32_t lightest(const struct mover *m)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < m->parts; k++)
        if (m->loads.time_ps[k] < m->loads.time_ps[best])
            best = k;
    return best;
}

void operator_improve(const struct operator_graph *g, uint32_t parts, uint32_t *part)
{
    struct mover m = {.g = g,
                      .ends = operator_ends(g, true, true),
                      .loads = loads_of(g, parts, part),
                      .parts = parts,
                      .part = part};
    m.cost = cost_of(g, parts, &m.loads);
    bool better = isfinite(m.cost.total_ps);
    for (unsigned pass = 0; pass < PASSES_MOST && better; pass++) {
        better = false;
        for (uint32_t v = 0; v < g->n; v++) {
            for (uint32_t j = m.ends.first[v]; j < m.ends.first[v + 1]; j++) {
                const struct operator_edge *e = &g->edges[m.ends.edges[j]];
                better |= try_move(&m, v, part[operator_other(e, v)]);
            }
            better |= try_move(&m, v, lightest(&m));
        }
    }
    operator_ends_free(&m.ends);
    loads_free(&m.loads);
}

/* ---- the best of all ---- */

struct best {
    const struct operator_graph *g;
    uint32_t parts;
    uint32_t *part, *tried;
    struct operator_cost cost;
};

static void take(struct best *b)
{
    struct operator_cost cost = operator_cost(b->g, b->parts, b->tried);
    if (!(cost.total_ps < b->cost.total_ps))
        return;
    b->cost = cost;
    memcpy(b->part, b->tried, b->g->n * sizeof *b->part);
}

static void take_and_improve(struct best *b)
{
    take(b);
    operator_improve(b->g, b->parts, b->tried);
    take(b);
}

struct operator_cost operator_partition(const struct operator_graph *g, const uint32_t *order,
                                        uint32_t parts, uint32_t *part)
{
    static const int imbalances[] = {1, 30, 100, 300, 1000}; // thousandths
    struct best b = {.g = g,
                     .parts = parts,
                     .part = part,
                     .tried = memory_zeroed((size_t)g->n + 1, sizeof *b.tried)};
    operator_equal(g, order, parts, b.part);
    b.cost = operator_cost(g, parts, b.part);
    memcpy(b.tried, b.part, g->n * sizeof *b.part);
    take_and_improve(&b);
    for (unsigned i = 0; i < sizeof imbalances / sizeof *imbalances && parts > 1; i++)
        for (int bisect = 0; bisect < 2; bisect++)
            if (divide_by_metis(g, parts, bisect != 0, imbalances[i], b.tried))
                take_and_improve(&b);
    free(b.tried);
    return b.cost;
}
