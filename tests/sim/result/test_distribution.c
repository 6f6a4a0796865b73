// SPDX-License-Identifier: MIT
// Percentiles in bounded memory: exact below the limit, within 0.1 % above it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "sim/result/result_distribution.h"

static void test_exact(void **state)
{
    (void)state;
    struct distribution d = {.limit = 200};
    for (int i = 200; i > 0; i--)
        distribution_add(&d, i);
    struct stats s = distribution_stats(&d);
    assert_true(s.min == 1 && s.max == 200 && s.mean == 100.5);
    assert_true(s.p50 == 100 && s.p95 == 190 && s.p99 == 198);
    assert_null(d.bins);
    distribution_free(&d);
}

static void test_binned(void **state)
{
    (void)state;
    struct distribution exact = {.limit = SIZE_MAX}, binned = {.limit = 100};
    struct rng rng = rng_init(1, RNG_WORKLOAD, 1);
    for (int i = 0; i < 300000; i++) {
        double value = 1e-3 / (rng_unit(&rng) + 1e-9); // a heavy tail over nine decades
        distribution_add(&exact, value);
        distribution_add(&binned, value);
    }
    struct stats a = distribution_stats(&exact), b = distribution_stats(&binned);
    assert_null(binned.samples); // no memory per sample
    assert_true(a.min == b.min && a.max == b.max && a.mean == b.mean);
    assert_true(fabs(b.p50 / a.p50 - 1) < 1e-3 && fabs(b.p95 / a.p95 - 1) < 1e-3);
    assert_true(fabs(b.p99 / a.p99 - 1) < 1e-3);
    distribution_free(&exact);
    distribution_free(&binned);
}

// The bins of a histogram have fixed edges; every sample counts in the bin that contains it.
static void test_histogram(void **state)
{
    (void)state;
    struct distribution d = {.limit = 3};
    const double values[] = {1.0, 1.03124, 1.03125, 1000, 1023.9, 1024};
    distribution_add(&d, values[0]);
    assert_true(distribution_histogram(&d).n == 0); // exact
    for (size_t i = 1; i < sizeof values / sizeof *values; i++)
        distribution_add(&d, values[i]);
    struct histogram h = distribution_histogram(&d);
    const struct histogram_bin expected[] = {
        {1.03125, 2}, {1.0625, 1}, {1008, 1}, {1024, 1}, {1056, 1}};
    assert_int_equal(h.n, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < h.n; i++) {
        assert_true(h.bins[i].below == expected[i].below);
        assert_int_equal(h.bins[i].count, expected[i].count);
    }
    free(h.bins);
    distribution_free(&d);
}

static void test_none_and_extremes(void **state)
{
    (void)state;
    struct distribution d = {.limit = 0};
    assert_true(distribution_stats(&d).max == 0);
    distribution_add(&d, 1e-300);
    distribution_add(&d, 1e300);
    struct stats s = distribution_stats(&d);
    assert_true(s.min == 1e-300 && s.max == 1e300 && s.p50 >= s.min && s.p99 <= s.max);
    distribution_free(&d);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_binned),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_none_and_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
