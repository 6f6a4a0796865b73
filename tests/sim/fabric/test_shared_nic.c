// SPDX-License-Identifier: MIT
// Ranks that share a NIC port: they share its link, exchange through its switch, and send ACKs on
// it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define BYTES 4000000

static struct fixture f;

static void eight_ranks(uint32_t share)
{
    fixture_switch(&f, 8, LINE, PS_PER_US);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 1000;
    f.spec.dims[0].ranks_per_port = share;
}

static double line_us(double packets) { return packets * 1082 * 8 / (double)LINE * 1e6; }

static void test_two_senders_share_a_line(void **state)
{
    (void)state;
    double ns[2];
    for (uint32_t share = 1; share <= 2; share++) {
        eight_ranks(share);
        fixture_flow(&f, 0, 4, BYTES, 0);
        fixture_flow(&f, 1, 6, BYTES, 0);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_int_equal(f.sim->fabric.graph.n_ports, 2 * 8 / share);
        ns[share - 1] = f.result->summary.fct_ns.max;
        fixture_free(&f);
    }
    assert_true(fabs((ns[0] / 1e3 - 4.3) / line_us(4000) - 1) < 0.01);
    assert_true(fabs((ns[1] / 1e3 - 4.3) / line_us(8000) - 1) < 0.01);
}

// A message between two ranks of one NIC goes to the switch and back; alone it takes the ideal
// time.
static void test_neighbours_meet_at_the_switch(void **state)
{
    (void)state;
    eight_ranks(2);
    fixture_flow(&f, 2, 3, BYTES, 0);
    fixture_run(&f);
    const struct flow_record *flow = &f.result->flows[0];
    assert_int_equal(flow->delivered_bytes, BYTES);
    assert_int_equal(flow->src, 2);
    assert_int_equal(flow->dst, 3);
    // Its ACKs leave on the same port as its data, so a message alone takes that much longer.
    double slow = (double)flow->fct_ps / (double)flow->ideal_ps;
    assert_true(slow >= 1 && slow < 1 + 90.0 / 1082 + 0.01);
    fixture_free(&f);
}

// All-reduce over 8 ranks on 4 NICs: every NIC carries the data of two ranks.
static void test_all_reduce_on_half_the_nics(void **state)
{
    (void)state;
    double busbw[2];
    for (uint32_t share = 1; share <= 2; share++) {
        eight_ranks(share);
        fixture_collective(&f, COLL_ALL_REDUCE, "ring", BYTES, 1);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        busbw[share - 1] = f.result->collectives[0].busbw_bps;
        fixture_free(&f);
    }
    assert_true(fabs(busbw[1] / busbw[0] - 0.5) < 0.03);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_senders_share_a_line),
        cmocka_unit_test(test_neighbours_meet_at_the_switch),
        cmocka_unit_test(test_all_reduce_on_half_the_nics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
