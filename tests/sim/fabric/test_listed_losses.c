// SPDX-License-Identifier: MIT
// Listed losses in whole runs, by exact counts: what is dropped, what is retransmitted, what
// arrives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

enum { N = 200, MTU = 1000 };
#define LINE UINT64_C(10000000000)

static struct fixture f;

// Two ranks, a flow of N packets in each direction.
static void begin(enum recovery recovery, const struct fault_spec *fault)
{
    fixture_switch(&f, 2, LINE, PS_PER_US);
    struct roce_spec *roce = roce_spec_of(&f.spec.dims[0].transport);
    roce->mtu_bytes = MTU;
    roce->recovery = (int)recovery;
    roce->rto_ps = roce->rto_low_ps = roce->rto_high_ps = 200 * PS_PER_US;
    roce->reorder_packets = 0;
    roce->retry_limit = 20;
    f.spec.faults = (struct fault_spec *)(uintptr_t)fault;
    f.spec.n_faults = 1;
    fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
    fixture_flow(&f, 1, 0, (uint64_t)N * MTU, 0);
}

static struct fault_spec one_way(void)
{
    struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
    fault.one_way = true;
    return fault;
}

static void check(uint64_t losses)
{
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->drops[DROP_LINK_LOSS], losses);
    assert_int_equal(f.result->dropped_packets, losses);
}

// Selective repeat sends exactly what was lost again.
static void test_selective_repeat(void **state)
{
    (void)state;
    static uint64_t packets[] = {1, 7, 8, 100, N, N + 1};
    for (uint64_t times = 1; times <= 3; times++) {
        struct fault_spec fault = one_way();
        fault.packets = packets;
        fault.n_packets = sizeof packets / sizeof *packets;
        fault.times = times;
        begin(RECOVERY_SELECTIVE_REPEAT, &fault);
        fixture_run(&f);
        check(5 * times); // there is no packet N + 1
        assert_int_equal(f.result->flows[0].retransmitted, 5 * times);
        assert_int_equal(f.result->flows[1].retransmitted, 0);
        fixture_free(&f);
    }
}

// Without `one_way` each direction has a count of its own. Go-back-N sends more than what was lost
// again, and these retransmissions are not counted.
static void test_every(void **state)
{
    (void)state;
    for (uint64_t every = 1; every <= N + 1; every = every * 3 + 7) {
        struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
        fault.every = every;
        begin(RECOVERY_GO_BACK_N, &fault);
        fixture_run(&f);
        check(2 * (N / every));
        assert_true(f.result->flows[0].retransmitted >= N / every);
        assert_true(f.result->flows[1].retransmitted >= N / every);
        fixture_free(&f);
    }
}

// Packets of equal length arrive each 1 wire time. A blackout of m times loses m of them, and one
// of m times and a little loses one more. The other direction has no losses.
static void test_blackout(void **state)
{
    (void)state;
    const ps_t packet_ps = serialization_ps(MTU + 26, LINE);
    for (ps_t more = 0; more < 3; more++) {
        struct fault_spec fault = one_way();
        fault.blackout_packet = 50;
        fault.blackout_ps = 30 * packet_ps + more - 1;
        begin(RECOVERY_NONE, &fault);
        struct transport_spec *transport = &f.spec.dims[0].transport;
        transport->overhead = OVERHEAD_CUSTOM;
        transport->overhead_data = transport->overhead_ack = 26;
        f.spec.jobs[0].cls = NET_CLASS_DATA;
        roce_spec_of(transport)->ack_interval = 1000;
        f.spec.duration_ps = PS_PER_MS;
        // one direction only, so that no ACKs come between the packets
        f.lists[0].list.n = 1;
        fixture_run(&f);
        assert_int_equal(f.result->drops[DROP_LINK_LOSS], more < 2 ? 30 : 31);
        fixture_free(&f);
    }
}

// After the blackout everything is delivered.
static void test_recovery_from_a_blackout(void **state)
{
    (void)state;
    struct fault_spec fault = one_way();
    fault.blackout_packet = 10;
    fault.blackout_ps = 500 * PS_PER_US; // two timeouts
    begin(RECOVERY_GO_BACK_N, &fault);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->timeouts >= 2);
    assert_true(f.result->flows[0].fct_ps > 500 * PS_PER_US);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selective_repeat),
        cmocka_unit_test(test_every),
        cmocka_unit_test(test_blackout),
        cmocka_unit_test(test_recovery_from_a_blackout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
