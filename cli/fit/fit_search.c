// SPDX-License-Identifier: MIT
// The search for the unknowns, and what the data say of each.
//
// First a grid of low discrepancy over the ranges, run in parallel; then Sbplx (Rowan 1990, as
// NLopt has it), which needs no derivatives, from the best of its points. The range of an unknown
// is a profile: the misfit along it, with the others at their best values and, where two of them
// can stand in for each other, moved with it by the linear model that the profiles give.
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/fit.h"
#include "engine/base/memory.h"

#define GRID 24         // points of the grid by each unknown
#define GROWTH 3.84     // of the misfit at the ends of an interval of 95 %: chi square of one value
#define NARROW 1.25     // ratio of the ends of an interval that determines its unknown
#define NEAR 3          // of them, to each side, that show how rough the results are
#define STEPS 6         // of a profile, to each side
#define NOT_RUN 1e9     // misfit of what has not run
#define TOLERANCE 0.002 // of a range

/* ---- the least misfit ---- */

double fit_halton(size_t index, size_t key)
{
    static const unsigned primes[UNKNOWNS_MOST] = {2, 3, 5, 7, 11, 13, 17, 19};
    unsigned base = primes[key];
    double f = 1, r = 0;
    for (size_t i = index + 1; i > 0; i /= base) {
        f /= base;
        r += f * (double)(i % base);
    }
    return r;
}

static struct fit_point *better(const struct fit *f, struct fit_point *a, struct fit_point *b)
{
    return !a || (b && fit_misfit(f, b) < fit_misfit(f, a)) ? b : a;
}

static struct fit_point *search_grid(struct fit *f)
{
    size_t n = GRID * f->unknowns.n, third = (size_t)(f->budget / f->seeds / 3);
    if (n > third && third > 2)
        n = third;
    double(*places)[UNKNOWNS_MOST] = memory_zeroed(n, sizeof *places);
    struct fit_point **list = memory_zeroed(n, sizeof *list), *best = NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < f->unknowns.n; k++)
            places[i][k] = fit_halton(i, k);
    fit_run(f, n, places, list);
    for (size_t i = 0; i < n; i++)
        best = better(f, best, list[i]);
    free(list);
    free(places);
    return best;
}

static double misfit_at(unsigned n, const double *x, double *gradient, void *ctx)
{
    struct fit *f = ctx;
    double places[1][UNKNOWNS_MOST] = {0};
    struct fit_point *p = NULL;
    (void)gradient;
    memcpy(places[0], x, n * sizeof *x);
    if (!f->interrupted)
        fit_run(f, 1, places, &p);
    return p ? fit_misfit(f, p) : NOT_RUN;
}

struct fit_point *fit_search(struct fit *f)
{
    struct fit_point *best = search_grid(f);
    if (!best || f->interrupted)
        return best;
    unsigned n = (unsigned)f->unknowns.n;
    double x[UNKNOWNS_MOST], least, places[1][UNKNOWNS_MOST] = {0};
    memcpy(x, best->places, sizeof x);
    // A fifth is left for the profiles.
    uint64_t left = (f->budget - f->runs) / f->seeds;
    nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, n);
    nlopt_set_lower_bounds1(opt, 0);
    nlopt_set_upper_bounds1(opt, 1);
    nlopt_set_initial_step1(opt, 0.1);
    nlopt_set_xtol_abs1(opt, TOLERANCE);
    nlopt_set_maxeval(opt, (int)(left > 2 * STEPS * n ? left - 2 * STEPS * n : 1));
    nlopt_set_min_objective(opt, misfit_at, f);
    if (nlopt_optimize(opt, x, &least) > 0 && !f->interrupted) {
        struct fit_point *found = NULL;
        memcpy(places[0], x, sizeof x);
        fit_run(f, 1, places, &found);
        best = better(f, best, found);
    }
    nlopt_destroy(opt);
    for (size_t i = 0; i < f->n_points; i++) // all that has run counts
        if (f->points[i]->log_mean)
            best = better(f, best, f->points[i]);
    return best;
}

/* ---- ranges ---- */

// Where the misfit crosses `limit` between two places.
static double crossing(double a, double misfit_a, double b, double misfit_b, double limit)
{
    return misfit_b <= misfit_a ? b : a + (b - a) * (limit - misfit_a) / (misfit_b - misfit_a);
}

// How far the residuals of near places scatter around lines, as the mean of their squares: results
// jump with small changes of a value, and no data tell values within these jumps apart.
static double roughness(const struct fit *f, const struct fit_point *best, size_t k,
                        struct fit_point *const *below, struct fit_point *const *above)
{
    const struct fit_point *near[2 * NEAR + 1] = {best};
    double all = 0, values = 0;
    size_t n = 1;
    for (size_t i = 0; i < NEAR; i++) {
        if (below[i] && below[i] != best)
            near[n++] = below[i];
        if (above[i] && above[i] != best)
            near[n++] = above[i];
    }
    for (size_t v = 0; v < f->measured.n && n > 2; v++) {
        double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
        for (size_t i = 0; i < n; i++) {
            x += near[i]->places[k] / (double)n;
            y += fit_residual(f, near[i], v) / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
            double dx = near[i]->places[k] - x, dy = fit_residual(f, near[i], v) - y;
            xx += dx * dx;
            xy += dx * dy;
            yy += dy * dy;
        }
        double rest = xx > 0 ? yy - xy * xy / xx : yy;
        all += f->measured.list[v].held_out || rest < 0 ? 0 : rest / (double)(n - 2);
        values += !f->measured.list[v].held_out;
    }
    return values > 0 ? all / values : 0;
}

