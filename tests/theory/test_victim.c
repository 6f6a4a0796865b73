// SPDX-License-Identifier: MIT
// Effects of PFC alone on other flows, and how a policy reduces them (Zhu et al., SIGCOMM 2015,
// section 2.2).
//
// Parking lot: three senders share a trunk and a fourth one is attached to the receiver's switch.
// PFC treats ingress ports equally, not flows, so the port of the fourth sender gets as much as the
// trunk: 1/2 against 1/6 for each of the others, where 1/4 would be fair.
// Victim: three flows of leaf0 and two of leaf1 go to one rank of leaf2; a fourth flow of leaf0
// goes elsewhere and shares only leaf0's trunk. The trunks' ports at the spine each get half of the
// receiver's link, and a FIFO gives the victim as much as each other flow of its trunk: 1/6, where
// max-min fairness gives 2/5 (and 1/5 to each of the others).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define FROM_MS 40.0 // the initial burst of all flows at line rate is left out
#define TO_MS 100.0

typedef void fabric(struct fixture *f);

// Add what each flow delivers until `ms`, times `sign`, to `bytes`.
static void run(fabric *build, const char *policy, const uint32_t (*pairs)[2], unsigned n,
                double ms, double sign, double *bytes, uint64_t *pauses)
{
    struct fixture f;
    build(&f);
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    dim->transport.start_jitter_ps = PS_PER_US;
    dim->sw.buffer_bytes = 4000000;
    fixture_cc(&f, policy, NULL, NULL);
    for (unsigned i = 0; i < n; i++)
        fixture_flow(&f, pairs[i][0], pairs[i][1], UINT64_C(1000000000000), 0);
    f.spec.duration_ps = (ps_t)(ms * (double)PS_PER_MS);
    fixture_run(&f);
    assert_int_equal(f.result->dropped_packets, 0);
    *pauses = f.result->pause_frames;
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < n; k++)
            if (f.result->flows[k].src == pairs[i][0]) // ids depend on the jitter of the starts
                bytes[i] += sign * (double)f.result->flows[k].delivered_bytes *
                            f.sim->fabric.hosts.dims[0].full.wire / 1000;
    fixture_free(&f);
}

// Shares of the line rate that the flows got, including headers.
static void shares(fabric *build, const char *policy, const uint32_t (*pairs)[2], unsigned n,
                   double *share)
{
    uint64_t before, pauses;
    for (unsigned i = 0; i < n; i++)
        share[i] = 0;
    run(build, policy, pairs, n, FROM_MS, -1, share, &before);
    run(build, policy, pairs, n, TO_MS, 1, share, &pauses);
    print_message("%-7s", policy);
    for (unsigned i = 0; i < n; i++) {
        share[i] *= 8 / ((TO_MS - FROM_MS) * 1e-3) / (double)LINE;
        print_message(" %u->%u %.3f", pairs[i][0], pairs[i][1], share[i]);
    }
    print_message("; %llu pauses\n", (unsigned long long)(pauses - before));
}

static void two_leaves(struct fixture *f)
{
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(f, 8, 4, 1, link, link);
}

static void three_leaves(struct fixture *f)
{
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(f, 12, 4, 1, link, link);
}

static const uint32_t lot[4][2] = {{0, 4}, {1, 4}, {2, 4}, {5, 4}};

static void test_parking_lot_is_unfair(void **state)
{
    (void)state;
    double share[4];
    shares(two_leaves, "none", lot, 4, share);
    assert_true(fabs(share[3] / 0.5 - 1) < 0.05);
    for (unsigned i = 0; i < 3; i++)
        assert_true(fabs(share[i] * 6 - 1) < 0.05);
}

static void test_policies_mend_the_parking_lot(void **state)
{
    (void)state;
    static const char *const policies[] = {"dcqcn", "hpcc"};
    for (unsigned p = 0; p < 2; p++) {
        double share[4], sum = 0, squares = 0;
        shares(two_leaves, policies[p], lot, 4, share);
        for (unsigned i = 0; i < 4; i++) {
            sum += share[i];
            squares += share[i] * share[i];
        }
        assert_true(sum > 0.9);
        assert_true(sum * sum / (4 * squares) > 0.95);
        assert_true(share[3] < 0.33); // the fourth sender no longer gets more
    }
}

static double victim(const char *policy)
{
    static const uint32_t pairs[6][2] = {{0, 8}, {1, 8}, {2, 8}, {4, 8}, {5, 8}, {3, 6}};
    double share[6], incast = 0;
    shares(three_leaves, policy, pairs, 6, share);
    for (unsigned i = 0; i < 5; i++)
        incast += share[i];
    assert_true(incast > 0.88);
    return share[5];
}

static void test_victim(void **state)
{
    (void)state;
    assert_true(fabs(victim("none") * 6 - 1) < 0.05);
    assert_true(victim("dcqcn") > 0.9 * 0.4);
    assert_true(victim("hpcc") > 0.9 * 0.95 * 0.4); // relative to eta
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parking_lot_is_unfair),
        cmocka_unit_test(test_policies_mend_the_parking_lot),
        cmocka_unit_test(test_victim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
