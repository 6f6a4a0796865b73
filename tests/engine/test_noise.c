// SPDX-License-Identifier: MIT
// Tests of the random delays of hosts: means, quantiles, and independence of what else is drawn.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "engine/noise.h"

#define DRAWS 200000
#define MEAN_PS PS_PER_US

static int compare(const void *a, const void *b)
{
    ps_t x = *(const ps_t *)a, y = *(const ps_t *)b;
    return (x > y) - (x < y);
}

// Sorted draws, to be freed, and their mean.
static ps_t *draws(int shape, double *mean)
{
    struct noise_delay delay = {MEAN_PS, shape};
    ps_t *all = calloc(DRAWS, sizeof *all);
    assert_non_null(all);
    double sum = 0;
    for (size_t i = 0; i < DRAWS; i++) {
        all[i] = noise_draw_ps(&delay, 7, (uint32_t)(i % 512), i / 512);
        sum += (double)all[i];
    }
    qsort(all, DRAWS, sizeof *all, compare);
    *mean = sum / DRAWS;
    return all;
}

// The quantiles of the distributions with mean 1: constant, 2p, -ln(1 - p), exp(z - 1/2) at z = -1,
// 0, 1.
static void test_distributions(void **state)
{
    (void)state;
    static const double normal[] = {0.158655, 0.5, 0.841345};
    for (int shape = NOISE_CONSTANT; shape <= NOISE_LOG_NORMAL; shape++) {
        double mean;
        ps_t *all = draws(shape, &mean);
        // the standard error of the mean is at most 1.3 / sqrt(DRAWS) = 0.3 %
        assert_true(fabs(mean / (double)MEAN_PS - 1) < 0.012);
        for (size_t i = 0; i < 3; i++) {
            double p = normal[i];
            double wanted = shape == NOISE_CONSTANT      ? 1
                            : shape == NOISE_UNIFORM     ? 2 * p
                            : shape == NOISE_EXPONENTIAL ? -log(1 - p)
                                                         : exp((double)i - 1.5);
            double got = (double)all[(size_t)(p * DRAWS)] / (double)MEAN_PS;
            assert_true(fabs(got / wanted - 1) < 0.03);
        }
        assert_true(all[0] >= 0 && all[DRAWS - 1] <= 16 * MEAN_PS);
        free(all);
    }
}

static void test_same_for_the_same_key(void **state)
{
    (void)state;
    struct noise_delay delay = {MEAN_PS, NOISE_EXPONENTIAL};
    ps_t first = noise_draw_ps(&delay, 1, 2, 3);
    for (uint64_t key = 100; key < 200; key++)
        noise_draw_ps(&delay, 1, 2, key);
    assert_int_equal(noise_draw_ps(&delay, 1, 2, 3), first);
    assert_int_not_equal(noise_draw_ps(&delay, 2, 2, 3), first);
    assert_int_not_equal(noise_draw_ps(&delay, 1, 3, 3), first);
    assert_int_not_equal(noise_draw_ps(&delay, 1, 2, 4), first);
    assert_int_equal(noise_draw_ps(&(struct noise_delay){0, NOISE_EXPONENTIAL}, 1, 2, 3), 0);
}

static void test_longest_mean_does_not_overflow(void **state)
{
    (void)state;
    struct noise_delay delay = {PS_PER_S, NOISE_LOG_NORMAL};
    for (uint64_t key = 0; key < 10000; key++) {
        ps_t drawn = noise_draw_ps(&delay, 1, 0, key);
        assert_true(drawn >= 0 && drawn <= 16 * PS_PER_S);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distributions),
        cmocka_unit_test(test_same_for_the_same_key),
        cmocka_unit_test(test_longest_mean_does_not_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
