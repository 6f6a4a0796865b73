// SPDX-License-Identifier: MIT
// Chooses the strength with which a cause is simulated next. Values are interpolated between the
// best strength so far and its neighbours on both sides; where a side has no neighbour, they are
// extrapolated. If a neighbour's simulation failed, extrapolation goes half of the way to it at
// most. The strength with the least misfit is chosen if it gains enough; otherwise one between two
// neighbours whose values are above and below a measured one, or half of the way to a failed one.
#include <math.h>

#include "cli/diagnose/diagnose.h"

#define STEPS 16    // between two strengths
#define NEARER 0.01 // as a logarithm: strengths that are the same
#define WIDE 2.0    // between strengths whose ratio is larger, effects may bend: a rate of messages
#define LEAST_PART 0.25 // that limits nothing up to some load; of the way that is gone then
#define ACROSS 2.0      // standard deviations by which a value is missed on either side
#define HARDLY 0.3      // of the misfit: not worth a run

// The neighbour of a hypothesis among those of its cause; the healthy network where the kind has no
// effect. Returns SIZE_MAX if there is none.
static size_t neighbour(const struct diagnosis *d, const struct hypothesis *h, bool above,
                        double *strength)
{
    double none = d->causes[h->cause].kind->none;
    size_t found = SIZE_MAX;
    for (size_t i = 0; i < d->n; i++) {
        const struct hypothesis *other = &d->list[i];
        double s = i == 0 ? none : other->strength;
        bool may = i == 0 ? none > 0 : other->cause == h->cause;
        bool beyond = above ? s > h->strength : s < h->strength;
        if (!may || !beyond || (found != SIZE_MAX && (above ? s >= *strength : s <= *strength)))
            continue;
        found = i;
        *strength = s;
    }
    return found;
}

// The part of the way from one hypothesis to another at which the value that both miss most, on
// either side, is as measured; 0 = there is none. Counts that begin somewhere between the two make
// the interpolated misfit of all values useless.
static double part_across(const struct diagnosis *d, const struct hypothesis *a,
                          const struct hypothesis *b)
{
    double most = ACROSS, found = 0;
    for (size_t i = 0; i < d->measured; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        double a_var, b_var,
            here = measured_level(d, i), x = predicted_level(d, a, i, &a_var) - here,
            y = predicted_level(d, b, i, &b_var) - here,
            error = fmax(v->relative, observed_reach(v).error),
            least =
                fmin(fabs(x) / sqrt(error * error + a_var), fabs(y) / sqrt(error * error + b_var));
        if (x * y < 0 && least > most) {
            most = least;
            found = x / (x - y);
        }
    }
    return found;
}

struct guess {
    double strength, misfit; // by interpolation; 0 and INFINITY = there is none
    double own;              // the misfit of the best strength, in the same way
    double middle;           // of the way to a neighbour where that says little; 0 = none
};

// Improve a guess by the strengths from the best one towards its neighbour on one side, and away
// from it if on the other side there is none, or one that failed.
static void guess_beside(const struct diagnosis *d, const struct hypothesis *best, bool above,
                         struct guess *g)
{
    double other = 0, last = 0;
    size_t next = neighbour(d, best, above, &other), far = neighbour(d, best, !above, &last);
    bool open = far == SIZE_MAX, failed = !open && !isfinite(d->list[far].misfit);
    if (next == SIZE_MAX)
        return;
    if (!isfinite(d->list[next].misfit)) { // it did not run to its end
        g->middle = sqrt(other * best->strength);
        return;
    }
    double ratio = other / best->strength;
    bool wide = ratio > 0 && fabs(log(ratio)) > log(WIDE);
    for (int step = open || failed ? 1 - STEPS : 0; step < STEPS; step++) {
        double part = (double)step / STEPS, misfit = misfit_between(d, best, &d->list[next], part);
        g->own = step == 0 ? misfit : g->own;
        if (!(misfit < g->misfit))
            continue;
        g->misfit = misfit;
        part = wide && step > 0 ? fmax(part, LEAST_PART) : part;
        double half = sqrt(last * best->strength), found = best->strength * pow(ratio, part);
        g->strength = !failed || step >= 0 ? found : above ? fmax(found, half) : fmin(found, half);
    }
}

// The strength between two neighbours of which one gives a value that is clearly too large and the
// other one too small, by interpolation of that value. Of several such pairs it is the one with the
// least misfit. 0 = there is no such pair.
static double strength_across(const struct diagnosis *d, size_t cause)
{
    double least = INFINITY, found = 0;
    for (size_t i = 1; i < d->n; i++) {
        const struct hypothesis *h = &d->list[i];
        for (int above = 0; above < 2 && h->cause == cause && h->misfit < least; above++) {
            double other = 0;
            size_t next = neighbour(d, h, above, &other);
            bool may = next != SIZE_MAX && isfinite(d->list[next].misfit) && h->strength > 0;
            double part = may && other > 0 ? part_across(d, h, &d->list[next]) : 0;
            if (part > 0) {
                found = h->strength * pow(other / h->strength, part);
                least = h->misfit;
            }
        }
    }
    return found;
}

double strength_between(const struct diagnosis *d, const struct cause *c)
{
    const struct hypothesis *best = &d->list[c->best];
    struct guess g = {.misfit = INFINITY};
    guess_beside(d, best, false, &g);
    guess_beside(d, best, true, &g);
    if (g.misfit < g.own - HARDLY && g.strength > 0 &&
        fabs(log(g.strength / best->strength)) > NEARER)
        return g.strength;
    double across = strength_across(d, best->cause);
    return across > 0 ? across : g.middle;
}
