// SPDX-License-Identifier: MIT
// Large sizes of a table, whose runs take too long to be made for every cause. The healthy network
// is simulated with them. If its times are clearly off there, and less so at smaller sizes, every
// cause is simulated with them too; otherwise only the nearest causes are.
#include <math.h>

#include <stdlib.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"

#define NEAREST 6  // causes, of different kinds
#define OTHERS 4   // of these kinds, of other strengths
#define SEEDS 3    // of each: queues may build up or not
#define SAME 0.1   // logarithm of the ratio of strengths that are one
#define CLEAR 12.0 // a misfit of five standard deviations

void larger_promote(struct diagnosis *d)
{
    const struct hypothesis *healthy = &d->list[0];
    double early = hypothesis_misfit(d, healthy);
    size_t n = 1;
    while (n < d->later && larger_misfit(d, healthy, n) < CLEAR)
        n++;
    if (d->later == 0 || larger_misfit(d, healthy, n) < fmax(early, CLEAR))
        return;
    for (size_t i = d->measured; i < d->measured + n; i++)
        d->fit.measured.list[i].later = STAGE_FIRST;
    d->measured += n;
    d->later -= n;
    spread_of_seeds(d);
}

static bool is_same(const struct diagnosis *d, const struct cause *a, const struct cause *b)
{
    double ratio = d->list[a->best].strength / d->list[b->best].strength;
    return a->kind == b->kind && !(fabs(log(ratio)) > SAME);
}

// Whether a cause is of the kind of one in a list, and as near, and its strength is another one:
// at places that smaller sizes do not tell apart, since they are used in another way.
static bool is_other(const struct diagnosis *d, const size_t *list, size_t n, size_t cause)
{
    const struct cause *c = &d->causes[cause];
    bool near = false;
    for (size_t i = 0; i < n; i++) {
        const struct cause *k = &d->causes[list[i]];
        if (k == c || is_same(d, c, k))
            return false;
        near |= cause_same_kind_near(d, k, c);
    }
    return near;
}

// The first causes of d->order, and others of their kinds.
static size_t list_nearest(const struct diagnosis *d, size_t list[NEAREST + OTHERS])
{
    size_t n = d->n_order < NEAREST ? d->n_order : NEAREST, most = n + OTHERS,
           *all = memory_zeroed(d->n_causes + 1, sizeof *all),
           n_all = causes_nearest(d, d->n_causes, d->n_causes, false, all);
    for (size_t i = 0; i < n; i++)
        list[i] = d->order[i];
    for (size_t i = 0; i < n_all && n < most; i++)
        if (is_other(d, list, n, all[i]))
            list[n++] = all[i];
    free(all);
    return n;
}

void larger_try(struct diagnosis *d)
{
    double places[NEAREST + OTHERS][UNKNOWNS_MOST] = {{0}}, most = 0;
    struct fit_point *points[NEAREST + OTHERS];
    uint64_t seeds = d->fit.seeds;
    if (d->later == 0)
        return;
    size_t list[NEAREST + OTHERS], n = list_nearest(d, list);
    for (size_t i = 0; i < n; i++)
        places[i][0] = (double)d->causes[list[i]].best;
    d->fit.stage = STAGE_LARGE;
    d->fit.seeds = seeds > SEEDS ? seeds : SEEDS;
    fit_run(&d->fit, n, places, points);
    d->fit.seeds = seeds;
    for (size_t i = 0; i < n; i++) {
        struct cause *c = &d->causes[list[i]];
        d->list[c->best].large = points[i];
        double more = larger_misfit(d, &d->list[c->best], d->later);
        c->more = isnan(more) ? 0 : more;
        most = fmax(most, c->more);
    }
    // Causes that did not run with these sizes get the misfit of one of their kind and strength
    // that did, and else the largest.
    for (size_t c = 0; c < d->n_causes; c++) {
        struct cause *own = &d->causes[c];
        if (own->best != SIZE_MAX && d->list[own->best].large)
            continue;
        own->more = most;
        for (size_t i = 0; i < n && own->best != SIZE_MAX; i++)
            if (is_same(d, own, &d->causes[list[i]]))
                own->more = d->causes[list[i]].more;
    }
}
