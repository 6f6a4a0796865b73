// SPDX-License-Identifier: MIT
// The bootstrap and Student's t.
#include "report/comparison/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double mean_of(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i];
    return n > 0 ? sum / (double)n : (double)NAN;
}

double median_of(const double *x, size_t n)
{
    if (n == 0)
        return (double)NAN;
    double *sorted = memory_zeroed(n, sizeof *sorted);
    memcpy(sorted, x, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_value);
    double median = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
    return median;
}

/* ---- the tails ---- */

// The quantile 0.975 of Student's t with `nu` >= 4 degrees of freedom: the expansion of Cornish and
// Fisher, Abramowitz and Stegun 26.7.5; within 0.04 % at 4, closer above.
static double student_t(double nu)
{
    const double z = 1.959963984540054; // quantile 0.975 of the normal distribution
    double z2 = z * z, z3 = z * z2, z5 = z3 * z2, z7 = z5 * z2, z9 = z7 * z2;
    double g1 = (z3 + z) / 4, g2 = (5 * z5 + 16 * z3 + 3 * z) / 96,
           g3 = (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384,
           g4 = (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / 92160;
    return z + g1 / nu + g2 / (nu * nu) + g3 / (nu * nu * nu) + g4 / (nu * nu * nu * nu);
}

double expanded_tail(size_t n)
{
    double d = (double)n, wide = sqrt(d / (d - 1)) * student_t(d - 1);
    return erfc(wide / sqrt(2)) / 2;
}

static struct interval interval_of(double *values, size_t n)
{
    double tail = expanded_tail(n) * (double)RESAMPLES;
    size_t low = (size_t)tail;
    if (low > 0)
        low--;
    qsort(values, RESAMPLES, sizeof *values, by_value);
    return (struct interval){values[low], values[RESAMPLES - 1 - low]};
}

/* ---- the bootstrap ---- */

struct resamples resamples_new(size_t n)
{
    struct resamples r = {.n = n, .picks = memory_zeroed(n * RESAMPLES, sizeof *r.picks)};
    // The draws have a seed of their own, so that intervals do not change from call to call.
    struct rng rng = rng_init(1, RNG_BOOTSTRAP, (uint32_t)n);
    for (size_t i = 0; i < n * RESAMPLES; i++)
        r.picks[i] = (uint32_t)rng_below(&rng, n);
    return r;
}

void resamples_free(struct resamples *r)
{
    free(r->picks);
    *r = (struct resamples){0};
}

double center_of(enum center center, const double *x, size_t n)
{
    return center == CENTER_MEAN ? mean_of(x, n) : median_of(x, n);
}

// The center of the samples in resample `at`; `picked` has room for them.
static double center_at(enum center center, const struct resamples *r, size_t at, const double *x,
                        double *picked)
{
    const uint32_t *picks = r->picks + at * r->n;
    for (size_t i = 0; i < r->n; i++)
        picked[i] = x[picks[i]];
    return center_of(center, picked, r->n);
}

// `base` NULL = no ratio.
static struct interval interval_by(enum center center, const struct resamples *r, const double *x,
                                   const double *base)
{
    if (r->n < INTERVAL_LEAST)
        return (struct interval){(double)NAN, (double)NAN};
    double *values = memory_zeroed(RESAMPLES + r->n, sizeof *values), *picked = values + RESAMPLES;
    for (size_t i = 0; i < RESAMPLES; i++) {
        values[i] = center_at(center, r, i, x, picked);
        // Both centres come from the same picks, since a pair of runs has one seed.
        if (base)
            values[i] /= center_at(center, r, i, base, picked);
    }
    struct interval interval = interval_of(values, r->n);
    free(values);
    return interval;
}

struct interval interval_of_center(enum center center, const struct resamples *r, const double *x)
{
    return interval_by(center, r, x, NULL);
}

struct interval interval_of_ratio(enum center center, const struct resamples *r, const double *x,
                                  const double *base)
{
    return interval_by(center, r, x, base);
}
