// SPDX-License-Identifier: MIT
// Messages between ranks that differ in several dimensions: relayed one dimension at a time, every
// byte delivered once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

static struct fixture f;

// 3 x 4 ranks on switches in both dimensions.
static void grid(void)
{
    fixture_switch(&f, 3, UINT64_C(100000000000), PS_PER_US);
    f.spec.dims[0].sw.routing.relay = true;
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 1000;
    f.spec.dims[1] = f.spec.dims[0];
    f.spec.dims[1].size = 4;
    f.spec.n_dims = 2;
}

static void test_two_legs(void **state)
{
    (void)state;
    grid();
    fixture_flow(&f, 1, 11, 500000, 0); // (1,0) -> (2,3): by (2,0), rank 2
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->n_flows, 2);
    assert_int_equal(f.result->flows[0].src, 1);
    assert_int_equal(f.result->flows[0].dst, 2);
    assert_int_equal(f.result->flows[1].src, 2);
    assert_int_equal(f.result->flows[1].dst, 11);
    // The second leg begins when the first has been received completely.
    assert_true(f.result->flows[1].start_ps ==
                f.result->flows[0].start_ps + f.result->flows[0].delivered_ps);
    fixture_free(&f);
}

static void test_neighbours_need_none(void **state)
{
    (void)state;
    grid();
    fixture_flow(&f, 1, 10, 500000, 0); // (1,0) -> (1,3)
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->n_flows, 1);
    fixture_free(&f);
}

static void test_all_to_all(void **state)
{
    (void)state;
    grid();
    fixture_collective(&f, COLL_ALL_TO_ALL, "direct", 120000, 1);
    f.collectives[0].params.repeat = 3;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    // 12 ranks to 11 others, 10,000 B each; 6 of them two legs away.
    assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes,
                     UINT64_C(3) * 12 * (11 + 6) * 10000);
    assert_true(f.result->collectives[0].efficiency > 0 &&
                f.result->collectives[0].efficiency <= 1);
    fixture_free(&f);
}

static void test_a_leg_that_fails(void **state)
{
    (void)state;
    struct fault_spec fault = fixture_fault("rank11");
    fault.down_ps = 10 * PS_PER_US;
    grid();
    f.spec.faults = &fault;
    f.spec.n_faults = 1;
    for (int d = 0; d < 2; d++)
        roce_spec_of(&f.spec.dims[d].transport)->rto_ps = 200 * PS_PER_US;
    fixture_flow(&f, 1, 11, 500000, 0);
    fixture_flow(&f, 1, 10, 500000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_int_equal(f.result->summary.failed, 1);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_legs),
        cmocka_unit_test(test_neighbours_need_none),
        cmocka_unit_test(test_all_to_all),
        cmocka_unit_test(test_a_leg_that_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
