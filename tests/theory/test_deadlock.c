// SPDX-License-Identifier: MIT
// PFC deadlock (docs/models.md: three switches in a ring). With routes around the ring, every
// switch's output waits for the next switch's buffer; once all buffers are full no packet moves,
// and the run ends and reports the cycle. With shortest routes the same traffic causes congestion
// but completes. A watchdog breaks the cycle at the price of loss. A NIC that pauses permanently
// blocks its switch port, but not the fabric, once the watchdog has detected it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define PER_SWITCH 4

// Three switches in a ring, PER_SWITCH ranks on each.
static void ring_build(struct graph *g, uint32_t dim, const void *params,
                       const struct link_spec *links)
{
    (void)params;
    uint32_t first = g->n_nodes;
    for (uint32_t s = 0; s < 3; s++)
        graph_add_switch(g, NODE_LEAF, dim, s, 0);
    for (uint32_t r = 0; r < g->n_ranks; r++)
        graph_add_link(g, r, first + r / PER_SWITCH, dim, &links[0]);
    for (uint32_t s = 0; s < 3; s++)
        graph_add_link(g, first + s, first + (s + 1) % 3, dim, &links[0]);
}

static const struct topology_kind ring3 = {
    .name = "ring3", .doc = "for this test", .source = "", .fabric = true, .build = ring_build};

// Routes the long way: at each switch, packets for ranks of the previous switch leave by the next
// switch.
static const struct route_spec round_and_round[] = {
    {"leaf0", "rank8", "leaf1"},
    {"leaf1", "rank0", "leaf2"},
    {"leaf2", "rank4", "leaf0"},
};

static struct fixture f;

// Every rank sends to the same rank of the previous switch: two trunks on the long way.
static void begin(bool cyclic)
{
    fixture_switch(&f, 3 * PER_SWITCH, LINE, PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->kind = &ring3;
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    dim->sw.buffer_bytes = 1000000;
    if (cyclic) {
        f.spec.routes = (struct route_spec *)(uintptr_t)round_and_round;
        f.spec.n_routes = 3;
    }
    for (unsigned r = 0; r < 3 * PER_SWITCH; r++)
        fixture_flow(&f, r, (r + 2 * PER_SWITCH) % (3 * PER_SWITCH), 4000000, 0);
}

static bool explained(const char *words)
{
    for (size_t i = 0; i < f.result->n_explain; i++)
        if (strstr(f.result->explain[i], words))
            return true;
    return false;
}

static void test_cyclic_routes_deadlock(void **state)
{
    (void)state;
    begin(true);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_int_equal(f.result->n_deadlock, 3);
    for (size_t i = 0; i < 3; i++)
        assert_non_null(strstr(f.result->deadlock[i], "->leaf"));
    assert_non_null(strstr(f.result->reason, "deadlock"));
    assert_true(explained("deadlock: leaf"));
    assert_int_equal(f.result->dropped_packets, 0);
    fixture_free(&f);
}

static void test_congested_but_free(void **state)
{
    (void)state;
    begin(false);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->pause_frames > 0);
    assert_int_equal(f.result->n_deadlock, 0);
    assert_false(explained("deadlock"));
    fixture_free(&f);

    // A run that is cut off while ports are paused reports no deadlock.
    begin(false);
    f.spec.duration_ps = 400 * PS_PER_US;
    fixture_run(&f);
    assert_true(f.result->pause_frames > 0);
    assert_int_equal(f.result->n_deadlock, 0);
    fixture_free(&f);
}

// A deadlock of one class does not block other classes on the same trunks; without a watchdog it
// remains, with a watchdog it is resolved.
static void test_one_class_deadlocks(void **state)
{
    (void)state;
    for (int watchdog = 0; watchdog < 2; watchdog++) {
        begin(true);
        struct dim_spec *dim = &f.spec.dims[0];
        dim->sw.pfc.watchdog = watchdog;
        dim->sw.pfc.watchdog_detect_ps = 2 * PS_PER_MS;
        dim->sw.pfc.watchdog_restore_ps = 2 * PS_PER_MS;
        roce_spec_of(&dim->transport)->rto_ps = PS_PER_MS;
        roce_spec_of(&dim->transport)->retry_limit = 1000;
        f.jobs[0].cls = 5;
        dim->sw.classes[5].lossless = LOSSLESS_ON;
        f.flows[3 * PER_SWITCH] = (struct raw_flow){0, 2 * PER_SWITCH, 4000000, PS_PER_MS, 0};
        fixture_flow_job(&f, 1, "other", NET_CLASS_DATA, 3 * PER_SWITCH, 1);
        f.spec.n_jobs = 2;
        fixture_run(&f);
        assert_int_equal(f.result->status, watchdog ? RUN_COMPLETED : RUN_INCOMPLETE);
        assert_int_equal(f.result->n_deadlock, watchdog ? 0 : 3);
        assert_int_equal(f.result->drops[DROP_WATCHDOG] > 0, watchdog);
        for (size_t i = 0; i < f.result->n_flows; i++)
            if (f.result->flows[i].job == 1) {
                assert_int_equal(f.result->flows[i].status, MESSAGE_DONE);
                assert_int_equal(f.result->flows[i].retransmitted, 0);
            }
        for (size_t i = 0; i < f.result->n_pfc_ports; i++)
            assert_int_equal(f.result->pfc_ports[i].cls, 5);
        fixture_free(&f);
    }
}

