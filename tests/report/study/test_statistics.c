// SPDX-License-Identifier: MIT
// Means and intervals against values by hand, by enumeration and by SciPy 1.10.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "report/comparison/statistics.h"

static void assert_near(double found, double wanted, double tolerance)
{
    if (!(fabs(found - wanted) <= tolerance))
        fail_msg("%.9g is not %.9g", found, wanted);
}

static void test_mean_and_median(void **state)
{
    (void)state;
    static const double x[] = {4, 1, 10, 3};
    assert_near(mean_of(x, 4), 4.5, 0);
    assert_near(median_of(x, 4), 3.5, 0);
    assert_near(median_of(x, 3), 4, 0);
    assert_near(median_of(x, 1), 4, 0);
    assert_true(isnan(mean_of(x, 0)) && isnan(median_of(x, 0)));
    assert_near(x[0], 4, 0); // the median does not sort its argument
}

// scipy.stats: norm.cdf(-sqrt(n / (n - 1)) * t.ppf(0.975, n - 1))
static void test_tails(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        double tail;
    } rows[] = {{5, 0.00095410055},
                {6, 0.0024318032},
                {8, 0.0057375205},
                {20, 0.0158808299},
                {100, 0.0230643872}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_near(expanded_tail(rows[i].n), rows[i].tail, 4e-3 * rows[i].tail);
}

// All 3125 resamples of five values, sorted: the third smallest mean is 1.2, the third largest 8.8,
// and so are their neighbours.
static void test_five_values(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4, 10}, same[] = {7, 7, 7, 7, 7};
    struct resamples r = resamples_new(5);
    struct interval interval = interval_of_center(CENTER_MEAN, &r, x);
    assert_near(interval.low, 1.2, 1e-12);
    assert_near(interval.high, 8.8, 1e-12);
    interval = interval_of_center(CENTER_MEAN, &r, same);
    assert_near(interval.low, 7, 0);
    assert_near(interval.high, 7, 0);
    resamples_free(&r);
}

// scipy.stats.bootstrap(..., method='percentile', paired=True, confidence_level=1 - 2 * tail) with
// a million resamples
static void test_eight_pairs(void **state)
{
    (void)state;
    static const double x[] = {12, 15, 11, 19, 14, 13, 17, 16},
                        base[] = {10, 12, 11, 14, 12, 11, 13, 13};
    double twice[8];
    struct resamples r = resamples_new(8);
    struct interval mean = interval_of_center(CENTER_MEAN, &r, x),
                    ratio = interval_of_ratio(CENTER_MEAN, &r, x, base);
    assert_near(mean.low, 12.5, 0.126);
    assert_near(mean.high, 16.875, 0.126);
    assert_near(ratio.low, 1.1195652, 0.005);
    assert_near(ratio.high, 1.2980769, 0.005);
    for (size_t i = 0; i < 8; i++)
        twice[i] = 2 * base[i];
    ratio = interval_of_ratio(CENTER_MEAN, &r, twice, base);
    assert_near(ratio.low, 2, 0);
    assert_near(ratio.high, 2, 0);
    resamples_free(&r);
}

static void test_few_values_have_no_interval(void **state)
{
    (void)state;
    static const double x[] = {1, 2, 3, 4};
    struct resamples r = resamples_new(4);
    assert_true(isnan(interval_of_center(CENTER_MEAN, &r, x).low) &&
                isnan(interval_of_ratio(CENTER_MEAN, &r, x, x).high));
    resamples_free(&r);
}

// Of 1000 intervals of means of six uniform values about 950 hold the true mean.
static void test_coverage(void **state)
{
    (void)state;
    enum { N = 6, TRIALS = 1000 };
    struct rng rng = rng_init(3, RNG_WORKLOAD, 0);
    struct resamples r = resamples_new(N);
    int held = 0;
    for (int t = 0; t < TRIALS; t++) {
        double x[N];
        for (int i = 0; i < N; i++)
            x[i] = rng_unit(&rng);
        struct interval interval = interval_of_center(CENTER_MEAN, &r, x);
        held += interval.low <= 0.5 && 0.5 <= interval.high;
    }
    assert_in_range(held, 925, 970);
    resamples_free(&r);
}

// Seven samples in one mode and two in another: the median is of the first, and so is its interval.
static void test_median_of_two_modes(void **state)
{
    (void)state;
    double x[9] = {10, 11, 12, 13, 14, 15, 16, 1000, 1001}, twice[9];
    for (size_t i = 0; i < 9; i++)
        twice[i] = 2 * x[i];
    struct resamples r = resamples_new(9);
    assert_near(center_of(CENTER_MEDIAN, x, 9), 14, 0);
    struct interval median = interval_of_center(CENTER_MEDIAN, &r, x),
                    mean = interval_of_center(CENTER_MEAN, &r, x),
                    ratio = interval_of_ratio(CENTER_MEDIAN, &r, twice, x);
    assert_true(median.low >= 10 && median.low < 14 && median.high > 14 && median.low < mean.high);
    assert_true(mean.high > 300);
    assert_near(ratio.low, 2, 1e-12);
    assert_near(ratio.high, 2, 1e-12);
    resamples_free(&r);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median_of_two_modes),
        cmocka_unit_test(test_mean_and_median),
        cmocka_unit_test(test_tails),
        cmocka_unit_test(test_five_values),
        cmocka_unit_test(test_eight_pairs),
        cmocka_unit_test(test_few_values_have_no_interval),
        cmocka_unit_test(test_coverage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
