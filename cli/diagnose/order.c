// SPDX-License-Identifier: MIT
// Causes by how near they are: their ranks, those of whole kinds, and which are not told apart.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"

#define BETTER 4.0 // by which the misfit of a cause is below the healthy network's: two sigmas
#define TIES 9.2   // of the rank: a likelihood ratio of 100, below which values do not decide

double cause_explains(const struct diagnosis *d, const struct cause *c)
{
    bool tried = c->more > 0 || d->list[c->best].large;
    double larger = tried && d->later > 0 ? larger_misfit(d, &d->list[0], d->later) : 0,
           gap = d->list[0].misfit + larger, left = d->list[c->best].misfit + c->more;
    return gap > 0 && left < gap ? fmin(1, 1 - left / gap) : 0;
}

struct ranked {
    size_t cause;
    double rank;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->cause > y->cause) - (x->cause < y->cause);
}

// All causes that have run, the nearest first; to be freed.
static struct ranked *ranked(const struct diagnosis *d, size_t *n)
{
    struct ranked *all = memory_zeroed(d->n_causes + 1, sizeof *all);
    *n = 0;
    for (size_t c = 0; c < d->n_causes; c++)
        if (d->causes[c].best != SIZE_MAX)
            all[(*n)++] = (struct ranked){c, d->causes[c].rank + d->causes[c].more};
    qsort(all, *n, sizeof *all, by_rank);
    return all;
}

static bool is_kind(const struct cause *a, const struct cause *b)
{
    return strcmp(a->kind->name, b->kind->name) == 0 && a->kind != &cause_two;
}

// Of one row of the table: a slow bus and a low rate of packets are one kind, but each is searched.
static bool is_row(const struct cause *a, const struct cause *b)
{
    return a->kind == b->kind && a->kind != &cause_two;
}

double kind_rank(const struct diagnosis *d, const struct cause *best)
{
    double sum = 1, own = best->rank + best->more; // 1: its own part
    for (size_t c = 0; c < d->n_causes; c++)
        if (&d->causes[c] != best && is_kind(&d->causes[c], best))
            sum += exp((own - d->causes[c].rank - d->causes[c].more) / 2);
    return own - 2 * log(sum);
}

// The least difference of ranks that decides. Where the nearest cause misses the values by more
// than the stated spreads allow, these are too small by the root of the ratio (the ratio of Birge,
// Phys. Rev. 40 (1932) 207), and a difference is worth as much less.
static double least_difference(const struct diagnosis *d, const struct cause *first)
{
    double values = 0;
    for (size_t i = 0; i < d->measured; i++)
        values += d->fit.measured.list[i].value > 0;
    return TIES * fmax(1, d->list[first->best].misfit / fmax(1, values));
}

bool cause_ties(const struct diagnosis *d, const struct cause *c)
{
    const struct cause *first = &d->causes[d->order[0]];
    return kind_rank(d, c) - kind_rank(d, first) < least_difference(d, first);
}

bool cause_same_kind_near(const struct diagnosis *d, const struct cause *a, const struct cause *b)
{
    const struct cause *nearer = a->rank + a->more < b->rank + b->more ? a : b;
    return is_kind(a, b) &&
           fabs(a->rank + a->more - b->rank - b->more) < least_difference(d, nearer);
}

void causes_order(struct diagnosis *d)
{
    size_t n, kept = 0;
    struct ranked *all = ranked(d, &n);
    for (size_t i = 0; i < n; i++) {
        const struct cause *c = &d->causes[all[i].cause];
        bool known = !(d->list[c->best].misfit < d->list[0].misfit - BETTER);
        for (size_t k = 0; k < kept && !known; k++)
            known = is_kind(&d->causes[all[k].cause], c);
        if (!known)
            all[kept++] = (struct ranked){all[i].cause, kind_rank(d, c)};
    }
    qsort(all, kept, sizeof *all, by_rank);
    d->order = memory_resize(d->order, d->n_causes + 1, sizeof *d->order);
    for (size_t i = 0; i < kept; i++)
        d->order[i] = all[i].cause;
    d->n_order = kept;
    free(all);
}

size_t causes_nearest(const struct diagnosis *d, size_t most, size_t of_kind, bool finer,
                      size_t *numbers)
{
    size_t n, kept = 0;
    struct ranked *all = ranked(d, &n);
    for (size_t allowed = finer ? 1 : of_kind; allowed <= of_kind;
         allowed = allowed < of_kind ? of_kind : of_kind + 1)
        for (size_t i = 0; i < n && kept < most; i++) {
            const struct cause *c = &d->causes[all[i].cause];
            size_t alike = 0;
            bool known = finer && !c->kind->finer;
            for (size_t k = 0; k < kept; k++) {
                alike += is_row(&d->causes[numbers[k]], c);
                known |= numbers[k] == all[i].cause;
            }
            if (!known && alike < allowed)
                numbers[kept++] = all[i].cause;
        }
    free(all);
    return kept;
}
