// SPDX-License-Identifier: MIT
// Large sizes of a table, whose runs take too long to be made for every cause. The healthy network
// is simulated with them. If its times are clearly off there, and less so at smaller sizes, every
// cause is simulated with them too; otherwise only the nearest causes are.
#include <math.h>

#include "cli/diagnose/diagnose.h"

#define NEAREST 6  // causes
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

void larger_try(struct diagnosis *d)
{
    double places[NEAREST][UNKNOWNS_MOST] = {{0}}, most = 0;
    struct fit_point *points[NEAREST];
    size_t n = d->n_order < NEAREST ? d->n_order : NEAREST;
    uint64_t seeds = d->fit.seeds;
    if (d->later == 0)
        return;
    for (size_t i = 0; i < n; i++)
        places[i][0] = (double)d->causes[d->order[i]].best;
    d->fit.stage = STAGE_LARGE;
    d->fit.seeds = 1;
    fit_run(&d->fit, n, places, points);
    d->fit.seeds = seeds;
    for (size_t i = 0; i < n; i++) {
        struct cause *c = &d->causes[d->order[i]];
        d->list[c->best].large = points[i];
        double more = larger_misfit(d, &d->list[c->best], d->later);
        c->more = isnan(more) ? 0 : more;
        most = fmax(most, c->more);
    }
    // Causes that did not run with these sizes get the largest misfit of those that did.
    for (size_t c = 0; c < d->n_causes; c++)
        if (d->causes[c].best == SIZE_MAX || !d->list[d->causes[c].best].large)
            d->causes[c].more = most;
}
