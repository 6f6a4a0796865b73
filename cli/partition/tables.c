// SPDX-License-Identifier: MIT
#include "cli/partition/tables.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define EXCHANGES_MOST 2000 // tables of a set in which pairs are exchanged
#define STEPS_MOST 2000
#define LESS (1 - 1e-12) // a gain that is no rounding

struct placing {
    const struct table_set *set;
    uint32_t ranks;
    uint32_t *rank;
    struct table_load *loads; // [ranks]
    double cost;
};

// The most of each kind on a rank.
static struct table_load most_of(const struct placing *p)
{
    struct table_load most = {0};
    for (uint32_t r = 0; r < p->ranks; r++) {
        most.lookups = fmax(most.lookups, p->loads[r].lookups);
        most.vectors = fmax(most.vectors, p->loads[r].vectors);
        most.memory_bytes = fmax(most.memory_bytes, p->loads[r].memory_bytes);
    }
    return most;
}

static double cost_of_most(const struct table_set *s, const struct table_load *most)
{
    if (s->capacity_bytes > 0 && most->memory_bytes > s->capacity_bytes)
        return INFINITY;
    return most->lookups * s->lookup_ps + most->vectors * s->vector_ps;
}

static double cost_of(const struct placing *p)
{
    struct table_load most = most_of(p);
    return cost_of_most(p->set, &most);
}

// The cost with one more table on a rank, where the ranks' most was `most` before.
static double cost_with(const struct placing *p, const struct table_load *most, uint32_t rank,
                        uint32_t table)
{
    const struct table_load *own = &p->loads[rank], *more = &p->set->tables[table];
    struct table_load with = {.lookups = fmax(most->lookups, own->lookups + more->lookups),
                              .vectors = fmax(most->vectors, own->vectors + more->vectors),
                              .memory_bytes =
                                  fmax(most->memory_bytes, own->memory_bytes + more->memory_bytes)};
    return cost_of_most(p->set, &with);
}

static void add(struct placing *p, uint32_t rank, uint32_t table, double sign)
{
    const struct table_load *t = &p->set->tables[table];
    p->loads[rank].lookups += sign * t->lookups;
    p->loads[rank].vectors += sign * t->vectors;
    p->loads[rank].memory_bytes += sign * t->memory_bytes;
}

static void move(struct placing *p, uint32_t table, uint32_t to)
{
    add(p, p->rank[table], table, -1);
    add(p, to, table, 1);
    p->rank[table] = to;
}

static struct placing placing_of(const struct table_set *s, uint32_t ranks, uint32_t *rank)
{
    struct placing p = {
        .set = s, .ranks = ranks, .rank = rank, .loads = memory_zeroed(ranks, sizeof *p.loads)};
    for (uint32_t t = 0; t < s->n; t++)
        add(&p, rank[t], t, 1);
    p.cost = cost_of(&p);
    return p;
}

double tables_cost(const struct table_set *s, uint32_t ranks, const uint32_t *rank)
{
    uint32_t *copy = memory_zeroed((size_t)s->n + 1, sizeof *copy);
    memcpy(copy, rank, s->n * sizeof *copy);
    struct placing p = placing_of(s, ranks, copy);
    free(p.loads);
    free(copy);
    return p.cost;
}

void tables_equal(uint32_t n, uint32_t ranks, uint32_t *rank)
{
    for (uint32_t t = 0; t < n; t++)
        rank[t] = (uint32_t)((uint64_t)t * ranks / n);
}

/* ---- the longest first ---- */

struct weighed {
    double weight;
    uint32_t table;
};

static int longest_first(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->weight > y->weight || x->weight < y->weight)
        return x->weight > y->weight ? -1 : 1;
    return (x->table > y->table) - (x->table < y->table);
}

