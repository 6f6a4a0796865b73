// SPDX-License-Identifier: MIT
// The latency of switches and cut-through, against closed forms of messages without contention.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINK UINT64_C(100000000000)
#define TRUNK UINT64_C(400000000000)
enum { MTU = 4096, DATA = 4096 + 64, ACK = 84, HEADER = NET_CUT_THROUGH_BYTES };

static struct fixture f;

static double ps(double bytes, double rate) { return bytes * 8 * 1e12 / rate; }

struct way {
    uint64_t link_bps, trunk_bps;
    ps_t latency_ps;
    int forwarding;
};

// Returns the time of a message from a rank of one leaf to one of another, from post to last ACK.
static double measured_ps(const struct way *way, uint64_t packets)
{
    fixture_leaf_spine(&f, 4, 2, 1,
                       (struct link_spec){.rate_bps = way->link_bps, .delay_ps = PS_PER_US},
                       (struct link_spec){.rate_bps = way->trunk_bps, .delay_ps = 2 * PS_PER_US});
    struct dim_spec *dim = &f.spec.dims[0];
    dim->sw.latency_ps = way->latency_ps;
    dim->sw.forwarding = way->forwarding;
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = DATA - MTU;
    dim->transport.overhead_ack = ACK;
    fixture_flow(&f, 0, 3, packets * MTU, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    const struct flow_record *record = &f.result->flows[0];
    double time = (double)record->fct_ps;
    assert_true(fabs(time - (double)record->ideal_ps) <= 8); // and the ideal time is exact
    fixture_free(&f);
    return time;
}

// Links: 1 us to and from ranks, 2 us between switches; three switches on the way, six on the round
// trip.
static double fixed_ps(const struct way *way)
{
    return 2. * (1 + 2 + 2 + 1) * PS_PER_US + 6. * (double)way->latency_ps;
}

static void test_latency(void **state)
{
    (void)state;
    struct way way = {LINK, TRUNK, 600 * PS_PER_NS, FORWARDING_STORE};
    double one = 2 * ps(DATA + ACK, LINK) + 2 * ps(DATA + ACK, TRUNK);
    assert_true(fabs(measured_ps(&way, 1) - fixed_ps(&way) - one) <= 8);
    // more packets follow at the pace of the slowest link
    assert_true(fabs(measured_ps(&way, 10) - fixed_ps(&way) - one - 9 * ps(DATA, LINK)) <= 8);
    way.latency_ps = 0;
    assert_true(fabs(measured_ps(&way, 1) - fixed_ps(&way) - one) <= 8);
}

// On equal links a packet crosses each switch after its first 64 bytes, and only the last link
// takes the time of the whole packet.
static void test_cut_through(void **state)
{
    (void)state;
    struct way way = {LINK, LINK, 400 * PS_PER_NS, FORWARDING_CUT};
    double one = ps(DATA + ACK, LINK) + 6 * ps(HEADER, LINK);
    assert_true(fabs(measured_ps(&way, 1) - fixed_ps(&way) - one) <= 8);
    assert_true(fabs(measured_ps(&way, 10) - fixed_ps(&way) - one - 9 * ps(DATA, LINK)) <= 8);
}

// A leaf with faster trunks stores what comes from its ranks, because a byte would be due on the
// trunk before it has arrived. What comes from a trunk is cut through, and so it is at the spine.
static void test_faster_trunks(void **state)
{
    (void)state;
    struct way way = {LINK, TRUNK, 0, FORWARDING_CUT};
    double there = ps(DATA, LINK) + 2 * ps(HEADER, TRUNK) + ps(DATA, LINK);
    double back = ps(ACK, LINK) + 2 * ps(HEADER, TRUNK) + ps(ACK, LINK);
    assert_true(fabs(measured_ps(&way, 1) - fixed_ps(&way) - there - back) <= 8);
}

// With slower trunks the leaf cuts through what comes from its ranks, and stores what comes from
// the trunk.
static void test_slower_trunks(void **state)
{
    (void)state;
    struct way way = {TRUNK, LINK, 0, FORWARDING_CUT};
    double there = ps(HEADER, TRUNK) + ps(HEADER, LINK) + ps(DATA, LINK) + ps(DATA, TRUNK);
    double back = ps(HEADER, TRUNK) + ps(HEADER, LINK) + ps(ACK, LINK) + ps(ACK, TRUNK);
    assert_true(fabs(measured_ps(&way, 1) - fixed_ps(&way) - there - back) <= 8);
}

// Two senders to one receiver: whether packets are cut through does not change what the last link
// carries, so the incast ends earlier by the time that the first packet and the last ACK save.
static void test_contention(void **state)
{
    (void)state;
    double times[2];
    for (int forwarding = FORWARDING_STORE; forwarding <= FORWARDING_CUT; forwarding++) {
        fixture_switch(&f, 3, LINK, PS_PER_US);
        struct dim_spec *dim = &f.spec.dims[0];
        dim->sw.forwarding = forwarding;
        roce_spec_of(&dim->transport)->mtu_bytes = MTU;
        dim->transport.overhead = OVERHEAD_CUSTOM;
        dim->transport.overhead_data = DATA - MTU;
        dim->transport.overhead_ack = ACK;
        fixture_flow(&f, 0, 2, 100 * MTU, 0);
        fixture_flow(&f, 1, 2, 100 * MTU, 0);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        times[forwarding] = (double)f.result->sim_time_ps;
        fixture_free(&f);
    }
    double saved = ps(DATA - HEADER, LINK) + ps(ACK - HEADER, LINK);
    assert_true(fabs(times[FORWARDING_STORE] - times[FORWARDING_CUT] - saved) <= 8);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency), cmocka_unit_test(test_cut_through),
        cmocka_unit_test(test_faster_trunks), cmocka_unit_test(test_slower_trunks),
        cmocka_unit_test(test_contention)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
