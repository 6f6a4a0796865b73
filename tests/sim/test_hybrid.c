// SPDX-License-Identifier: MIT
// The hybrid network against packets (sim/hybrid): under `none` a message alone takes the same time
// to the ns, at any rates and sizes, and leaves the same counters; two messages that meet end
// within one packet's time of packets, at whatever instant the second is posted. Cost: 2 s. It
// alone proves the closed form, and that what is under way when messages meet keeps its place.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define GBPS(n) ((uint64_t)(n)*UINT64_C(1000000000))
#define PACKET_PS 334240 // of 4178 wire bytes at 100 Gb/s
#define ACK_PS 6880      // of 86

struct sent {
    uint32_t src, dst;
    uint64_t bytes;
    ps_t start_ps;
};

// The results of a run; the arrays are in the order of its list of messages.
struct outcome {
    ps_t delivered_ps[4], fct_ps[4];
    uint64_t hops, tx_bytes, tx_packets;
    double quiet_share;
};

struct network_of {
    bool fat; // leaf and spine; else one switch
    uint64_t rate_bps, trunk_bps;
    ps_t delay_ps, trunk_ps;
};

// `fault`: NULL = none.
static struct outcome run_with(const struct fault_spec *fault, const struct network_of *n,
                               bool hybrid, const struct sent *list, size_t count)
{
    static struct fixture f;
    struct outcome o = {0};
    if (n->fat)
        fixture_leaf_spine(&f, 8, 4, 2,
                           (struct link_spec){.rate_bps = n->rate_bps, .delay_ps = n->delay_ps},
                           (struct link_spec){.rate_bps = n->trunk_bps, .delay_ps = n->trunk_ps});
    else
        fixture_switch(&f, 8, n->rate_bps, n->delay_ps);
    fixture_cc(&f, "none", NULL, NULL);
    if (fault) {
        f.faults[0] = *fault;
        f.spec.faults = f.faults;
        f.spec.n_faults = 1;
    }
    for (size_t i = 0; i < count; i++)
        fixture_flow(&f, list[i].src, list[i].dst, list[i].bytes, list[i].start_ps);
    f.spec.network = hybrid ? NETWORK_HYBRID : NETWORK_PACKET;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->n_flows, count);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            if (f.result->flows[k].src == list[i].src && f.result->flows[k].dst == list[i].dst &&
                f.result->flows[k].start_ps == list[i].start_ps) {
                o.delivered_ps[i] = f.result->flows[k].delivered_ps;
                o.fct_ps[i] = f.result->flows[k].fct_ps;
            }
    for (size_t i = 0; i < f.result->n_ports; i++) {
        o.tx_bytes += f.result->ports[i].bytes;
        o.tx_packets += f.result->ports[i].packets;
    }
    o.hops = f.result->packet_hops;
    o.quiet_share = f.result->hybrid ? f.result->hybrid->quiet_share : 0;
    fixture_free(&f);
    return o;
}

static struct outcome run(const struct network_of *n, bool hybrid, const struct sent *list,
                          size_t count)
{
    return run_with(NULL, n, hybrid, list, count);
}

/* ---- alone ---- */

static void check_alone(const struct network_of *n, uint32_t dst, uint64_t bytes)
{
    const struct sent one = {0, dst, bytes, 0};
    struct outcome packets = run(n, false, &one, 1), closed = run(n, true, &one, 1);
    assert_int_equal(closed.hops, 0);
    assert_true(closed.quiet_share == 1);
    assert_true(llabs(closed.delivered_ps[0] - packets.delivered_ps[0]) <= PS_PER_NS);
    assert_true(llabs(closed.fct_ps[0] - packets.fct_ps[0]) <= PS_PER_NS);
    assert_int_equal(closed.tx_bytes, packets.tx_bytes);
    assert_int_equal(closed.tx_packets, packets.tx_packets);
}

static void test_alone(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 1000, 4096, 4097, 8192, 12289, 100000, 3000000};
    static const struct network_of networks[] = {
        {false, GBPS(100), 0, PS_PER_US, 0},
        {true, GBPS(100), GBPS(100), PS_PER_US, PS_PER_US},
        {true, GBPS(100), GBPS(400), 500 * PS_PER_NS, 3 * PS_PER_US},
        {true, GBPS(200), GBPS(800), 0, 100 * PS_PER_NS},
        {true, 33333333333, 77777777777, 123457, 765431},
    };
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            check_alone(&networks[n], 1, sizes[i]); // of the same switch
            check_alone(&networks[n], 7, sizes[i]); // of another leaf
        }
}

