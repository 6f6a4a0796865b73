// SPDX-License-Identifier: MIT
// Order statistics and halves of draws. Logarithms make a ratio and its inverse equally far from 1.
#include "report/comparison/draws.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "report/comparison/statistics.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Linear between order statistics, as numpy.percentile does; n > 0.
static double quantile_of(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1);
    size_t i = (size_t)at;
    return i + 1 < n ? sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

// 1 = slower, -1 = faster, 0 = equal.
static int side_of(double ratio) { return fabs(ratio - 1) <= DRAWS_TIE ? 0 : ratio > 1 ? 1 : -1; }

struct draw_summary draw_summary_of(const double *ratio, size_t n, double stated)
{
    struct draw_summary s = {.median = (double)NAN, .p10 = (double)NAN, .p90 = (double)NAN};
    double *sorted = memory_zeroed(n + 1, sizeof *sorted);
    for (size_t k = 0; k < n; k++) {
        if (isnan(ratio[k]))
            continue;
        int side = side_of(ratio[k]);
        sorted[s.n++] = ratio[k];
        s.slower += side > 0;
        s.same += side == 0;
        s.faster += side < 0;
        s.order_holds += !isnan(stated) && side == side_of(stated);
    }
    if (s.n > 0) {
        qsort(sorted, s.n, sizeof *sorted, by_value);
        s.median = quantile_of(sorted, s.n, 0.5);
        s.p10 = quantile_of(sorted, s.n, 0.1);
        s.p90 = quantile_of(sorted, s.n, 0.9);
    }
    free(sorted);
    return s;
}

// The variance of the mean of `n` > 1 values.
static double variance_of_mean(const double *x, size_t n)
{
    double mean = mean_of(x, n), sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (x[i] - mean) * (x[i] - mean);
    return sum / (double)(n - 1) / (double)n;
}

struct draw_move draw_move_of(const double *ratio, const double *place, size_t n)
{
    struct draw_move move = {.low = (double)NAN, .high = (double)NAN, .moves = (double)NAN};
    double *low = memory_zeroed(n + 1, sizeof *low), *high = memory_zeroed(n + 1, sizeof *high);
    size_t n_low = 0, n_high = 0;
    for (size_t k = 0; k < n; k++) {
        if (isnan(ratio[k]) || !(ratio[k] > 0))
            continue;
        if (place[k] < 0.5)
            low[n_low++] = log(ratio[k]);
        else if (place[k] > 0.5)
            high[n_high++] = log(ratio[k]);
    }
    if (n_low > 0 && n_high > 0) {
        double of_low = mean_of(low, n_low), of_high = mean_of(high, n_high);
        double apart = fabs(of_high - of_low);
        move.low = exp(of_low);
        move.high = exp(of_high);
        move.moves = expm1(apart);
        if (n_low > 1 && n_high > 1)
            move.clear = move.moves > DRAWS_TIE &&
                         apart > DRAWS_CLEAR * sqrt(variance_of_mean(low, n_low) +
                                                    variance_of_mean(high, n_high));
    }
    free(low);
    free(high);
    return move;
}

static json_t *number(double value) { return isnan(value) ? json_null() : json_real(value); }

static json_t *count(size_t n) { return json_integer((json_int_t)n); }

json_t *draw_summary_json(const struct draw_summary *s)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "median", number(s->median), "p10",
                     number(s->p10), "p90", number(s->p90), "order_holds", count(s->order_holds),
                     "n", count(s->n), "slower", count(s->slower), "same", count(s->same), "faster",
                     count(s->faster));
}
