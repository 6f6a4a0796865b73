// SPDX-License-Identifier: MIT
// The stationary bootstrap: statistics of drawn lists, against the known ones of the process that
// made the given list.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "cli/synth/synth_traffic.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"

#define FLOWS 20000

// Exponential gaps of mean 1 us, pairs of 8 ranks at random, sizes from 1 to 1000 bytes.
static struct raw_flow *poisson(uint64_t seed)
{
    struct raw_flow *flows = memory_zeroed(FLOWS, sizeof *flows);
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 0);
    double now = 0;
    for (size_t i = 0; i < FLOWS; i++) {
        now += -1e6 * log(1 - rng_unit(&rng));
        uint32_t src = (uint32_t)rng_below(&rng, 8);
        flows[i] = (struct raw_flow){.src = src,
                                     .dst = (src + 1 + (uint32_t)rng_below(&rng, 7)) % 8,
                                     .bytes = 1 + rng_below(&rng, 1000),
                                     .start_ps = (ps_t)now};
    }
    return flows;
}

// Pairs of flows 1 us apart, then 99 us without one: the gaps' deviation over mean is 0.98.
static struct raw_flow *pairs(void)
{
    struct raw_flow *flows = memory_zeroed(FLOWS, sizeof *flows);
    for (size_t i = 0; i < FLOWS; i++)
        flows[i] = (struct raw_flow){
            .src = 0, .dst = 1, .bytes = 100, .start_ps = (ps_t)(i / 2 * 100 + i % 2) * 1000000};
    return flows;
}

static void test_poisson(void **state)
{
    (void)state;
    struct raw_flow *from = poisson(1), *to = memory_zeroed(FLOWS, sizeof *to);
    traffic_draw(from, FLOWS, to, FLOWS, 1, 0);
    struct traffic_statistics s = traffic_measure(to, FLOWS);
    assert_true(fabs(s.flows_per_s / 1e6 - 1) < 0.05);
    assert_true(fabs(s.gap_spread - 1) < 0.05);  // of an exponential distribution
    assert_true(s.burst > 0.6 && s.burst < 1.6); // 1 in theory; 200 windows, deviation 10 %
    assert_true(fabs(s.size_mean / 500.5 - 1) < 0.05);
    assert_true(fabs(s.size_90 / 900 - 1) < 0.05);
    assert_true(s.top_source < 0.15); // 1/8 each
    for (size_t i = 1; i < FLOWS; i++)
        assert_true(to[i].start_ps >= to[i - 1].start_ps);
    free(from);
    free(to);
}

// Flows that come together stay together: a shuffled list would have gaps of 1 and 99 us at random,
// and runs of three within 2 us.
static void test_pairs_stay(void **state)
{
    (void)state;
    struct raw_flow *from = pairs(), *to = memory_zeroed(FLOWS, sizeof *to);
    traffic_draw(from, FLOWS, to, FLOWS, 7, 0);
    size_t triples = 0;
    for (size_t i = 2; i < FLOWS; i++)
        triples += to[i].start_ps - to[i - 2].start_ps < 3000000;
    // only where a block ends behind a pair's first or begins with a second: 2 n^(1/3) = 54 flows
    assert_true(triples < FLOWS / 54);
    assert_true(fabs(traffic_measure(to, FLOWS).gap_spread - 0.98) < 0.02);
    free(from);
    free(to);
}

static void test_seeds(void **state)
{
    (void)state;
    struct raw_flow *from = poisson(1), *a = memory_zeroed(100, sizeof *a),
                    *b = memory_zeroed(100, sizeof *b);
    traffic_draw(from, FLOWS, a, 100, 1, 0);
    traffic_draw(from, FLOWS, b, 100, 1, 0);
    assert_memory_equal(a, b, 100 * sizeof *a);
    traffic_draw(from, FLOWS, b, 100, 1, 1);
    assert_memory_not_equal(a, b, 100 * sizeof *a);
    traffic_draw(from, 1, b, 100, 1, 1); // one flow alone: it comes again without a gap
    assert_true(b[99].start_ps == 0);
    free(from);
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_poisson),
        cmocka_unit_test(test_pairs_stay),
        cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
