// SPDX-License-Identifier: MIT
// Properties of paths that a transport and a workload use, computed by hand: base RTT, length,
// drain time, bandwidth, stripes, and their description for people. Links are 100 Gb/s (80 ps a
// byte), 1 us; a data packet is 1036 B on the wire (D = 82.88 ns), an ACK 48 B (A = 3.84 ns).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define D 82880
#define A 3840
#define LINE UINT64_C(100000000000)

static struct fixture f;

static void small_packets(void)
{
    struct transport_spec *t = &f.spec.dims[0].transport;
    roce_spec_of(t)->mtu_bytes = 1000;
    t->overhead = OVERHEAD_CUSTOM;
    t->overhead_data = 36;
    t->overhead_ack = 48;
    f.spec.dims[0].sw.buffer_bytes = 1000000;
}

static void star(uint64_t n_planes)
{
    fixture_switch(&f, 3, LINE, PS_PER_US);
    memcpy(f.spec.dims[0].params, &n_planes, sizeof n_planes); // the kind's only parameter
    small_packets();
    fixture_flow(&f, 0, 2, 1000, 0);
    fixture_run(&f);
}

// Codes delay every link, and pipelines every switch, there and back.
static void test_codes_and_pipelines(void **state)
{
    (void)state;
    fixture_switch(&f, 3, LINE, PS_PER_US);
    f.spec.dims[0].links[0].fec_ps = 63 * PS_PER_NS;
    f.spec.dims[0].sw.latency_ps = 700 * PS_PER_NS;
    small_packets();
    fixture_flow(&f, 0, 2, 1000, 0);
    fixture_run(&f);
    ps_t base = 4 * PS_PER_US + 2 * (D + A) + (4 * 63 + 2 * 700) * PS_PER_NS;
    assert_int_equal(fabric_path(&f.sim->fabric, 0, 2, 0, 0, 0).base_rtt_ps, base);
    assert_int_equal(f.result->flows[0].fct_ps, base);
    fixture_free(&f);
}

static void test_one_switch(void **state)
{
    (void)state;
    star(1);
    struct transport_path path = fabric_path(&f.sim->fabric, 0, 2, 0, 0, 0);
    assert_int_equal(path.hops, 2);
    assert_int_equal(path.line_bps, LINE);
    assert_int_equal(path.base_rtt_ps, 4 * PS_PER_US + 2 * (D + A));
    assert_int_equal(path.queueing_ps, 80 * PS_PER_US); // 1 MB at the switch
    assert_int_equal(path.n_ports, 1);
    assert_int_equal(path.src_node, 0);
    assert_int_equal(path.dst_node, 2);
    assert_true(delivery_bandwidth(&f.sim->delivery, 0, 2) == 100e9);
    assert_int_equal(fabric_stripes(&f.sim->fabric, 0, 2, 0, 0), 1);
    assert_int_equal(fabric_message_dim(&f.sim->fabric, 0, 2, 1), 0);
    struct longest_path longest = fabric_longest_path(&f.sim->fabric, 0, 0);
    assert_int_equal(longest.base_rtt_ps, path.base_rtt_ps);
    assert_int_equal(longest.hops, 2);
    fixture_free(&f);
}

// The longest path against all pairs of ranks; the first pair in the order of sources, then
// destinations. Some links are slower, so that the longest time is not that of the most links.
static void test_longest_of_all(void **state)
{
    (void)state;
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US},
                           trunk = {.rate_bps = LINE / 2, .delay_ps = 2 * PS_PER_US};
    for (uint32_t slow = 0; slow < 12; slow++) {
        fixture_leaf_spine(&f, 12, 3, 2, link, trunk);
        small_packets();
        fixture_flow(&f, 0, 3, 1000, 0);
        fixture_run(&f);
        struct fabric *fabric = &f.sim->fabric;
        uint32_t port = fabric->graph.nodes[slow].first_port;
        fabric->graph.ports[port].delay_ps += 40 * PS_PER_US;
        fabric->longest[0].hops = 0; // it is kept, and the delay has changed
        ps_t most_ps = 0;
        uint32_t most_hops = 0;
        for (uint32_t src = 0; src < 12; src += 3)
            for (uint32_t dst = 0; dst < 12; dst += 3) {
                uint32_t to = src == dst ? src + 1 : dst;
                struct transport_path path = fabric_path(fabric, src, to, 0, 0, 0);
                most_ps = path.base_rtt_ps > most_ps ? path.base_rtt_ps : most_ps;
                most_hops = path.hops > most_hops ? path.hops : most_hops;
            }
        struct longest_path longest = fabric_longest_path(fabric, 0, 0);
        assert_int_equal(longest.base_rtt_ps, most_ps);
        assert_int_equal(longest.hops, most_hops);
        assert_int_equal(longest.src, 0);
        assert_int_equal(longest.dst, 3);
        fixture_free(&f);
    }
}