// Trunks of half the rate: the message queues, and is quiet as long as few bytes do.
static void test_slower_behind(void **state)
{
    (void)state;
    static const struct network_of n = {true, GBPS(200), GBPS(100), PS_PER_US, PS_PER_US};
    check_alone(&n, 7, 100000);
    const struct sent large = {0, 7, 1000000, 0};
    struct outcome packets = run(&n, false, &large, 1), hybrid = run(&n, true, &large, 1);
    assert_true(hybrid.quiet_share == 0);
    assert_int_equal(hybrid.delivered_ps[0], packets.delivered_ps[0]);
}

/* ---- two messages ---- */

// The largest distance from packets over posts of the second message at `steps` instants.
static ps_t meet(const struct network_of *n, struct sent a, struct sent b, ps_t step_ps,
                 unsigned steps, bool *quiet)
{
    ps_t most = 0;
    *quiet = false;
    for (unsigned i = 0; i < steps; i++) {
        b.start_ps = 1 + i * step_ps;
        const struct sent both[] = {a, b};
        struct outcome packets = run(n, false, both, 2), hybrid = run(n, true, both, 2);
        *quiet |= hybrid.quiet_share > 0.2;
        for (size_t k = 0; k < 2; k++) {
            ps_t off = llabs(hybrid.delivered_ps[k] - packets.delivered_ps[k]);
            most = off > most ? off : most;
        }
        // A part of a message that was quiet may leave one ACK more or less than its packets.
        assert_true(fabs((double)hybrid.tx_bytes / (double)packets.tx_bytes - 1) < 0.002);
    }
    return most;
}

static void check_meet(const struct network_of *n, uint32_t a_src, uint32_t a_dst, uint32_t b_src,
                       uint32_t b_dst, const char *what)
{
    bool quiet;
    const struct sent a = {a_src, a_dst, 300000, 0}, b = {b_src, b_dst, 200000, 0};
    ps_t most = meet(n, a, b, 157 * PS_PER_NS, 200, &quiet);
    print_message("%-30s off by at most %.0f ns of %.0f ns a packet\n", what, (double)most / 1e3,
                  PACKET_PS / 1e3);
    assert_true(quiet);
    assert_true(most <= PACKET_PS + ACK_PS);
}

static void test_meet(void **state)
{
    (void)state;
    static const struct network_of one = {false, GBPS(100), 0, PS_PER_US, 0},
                                   fat = {true, GBPS(100), GBPS(400), PS_PER_US, PS_PER_US};
    check_meet(&one, 0, 3, 1, 3, "one switch, one receiver");
    check_meet(&one, 0, 3, 0, 2, "one switch, one sender");
    check_meet(&fat, 0, 7, 6, 7, "the second is nearer");
    check_meet(&fat, 6, 7, 0, 7, "the second is farther");
    check_meet(&fat, 0, 7, 0, 1, "one sender, two distances");
}

// Messages of a connection, one behind the other, and in both directions: ACKs take their share.
static void test_both_ways(void **state)
{
    (void)state;
    static const struct network_of n = {true, GBPS(100), GBPS(400), PS_PER_US, PS_PER_US};
    const struct sent list[] = {{0, 7, 2000000, 0}, {7, 0, 2000000, 0}};
    struct outcome packets = run(&n, false, list, 2), hybrid = run(&n, true, list, 2);
    assert_int_equal(hybrid.hops, 0);
    for (size_t k = 0; k < 2; k++)
        assert_true(fabs((double)hybrid.fct_ps[k] / (double)packets.fct_ps[k] - 1) < 0.001);
}

/* ---- faults ---- */

// A port that a fault may change has packets from the start; the message beside it stays quiet.
static void test_storm(void **state)
{
    (void)state;
    struct fault_spec storm = fixture_fault("rank3");
    static const struct network_of n = {false, GBPS(100), 0, PS_PER_US, 0};
    const struct sent list[] = {{0, 3, 300000, 0}, {1, 2, 300000, 0}};
    storm.storm_ps = 7 * PS_PER_US;
    storm.storm_end_ps = 60 * PS_PER_US;
    struct outcome packets = run_with(&storm, &n, false, list, 2),
                   hybrid = run_with(&storm, &n, true, list, 2);
    assert_true(hybrid.quiet_share == 0.5);
    for (size_t k = 0; k < 2; k++)
        assert_true(llabs(hybrid.fct_ps[k] - packets.fct_ps[k]) <= PS_PER_NS);
    assert_true(packets.fct_ps[0] > 60 * PS_PER_US); // else the storm has paused nothing
    assert_int_equal(hybrid.tx_bytes, packets.tx_bytes);
}

