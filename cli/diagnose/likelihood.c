// SPDX-License-Identifier: MIT
// How near a run is to what was measured.
//
// Values are compared by their logarithm. A measured one has its stated spread; a simulated one the
// error of the model (cli/fit/observed.c) and the spread among seeds: which of equal paths a hash
// takes, which packets are marked or lost. The latter is estimated from the runs of the healthy
// network, from those of the same kind of cause, and of the hypothesis where it has several. Beyond
// three standard deviations a distance counts by its logarithm, as under a distribution with long
// tails, so that one count does not outweigh all else.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"

#define FAR 3.0          // standard deviations from which a distance counts by its logarithm
#define LEVELS 2.3       // standard deviations of chi square up to which a network is healthy
#define RELATED_MOST 100 // values; of more no correlations are computed
#define CHANGED 2.0      // standard deviations by which a value depends on a strength
#define NEVER 4.0        // times log(1 + n): misfit of a count that is 0 in all n runs, and was not
#define UNUSED 3.0       // times log(n): of the use of a link that carries nothing in all n runs
#define TWO_FAULTS 0.1   // as likely as one, before anything was measured
#define NOT_ENDED 60.0   // of a run that took several times as long as was measured
#define BURST 3.0        // packets of a burst, as counts vary

// Variance of a measured level and of the model; counts, such as lost packets, come in bursts.
static double fixed_variance(const struct observed_value *v, double level)
{
    struct observed_reach reach = observed_reach(v);
    double spread = v->relative * v->value / (v->value + reach.floor), above = exp(level),
           count = reach.counts ? BURST * (above - reach.floor) / (above * above) : 0;
    return spread * spread + reach.error * reach.error + fmax(0, count);
}

// The covariance of what was measured, and of the model, over the seeds: rates have the error of
// the time in common.
static double shared_variance(const struct diagnosis *d, size_t i, size_t k)
{
    const struct observed_value *clock = &d->fit.measured.list[d->clock];
    double x = i == d->clock ? 1 : weight_of(d, i), y = k == d->clock ? 1 : weight_of(d, k);
    return x * y > 0 ? x * y * fixed_variance(clock, value_level(clock, clock->value)) : 0;
}

// Make the deviations independent of each other: divide them by the root of their covariance
// (Cholesky). Writes over the matrix.
static void whiten(double *matrix, double *off, double *scale, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        for (size_t k = 0; k < i; k++) {
            double sum = matrix[i * m + k];
            for (size_t l = 0; l < k; l++)
                sum -= matrix[i * m + l] * matrix[k * m + l];
            matrix[i * m + k] = sum / scale[k];
            off[i] -= matrix[i * m + k] * off[k];
            matrix[i * m + i] -= matrix[i * m + k] * matrix[i * m + k];
        }
        scale[i] = sqrt(matrix[i * m + i]);
        off[i] /= scale[i];
    }
}

// The least misfit of a value that was measured and is 0 in all runs of a hypothesis: dropped
// packets, or traffic on a link that is down. In a few runs a link may also carry nothing because
// the hash gave it no flow, so that this counts less.
static double never_misfit(const struct diagnosis *d, const struct hypothesis *h, size_t i)
{
    const struct observed_value *v = &d->fit.measured.list[i];
    struct observed_reach reach = observed_reach(v);
    bool never = reach.least > 0 && v->value >= reach.least;
    double n = (double)h->point->seeds;
    for (uint64_t s = 0; s < h->point->seeds && never; s++)
        never = run_value(d, h, s, i) <= 0;
    return !never ? 0 : reach.counts ? NEVER * log(1 + n) : UNUSED * log(n);
}

// Write to `off` by how many standard deviations each level is from the measured one, and to
// `scale` these standard deviations, after values that vary together among seeds have been made
// independent (whiten). `own`: the variances of the levels; `related`: their correlations.
static void deviations(const struct diagnosis *d, const double *level, const double *own,
                       const double *related, double *off, double *scale)
{
    size_t m = d->measured;
    double *matrix = memory_zeroed(m * m + 1, sizeof *matrix);
    for (size_t i = 0; i < m; i++) {
        double more = weight_of(d, i) > 0 ? shared_variance(d, i, i) : 0;
        off[i] = level[i] - measured_level(d, i);
        matrix[i * m + i] = fixed_variance(&d->fit.measured.list[i], level[i]) + more + own[i];
        for (size_t k = 0; k < i && m <= RELATED_MOST; k++)
            matrix[i * m + k] = related[i * m + k] * sqrt(own[i] * own[k]) +
                                (d->clock == SIZE_MAX ? 0 : shared_variance(d, i, k));
    }
    whiten(matrix, off, scale, m);
    free(matrix);
}

static double far_distance(double off) { return FAR * FAR * log1p(off * off / (FAR * FAR)); }

static const double *related_of(const struct diagnosis *d, const struct hypothesis *h)
{
    const struct cause *first = h->cause == SIZE_MAX ? NULL : first_of_kind(d, h->cause);
    return first && first->related ? first->related : d->related;
}

// The sum over the measured values of the distance, and, if wanted, of what a wide spread costs.
static double distance(const struct diagnosis *d, const struct hypothesis *h, bool with_spread)
{
    size_t m = d->measured;
    double *own = memory_zeroed(4 * m + 1, sizeof *own), *level = own + m, *off = level + m,
           *scale = off + m, sum = 0, seeds = (double)h->point->seeds, ended = seeds;
    for (size_t i = 0; i < m; i++) {
        struct level of = mean_level(d, h, i);
        level[i] = of.mean;
        own[i] = level_variance(d, h, i, &of);
        ended = fmin(ended, of.n);
    }
    sum = -2 * log(ended / seeds); // infinite if none did
    if (isfinite(sum))
        deviations(d, level, own, related_of(d, h), off, scale);
    for (size_t i = 0; i < m && isfinite(sum); i++) {
        double more = weight_of(d, i) > 0 ? shared_variance(d, i, i) : 0,
               usual = fixed_variance(&d->fit.measured.list[i], measured_level(d, i)) + more +
                       d->spread[i];
        sum += fmax(far_distance(off[i]), never_misfit(d, h, i));
        if (with_spread)
            sum += log(scale[i] * scale[i] / usual);
    }
    free(own);
    return sum;
}

