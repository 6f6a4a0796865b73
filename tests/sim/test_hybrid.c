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

static struct outcome run(const struct network_of *n, bool hybrid, const struct sent *list,
                          size_t count)
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

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_slower_behind),
        cmocka_unit_test(test_meet),
        cmocka_unit_test(test_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