static void test_two_planes(void **state)
{
    (void)state;
    star(2);
    assert_int_equal(fabric_path(&f.sim->fabric, 0, 2, 0, 0, 0).n_ports, 2);
    assert_true(delivery_bandwidth(&f.sim->delivery, 0, 2) == 200e9);
    assert_int_equal(fabric_stripes(&f.sim->fabric, 0, 2, 0, 0), 2);
    fixture_free(&f);
}

// Inside a leaf two hops, between leaves four; trunks are 50 Gb/s and 2 us, so a data packet takes
// 2 D there.
static void test_leaf_spine(void **state)
{
    (void)state;
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US},
                           trunk = {.rate_bps = LINE / 2, .delay_ps = 2 * PS_PER_US};
    const ps_t rtt = 12 * PS_PER_US + 6 * (D + A);
    fixture_leaf_spine(&f, 4, 2, 2, link, trunk);
    small_packets();
    fixture_flow(&f, 0, 3, 1000, 0);
    fixture_run(&f);
    assert_int_equal(fabric_path(&f.sim->fabric, 0, 1, 0, 0, 0).hops, 2);
    assert_int_equal(fabric_path(&f.sim->fabric, 0, 3, 0, 0, 0).hops, 4);
    assert_int_equal(fabric_path(&f.sim->fabric, 0, 3, 0, 0, 0).base_rtt_ps, rtt);
    assert_int_equal(fabric_path(&f.sim->fabric, 0, 3, 0, 0, 0).queueing_ps,
                     (160 + 160 + 80) * PS_PER_US);
    struct longest_path longest = fabric_longest_path(&f.sim->fabric, 0, 0);
    assert_int_equal(longest.base_rtt_ps, rtt);
    assert_int_equal(longest.hops, 4);
    assert_int_equal(longest.src, 0);
    assert_int_equal(longest.dst, 2); // the first pair of two leaves
    fixture_free(&f);
}

// Both directions of a pair's path: 100 Gb/s and 1 us up, 50 Gb/s and 3 us down. Every direction of
// both links is in the round trip once.
static void test_directions(void **state)
{
    (void)state;
    const struct link_spec link = {.rate_bps = LINE,
                                   .delay_ps = PS_PER_US,
                                   .reverse_rate_bps = LINE / 2,
                                   .reverse_delay_ps = 3 * PS_PER_US};
    fixture_switch(&f, 3, LINE, PS_PER_US);
    f.spec.dims[0].links[0] = link;
    small_packets();
    fixture_flow(&f, 0, 2, 1000, 0);
    fixture_run(&f);
    struct transport_path path = fabric_path(&f.sim->fabric, 0, 2, 0, 0, 0);
    assert_int_equal(path.base_rtt_ps, 8 * PS_PER_US + 3 * (D + A));
    assert_true(path.line_bps == LINE);
    assert_int_equal(path.queueing_ps, 160 * PS_PER_US);
    fixture_free(&f);
}

// The lines that `validate --print` shows. 1 MB is 1000 packets: 1000 D and the rest of the path
// after the last one's start, less what is the first packet's: 82.88 us + 1 us + D + 1 us + 2 A + 2
// us = 86.97 us.
static void test_description(void **state)
{
    (void)state;
    star(1);
    char *text = sim_describe(f.sim);
    assert_non_null(strstr(text, "3 ranks, 1 switches, 3 links\n"));
    assert_non_null(strstr(text, "rank0 -> rank2: dimension 0, 2 hops, 100 Gb/s, base RTT 4.17 "
                                 "us, BDP 52.2 KB; 1 MB takes 87.0 us alone\n"));
    free(text);
    fixture_free(&f);
}

// No deadlock is reported if ports are paused but do not wait for each other: an incast that is cut
// off while PFC pauses its senders.
static void test_pauses_without_a_cycle(void **state)
{
    (void)state;
    fixture_switch(&f, 4, LINE, PS_PER_US);
    f.spec.dims[0].sw.buffer_bytes = 400000;
    for (uint32_t i = 0; i < 3; i++)
        fixture_flow(&f, i, 3, 1000000, 0);
    f.spec.limits.sim_time_ps = 25 * PS_PER_US;
    fixture_run(&f);
    bool paused = false;
    for (uint32_t p = 0; p < f.sim->fabric.net.n_ports; p++)
        paused |= f.sim->fabric.net.ports[p].paused != 0;
    assert_true(paused);
    assert_int_equal(f.result->n_deadlock, 0);
    assert_string_equal(f.result->reason, "simulated time limit of 25.0 us reached");
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes_and_pipelines), cmocka_unit_test(test_one_switch),
        cmocka_unit_test(test_two_planes),          cmocka_unit_test(test_longest_of_all),
        cmocka_unit_test(test_leaf_spine),          cmocka_unit_test(test_directions),
        cmocka_unit_test(test_description),         cmocka_unit_test(test_pauses_without_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