double misfit_between(const struct diagnosis *d, const struct hypothesis *a,
                      const struct hypothesis *b, double part)
{
    size_t m = d->measured;
    double *own = memory_zeroed(4 * m + 1, sizeof *own), *level = own + m, *off = level + m,
           *scale = off + m, sum = 0;
    for (size_t i = 0; i < m; i++) {
        double far, x = predicted_level(d, a, i, &own[i]), y = predicted_level(d, b, i, &far);
        bool changed = (y - x) * (y - x) > CHANGED * CHANGED * (own[i] + far);
        level[i] = changed ? x + part * (y - x) : x;
    }
    deviations(d, level, own, related_of(d, a), off, scale);
    for (size_t i = 0; i < m; i++)
        sum += far_distance(off[i]);
    free(own);
    return sum;
}

double unfinished_misfit(const struct diagnosis *d, const struct hypothesis *h)
{
    size_t m = d->measured, known = 0;
    double *own = memory_zeroed(4 * m + 1, sizeof *own), *level = own + m, *off = level + m,
           *scale = off + m, sum = 0;
    for (size_t i = 0; i < m; i++) {
        level[i] = predicted_level(d, h, i, &own[i]);
        known += isnan(level[i]) ? 0 : 1;
        own[i] = isnan(level[i]) ? 0 : own[i];
        level[i] = isnan(level[i]) ? measured_level(d, i) : level[i];
    }
    deviations(d, level, own, related_of(d, h), off, scale);
    for (size_t i = 0; i < m; i++)
        sum += fmax(far_distance(off[i]), never_misfit(d, h, i));
    free(own);
    return known > 0 ? sum : INFINITY;
}

double hypothesis_misfit(const struct diagnosis *d, const struct hypothesis *h)
{
    return h->point ? distance(d, h, true) : INFINITY;
}

double larger_off(const struct diagnosis *d, const struct hypothesis *h, size_t value)
{
    struct hypothesis large = *h;
    large.point = h->cause == SIZE_MAX ? h->point : h->large;
    if (!large.point)
        return 0;
    struct level level = mean_level(d, &large, value);
    double var = fixed_variance(&d->fit.measured.list[value], level.mean) +
                 seeds_variance(d->spread[value], level.squares, level.n);
    return (level.mean - measured_level(d, value)) / sqrt(var);
}

double larger_misfit(const struct diagnosis *d, const struct hypothesis *h, size_t n)
{
    double sum = h->cause == SIZE_MAX || h->large ? 0 : (double)NAN;
    for (size_t i = d->measured; i < d->measured + n && !isnan(sum); i++) {
        double off = larger_off(d, h, i);
        sum += isnan(off) ? NOT_ENDED : far_distance(off);
    }
    return sum;
}

// Counts that are 0 and should be say nothing of its spread.
double usual_misfit(const struct diagnosis *d)
{
    double n = 0;
    for (size_t i = 0; i < d->measured; i++)
        n += d->fit.measured.list[i].value > 0;
    return n + LEVELS * sqrt(2 * n) - distance(d, &d->list[0], false) + d->list[0].misfit;
}

/* ---- averages over strengths ---- */

struct at_strength {
    double where, misfit;
};

static int by_strength(const void *a, const void *b)
{
    const struct at_strength *x = a, *y = b;
    return (x->where > y->where) - (x->where < y->where);
}

// What part of the range a strength stands for: half of the way to its neighbours.
static double part_of(const struct at_strength *list, size_t n, size_t i)
{
    double low = list[i > 0 ? i - 1 : i].where, high = list[i + 1 < n ? i + 1 : i].where,
           range = list[n - 1].where - list[0].where;
    return n > 1 && range > 0 ? (high - low) / 2 / range : 1.0 / (double)n;
}

// Each kind is as likely before anything was measured; one that may be of many strengths or at many
// places is less likely at each. So likelihoods are averaged.
void cause_rank(struct diagnosis *d, size_t cause)
{
    struct cause *c = &d->causes[cause];
    struct at_strength *list = memory_zeroed(d->n + 1, sizeof *list);
    size_t n = 0;
    double best = INFINITY, sum = 0, places = 0;
    for (size_t i = 1; i < d->n; i++) {
        const struct hypothesis *h = &d->list[i];
        if (h->cause != cause || !isfinite(h->misfit))
            continue;
        list[n++] = (struct at_strength){c->kind->finer ? log(h->strength) : 0, h->misfit};
        if (h->misfit < best) {
            best = h->misfit;
            c->best = i;
        }
    }
    qsort(list, n, sizeof *list, by_strength);
    for (size_t i = 0; i < n; i++)
        sum += part_of(list, n, i) * exp((best - list[i].misfit) / 2);
    for (size_t k = 0; k < d->n_causes; k++)
        if (d->causes[k].kind == c->kind)
            places += d->causes[k].stands_for;
    double before = (c->kind == &cause_two ? TWO_FAULTS : 1) * c->stands_for / places;
    c->rank = n > 0 ? best - 2 * log(sum * before) : INFINITY;
    free(list);
}