// A trunk fails in the middle of both messages. The one on it is packets, some are lost, and when
// routes change it takes the trunk of the other one, which was quiet until then. What this one has
// under way there goes first, so the first packet of the other, and with it the NAK, may be late by
// a link's delay and a packet.
static void test_failed_link(void **state)
{
    (void)state;
    static const struct network_of n = {true, GBPS(100), GBPS(100), PS_PER_US, PS_PER_US};
    const struct sent list[] = {{0, 7, 600000, 0}, {3, 5, 600000, 0}};
    ps_t most[2] = {0, 0};
    for (unsigned i = 0; i < 50; i++) {
        struct fault_spec fault = fixture_fault("leaf0->spine1");
        fault.down_ps = (1 + i * 613) * PS_PER_NS;
        fault.detect_ps = 5 * PS_PER_US;
        struct outcome packets = run_with(&fault, &n, false, list, 2),
                       hybrid = run_with(&fault, &n, true, list, 2);
        assert_true(hybrid.quiet_share > 0 && hybrid.quiet_share < 0.5);
        for (size_t k = 0; k < 2; k++) {
            ps_t off = llabs(hybrid.delivered_ps[k] - packets.delivered_ps[k]);
            most[k] = off > most[k] ? off : most[k];
        }
    }
    print_message("a trunk fails: off by at most %.0f and %.0f ns\n", (double)most[0] / 1e3,
                  (double)most[1] / 1e3);
    assert_true(most[1] <= PACKET_PS + ACK_PS);
    assert_true(most[0] <= PS_PER_US + PACKET_PS + ACK_PS);
}

// After two messages have met, the next one of their connections is quiet again.
static void test_return(void **state)
{
    (void)state;
    static const struct network_of n = {false, GBPS(100), 0, PS_PER_US, 0};
    const struct sent list[] = {
        {0, 3, 200000, 0}, {1, 3, 200000, PS_PER_US}, {0, 3, 600000, 100 * PS_PER_US}};
    struct outcome packets = run(&n, false, list, 3), hybrid = run(&n, true, list, 3);
    assert_true(hybrid.quiet_share > 0.6);
    for (size_t k = 0; k < 3; k++)
        assert_true(llabs(hybrid.delivered_ps[k] - packets.delivered_ps[k]) <= PACKET_PS + ACK_PS);
    assert_true(llabs(hybrid.fct_ps[2] - packets.fct_ps[2]) <= PS_PER_NS);
}

// A long message is quiet again in its middle when another one that shares its NIC has ended, and
// packets when it meets a third one, whose queue stays.
static void test_return_in_the_middle(void **state)
{
    (void)state;
    static const struct network_of networks[] = {
        {false, GBPS(100), 0, PS_PER_US, 0},
        {true, GBPS(100), GBPS(100), PS_PER_US, PS_PER_US},
        {true, GBPS(100), GBPS(400), 500 * PS_PER_NS, 3 * PS_PER_US},
    };
    static const double least[] = {0, 0, 0.9, 0.35};
    for (size_t n = 0; n < sizeof networks / sizeof *networks; n++)
        for (unsigned i = 0; i < 40; i++) {
            ps_t at = 20 * PS_PER_US + i * 12345;
            const struct sent list[] = {
                {0, 7, 8000000, 0}, {0, 6, 100000, at}, {2, 7, 100000, at + 300 * PS_PER_US}};
            for (size_t count = 2; count <= 3; count++) {
                struct outcome packets = run(&networks[n], false, list, count),
                               hybrid = run(&networks[n], true, list, count);
                assert_true(hybrid.quiet_share > least[count]);
                for (size_t k = 0; k < count; k++)
                    assert_true(llabs(hybrid.delivered_ps[k] - packets.delivered_ps[k]) <=
                                PACKET_PS + ACK_PS);
            }
        }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),  cmocka_unit_test(test_slower_behind),
        cmocka_unit_test(test_meet),   cmocka_unit_test(test_both_ways),
        cmocka_unit_test(test_storm),  cmocka_unit_test(test_failed_link),
        cmocka_unit_test(test_return), cmocka_unit_test(test_return_in_the_middle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