// The end of the interval to one side: the first place beyond which the misfit has grown by
// `growth`. `list`: the points of the profile, by growing distance from the best value.
static double end_of(const struct fit *f, const struct fit_point *best, size_t k, double growth,
                     struct fit_point *const *list, bool *inside)
{
    double limit = fit_misfit(f, best) + growth, from = best->places[k], before = limit - growth;
    for (size_t i = 0; i < STEPS; i++) {
        if (!list[i])
            continue;
        double now = fit_misfit(f, list[i]), at = list[i]->places[k];
        if (now > limit) {
            *inside = true;
            return crossing(from, before, at, now, limit);
        }
        from = at;
        before = now;
    }
    *inside = false;
    return from;
}

// Places from the best one to an end of the range, with steps that grow.
static void profile(struct fit *f, const struct fit_point *best, size_t k, double to,
                    struct fit_point **list)
{
    static const double parts[STEPS] = {0.02, 0.05, 0.12, 0.3, 0.6, 1};
    double places[STEPS][UNKNOWNS_MOST];
    for (size_t i = 0; i < STEPS; i++) {
        memcpy(places[i], best->places, sizeof places[i]);
        places[i][k] += (to - best->places[k]) * parts[i];
    }
    fit_run(f, STEPS, places, list);
}

// The change of the residuals with an unknown, per unit of its range, by its nearest places that
// differ from the best one.
static void slopes(const struct fit *f, size_t k, struct fit_point *const *below,
                   struct fit_point *const *above, double *slope)
{
    const struct fit_point *a = below[1] ? below[1] : below[0], *b = above[1] ? above[1] : above[0];
    double span = a && b ? b->places[k] - a->places[k] : 0;
    for (size_t i = 0; i < f->measured.n; i++)
        slope[i] = span > 0 && !f->measured.list[i].held_out
                       ? (fit_residual(f, b, i) - fit_residual(f, a, i)) / span
                       : 0;
}

// The share of an unknown's effect on the values that no other unknown can have: 1 = all of it.
static double own_share(const struct fit *f, double *const *slope, size_t k)
{
    size_t n = f->measured.n;
    double *rest = memory_zeroed(n, sizeof *rest), all = 0, left = 0;
    memcpy(rest, slope[k], n * sizeof *rest);
    for (size_t i = 0; i < n; i++)
        all += rest[i] * rest[i];
    // Gram and Schmidt over the others, twice, so that their order hardly matters.
    for (int turn = 0; turn < 8; turn++)
        for (size_t j = 0; j < f->unknowns.n; j++) {
            double dot = 0, length = 0;
            for (size_t i = 0; i < n && j != k; i++) {
                dot += rest[i] * slope[j][i];
                length += slope[j][i] * slope[j][i];
            }
            for (size_t i = 0; i < n && length > 0; i++)
                rest[i] -= dot / length * slope[j][i];
        }
    for (size_t i = 0; i < n; i++)
        left += rest[i] * rest[i];
    free(rest);
    return all > 0 ? sqrt(left / all) : 0;
}

// Everything that has run counts: values elsewhere that fit as well are in the range too.
static void widen(const struct fit *f, const struct fit_point *best, size_t k, double growth,
                  struct fit_range *r)
{
    for (size_t i = 0; i < f->n_points; i++) {
        const struct fit_point *p = f->points[i];
        if (!p->log_mean || fit_misfit(f, p) > fit_misfit(f, best) + growth)
            continue;
        r->low = fmin(r->low, p->places[k]);
        r->high = fmax(r->high, p->places[k]);
    }
}

void fit_ranges(struct fit *f, const struct fit_point *best, struct fit_range *ranges)
{
    double *slope[UNKNOWNS_MOST];
    bool inside[UNKNOWNS_MOST][2];
    double growth[UNKNOWNS_MOST];
    for (size_t k = 0; k < f->unknowns.n; k++) {
        struct fit_point *below[STEPS] = {0}, *above[STEPS] = {0};
        profile(f, best, k, 0, below);
        profile(f, best, k, 1, above);
        slope[k] = memory_zeroed(f->measured.n, sizeof *slope[k]);
        slopes(f, k, below, above, slope[k]);
        growth[k] = GROWTH * (1 + roughness(f, best, k, below, above));
        ranges[k].low = end_of(f, best, k, growth[k], below, &inside[k][0]);
        ranges[k].high = end_of(f, best, k, growth[k], above, &inside[k][1]);
    }
    for (size_t k = 0; k < f->unknowns.n; k++) {
        struct fit_range *r = &ranges[k];
        double own = own_share(f, slope, k), at = best->places[k];
        if (own > 0) { // others may move with it
            r->low = fmax(0, at - (at - r->low) / own);
            r->high = fmin(1, at + (r->high - at) / own);
        }
        widen(f, best, k, growth[k], r);
        const struct unknown *u = &f->unknowns.list[k];
        r->bounded = inside[k][0] && inside[k][1] && own > 0 && r->low > 0 && r->high < 1;
        r->determined =
            r->bounded && unknown_value(u, r->high) <= NARROW * unknown_value(u, r->low);
    }
    for (size_t k = 0; k < f->unknowns.n; k++)
        free(slope[k]);
}
