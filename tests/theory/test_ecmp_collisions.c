// SPDX-License-Identifier: MIT
// A permutation under ECMP is as slow as its fullest path. Each of L leaves hashes the m flows of
// its ranks over s spines, and the flows go on together to one other leaf: L independent tables of
// m balls in s bins. The fullest bin of one table has at most k balls with probability
//
//     P(k) = m! / s^m * [x^m] (sum over i <= k of x^i / i!)^s
//
// and the fullest of all tables is E = sum over k >= 0 of (1 - P(k)^L) in the mean. The permutation
// takes E times the time of one message; m / s times if it is spread evenly.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
#define BALLS_MAX 64

// P(k): the coefficients of the power are built up bin by bin, scaled by balls! / bins^balls.
static double at_most(unsigned balls, unsigned bins, unsigned k)
{
    double ways[BALLS_MAX + 1] = {1}, next[BALLS_MAX + 1];
    for (unsigned bin = 0; bin < bins; bin++) {
        for (unsigned n = 0; n <= balls; n++) {
            double choose = 1; // ways to choose which i of n balls are in this bin
            next[n] = 0;
            for (unsigned i = 0; i <= k && i <= n; i++) {
                next[n] += ways[n - i] * choose / pow(bins, i);
                choose *= (double)(n - i) / (i + 1);
            }
        }
        for (unsigned n = 0; n <= balls; n++)
            ways[n] = next[n];
    }
    return ways[balls];
}

static double fullest(unsigned tables, unsigned balls, unsigned bins)
{
    double mean = 0;
    for (unsigned k = 0; k < balls; k++)
        mean += 1 - pow(at_most(balls, bins, k), tables);
    return mean;
}

// The time of the permutation, in times of one message on a link.
static double permutation(uint32_t leaves, uint32_t per_leaf, uint32_t spines, uint64_t seed,
                          int kind)
{
    static struct fixture f;
    struct link_spec link = {.rate_bps = RATE, .delay_ps = 100 * PS_PER_NS};
    const uint64_t packets = 250;
    uint32_t ranks = leaves * per_leaf;
    fixture_leaf_spine(&f, ranks, per_leaf, spines, link, link);
    f.spec.seed = seed;
    f.spec.dims[0].sw.buffer_bytes = UINT64_C(4000000000); // nothing is paused
    f.spec.dims[0].sw.routing.kind = kind;
    struct roce_spec *roce = roce_spec_of(&f.spec.dims[0].transport);
    roce->recovery = RECOVERY_SELECTIVE_REPEAT;
    roce->reorder_packets = 100000;
    roce->bdp_cap = false;
    roce->rto_low_ps = roce->rto_high_ps = 10 * PS_PER_MS;
    roce->ack_interval = 1000;
    for (uint32_t r = 0; r < ranks; r++)
        fixture_flow(&f, r, (r + per_leaf) % ranks, packets * 4096, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->pause_frames, 0);
    double times =
        (double)f.result->sim_time_ps / 1e12 * (double)RATE / 8 / ((double)packets * 4178);
    fixture_free(&f);
    return times;
}

static void test_formula(void **state)
{
    (void)state;
    // 2 balls in 2 bins: together with probability 1/2
    assert_true(fabs(fullest(1, 2, 2) - 1.5) < 1e-12);
    assert_true(fabs(fullest(2, 2, 2) - 1.75) < 1e-12);
    assert_true(fabs(at_most(3, 3, 1) - 6. / 27) < 1e-12);
}

static void test_permutation(void **state)
{
    (void)state;
    double sum = 0;
    const unsigned seeds = 24;
    for (unsigned seed = 1; seed <= seeds; seed++)
        sum += permutation(16, 8, 4, seed, ROUTING_ECMP);
    double expected = fullest(16, 8, 4); // 5.1; an even spread has 2
    if (fabs(sum / seeds / expected - 1) > 0.05)
        fail_msg("%g times a message, expected %g", sum / seeds, expected);
    double even = permutation(16, 8, 4, 1, ROUTING_SPRAY);
    if (even < 2 || even > 2.05)
        fail_msg("sprayed: %g times a message, expected 2", even);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formula),
        cmocka_unit_test(test_permutation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