static void test_watchdog_breaks_it(void **state)
{
    (void)state;
    begin(true);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->sw.pfc.watchdog = true;
    dim->sw.pfc.watchdog_detect_ps = 2 * PS_PER_MS;
    dim->sw.pfc.watchdog_restore_ps = 2 * PS_PER_MS;
    roce_spec_of(&dim->transport)->rto_ps = PS_PER_MS;
    roce_spec_of(&dim->transport)->retry_limit = 1000;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->watchdog_fired > 0);
    assert_true(f.result->drops[DROP_WATCHDOG] > 0);
    assert_true(f.result->drops[DROP_WATCHDOG] <= f.result->dropped_packets);
    assert_true(explained("watchdog"));
    fixture_free(&f);
}

// Six ranks in a ring of direct links forward for each other: each sends two hops further in the
// same direction, so that every router waits for the next one's buffer. The watchdog of the routers
// breaks the cycle.
static void test_routers_of_ranks(void **state)
{
    (void)state;
    for (unsigned watchdog = 0; watchdog < 2; watchdog++) {
        fixture_switch(&f, 6, LINE, PS_PER_US);
        struct dim_spec *dim = &f.spec.dims[0];
        dim->kind = topology_find("ring");
        dim->sw.buffer_bytes = 100000;
        dim->sw.pfc.watchdog = watchdog;
        dim->sw.pfc.watchdog_detect_ps = 500 * PS_PER_US;
        dim->sw.pfc.watchdog_restore_ps = 500 * PS_PER_US;
        f.spec.limits.stall_ps = 5 * PS_PER_MS;
        for (unsigned r = 0; r < 6; r++)
            fixture_flow(&f, r, (r + 2) % 6, 4000000, 0);
        fixture_run(&f);
        assert_int_equal(f.result->status, watchdog ? RUN_COMPLETED : RUN_INCOMPLETE);
        assert_int_equal(f.result->n_deadlock, watchdog ? 0 : 6);
        assert_int_equal(f.result->watchdog_fired > 0, watchdog);
        assert_int_equal(f.result->drops[DROP_WATCHDOG] > 0, watchdog);
        fixture_free(&f);
    }
}

// rank0's NIC pauses leaf0 from 100 us on. Traffic to rank0 then fills the buffers, and its trunk
// is paused, including the traffic to rank1 in the same class.
static void storm(bool watchdog)
{
    static struct fault_spec fault;
    fault = fixture_fault("rank0");
    fault.storm_ps = 100 * PS_PER_US;
    fixture_switch(&f, 3 * PER_SWITCH, LINE, PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->kind = &ring3;
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    dim->sw.buffer_bytes = 1000000;
    roce_spec_of(&dim->transport)->rto_ps = 500 * PS_PER_US;
    dim->sw.pfc.watchdog = watchdog;
    dim->sw.pfc.watchdog_detect_ps = PS_PER_MS;
    dim->sw.pfc.watchdog_restore_ps = 100 * PS_PER_MS;
    f.spec.faults = &fault;
    f.spec.n_faults = 1;
    fixture_flow(&f, 4, 0, 20000000, 0);
    fixture_flow(&f, 5, 1, 20000000, 0);
    fixture_run(&f);
}

static void test_storm(void **state)
{
    (void)state;
    storm(false);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_int_equal(f.result->summary.failed + f.result->summary.running, 2);
    assert_true(explained(
        "the PFC storm of leaf0->rank0 (`faults`), from 100 us on, stopped leaf0->rank0 for"));
    fixture_free(&f);
    storm(true);
    for (size_t i = 0; i < f.result->n_flows; i++)
        if (f.result->flows[i].dst == 1)
            assert_int_equal(f.result->flows[i].status, MESSAGE_DONE);
    assert_true(f.result->watchdog_fired > 0);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cyclic_routes_deadlock), cmocka_unit_test(test_congested_but_free),
        cmocka_unit_test(test_one_class_deadlocks),    cmocka_unit_test(test_watchdog_breaks_it),
        cmocka_unit_test(test_routers_of_ranks),       cmocka_unit_test(test_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