// The rank on which the cost is the least with one more table; among equals the one with the least
// to do.
static uint32_t best_rank(const struct placing *p, uint32_t table)
{
    struct table_load most = most_of(p);
    const struct table_set *s = p->set;
    double cost = INFINITY, load = INFINITY;
    uint32_t best = 0;
    for (uint32_t r = 0; r < p->ranks; r++) {
        double own = p->loads[r].lookups * s->lookup_ps + p->loads[r].vectors * s->vector_ps;
        double with = cost_with(p, &most, r, table);
        if (with < cost || (with <= cost && own < load)) {
            best = r;
            cost = with;
            load = own;
        }
    }
    return best;
}

static void place_longest_first(const struct table_set *s, uint32_t ranks, uint32_t *rank)
{
    struct placing p = {
        .set = s, .ranks = ranks, .rank = rank, .loads = memory_zeroed(ranks, sizeof *p.loads)};
    struct weighed *order = memory_zeroed((size_t)s->n + 1, sizeof *order);
    for (uint32_t t = 0; t < s->n; t++)
        order[t] = (struct weighed){
            s->tables[t].lookups * s->lookup_ps + s->tables[t].vectors * s->vector_ps, t};
    qsort(order, s->n, sizeof *order, longest_first);
    for (uint32_t i = 0; i < s->n; i++) {
        rank[order[i].table] = best_rank(&p, order[i].table);
        add(&p, rank[order[i].table], order[i].table, 1);
    }
    free(order);
    free(p.loads);
}

/* ---- improvement ---- */

static bool better(struct placing *p)
{
    double cost = cost_of(p);
    if (!(cost < p->cost * LESS))
        return false;
    p->cost = cost;
    return true;
}

static bool try_moves(struct placing *p, uint32_t table)
{
    uint32_t from = p->rank[table];
    add(p, from, table, -1);
    struct table_load most = most_of(p);
    add(p, from, table, 1);
    for (uint32_t r = 0; r < p->ranks; r++) {
        if (r == from || !(cost_with(p, &most, r, table) < p->cost * LESS))
            continue;
        move(p, table, r);
        p->cost = cost_of(p);
        return true;
    }
    return false;
}

static bool try_exchanges(struct placing *p, uint32_t table)
{
    uint32_t from = p->rank[table];
    for (uint32_t t = 0; t < p->set->n && p->set->n <= EXCHANGES_MOST; t++) {
        uint32_t other = p->rank[t];
        if (other == from)
            continue;
        move(p, table, other);
        move(p, t, from);
        if (better(p))
            return true;
        move(p, t, other);
        move(p, table, from);
    }
    return false;
}

// One step, of a table on the rank with the most lookups or the one with the most vectors: no other
// step lowers the cost.
static bool improve(struct placing *p)
{
    uint32_t most[2] = {0, 0};
    for (uint32_t r = 1; r < p->ranks; r++) {
        most[0] = p->loads[r].lookups > p->loads[most[0]].lookups ? r : most[0];
        most[1] = p->loads[r].vectors > p->loads[most[1]].vectors ? r : most[1];
    }
    for (uint32_t t = 0; t < p->set->n; t++)
        if ((p->rank[t] == most[0] || p->rank[t] == most[1]) &&
            (try_moves(p, t) || try_exchanges(p, t)))
            return true;
    return false;
}

static double improved(const struct table_set *s, uint32_t ranks, uint32_t *rank)
{
    struct placing p = placing_of(s, ranks, rank);
    for (unsigned step = 0; step < STEPS_MOST && isfinite(p.cost) && improve(&p); step++)
        ;
    free(p.loads);
    return p.cost;
}

double tables_place(const struct table_set *s, uint32_t ranks, uint32_t *rank)
{
    uint32_t *equal = memory_zeroed((size_t)s->n + 1, sizeof *equal);
    tables_equal(s->n, ranks, equal);
    double with_equal = improved(s, ranks, equal);
    place_longest_first(s, ranks, rank);
    double cost = improved(s, ranks, rank);
    if (with_equal < cost) {
        cost = with_equal;
        memcpy(rank, equal, s->n * sizeof *rank);
    }
    free(equal);
    return cost;
}
