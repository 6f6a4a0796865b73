// SPDX-License-Identifier: MIT
// The estimated cost of a run against the actual cost: queue pairs are counted exactly, packet-hops
// follow from bytes and paths, and memory includes what is allocated for them.
#include <malloc.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/estimate.h"
#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)

static struct fixture f;

// Run it; queue pairs must be `pairs`, and messages and packet-hops `messages` and those of the run
// within `tolerance`.
static struct estimate check(uint64_t pairs, double messages, double tolerance)
{
    fixture_run(&f); // an estimate reads only what does not change during the run
    struct estimate e = sim_estimate(f.sim);
    assert_int_equal(e.queue_pairs, pairs);
    assert_int_equal(f.sim->fabric.hosts.flows.n, pairs);
    double hops = (double)f.result->packet_hops;
    if (fabs(e.packet_hops - hops) > tolerance * hops)
        fail_msg("%g packet-hops estimated, %g simulated", e.packet_hops, hops);
    if (fabs(e.messages - messages) > tolerance * messages)
        fail_msg("%g messages estimated, %g posted", e.messages, messages);
    // 60 ns a packet-hop on 32 ports or fewer, 68 on 64; 4 us a queue pair, 3 us a message, 5 us a
    // port.
    double others_s = 4e-6 * (double)pairs + 3e-6 * e.messages + 5e-6 * f.sim->fabric.graph.n_ports;
    double hop_s = (e.wall_s - others_s) / e.packet_hops;
    assert_true(hop_s > 84.99e-9 && hop_s < 96e-9);
    assert_int_equal(e.part_bytes[ESTIMATE_TILES], 0); // a few ports have none
    assert_int_equal(e.part_bytes[ESTIMATE_PORTS], f.sim->fabric.graph.n_ports * 580);
    // A queue pair takes its struct, its name, and a part of tables.
    uint64_t bytes = e.part_bytes[ESTIMATE_QUEUE_PAIRS];
    size_t flow = hosts_flow_bytes(&f.sim->fabric.hosts.dims[0]);
    assert_true(bytes > pairs * flow && bytes < pairs * 2 * flow);
    return e;
}

// 8 senders of 250 packets each by 2 links, and an ACK for each packet: 8 * 250 * 2 * 2 = 8000.
static void test_flows(void **state)
{
    (void)state;
    fixture_switch(&f, 9, LINE, PS_PER_US);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 4000;
    for (uint32_t i = 0; i < 8; i++)
        fixture_flow(&f, i, 8, 1000000, 0);
    struct estimate e = check(8, 8, 0.02); // PFC frames are not included
    assert_true(fabs(e.packets - 2000) < 1e-9 && fabs(e.packet_hops - 8000) < 1e-6);
    assert_int_equal(e.part_bytes[ESTIMATE_SERIES], 0);
    // 8 records; flights: 18 directions of 100 Gb/s * 1 us = 12.5 KB and the buffer of 32 MB are
    // more than the 8 MB posted, so 2000 packets of 32 bytes and as much of meta, with a slack of
    // 1.3.
    assert_int_equal(e.part_bytes[ESTIMATE_PACKETS], 2000 * 64 * 13 / 10);
    assert_true(e.part_bytes[ESTIMATE_RECORDS] > 8 * sizeof(struct flow_record));
    assert_true(e.part_bytes[ESTIMATE_RECORDS] < 8 * 512);
    assert_int_equal(e.output_bytes, 8 * 640);
    uint64_t sum = 0;
    for (int i = 0; i < ESTIMATE_PARTS; i++)
        sum += e.part_bytes[i];
    assert_int_equal(estimate_bytes(&e), sum);
    assert_int_equal(estimate_largest(&e), ESTIMATE_PACKETS);
    fixture_free(&f);
}

// Over three planes a message has three parts, each on its own queue pair.
static void test_planes(void **state)
{
    (void)state;
    fixture_switch(&f, 9, LINE, PS_PER_US);
    const struct topology_kind *kind = f.spec.dims[0].kind;
    struct param planes = param_find(kind->params, kind->n_params, "planes");
    struct err err = {0};
    assert_int_equal(param_set(&planes, f.spec.dims[0].params, "3", "planes", &err), 0);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 4000;
    for (uint32_t i = 0; i < 8; i++)
        fixture_flow(&f, i, 8, 960000, 0);
    check(24, 8, 0.02);
    fixture_free(&f);
}

// In a ring a rank has one peer, in a direct all-to-all all others; with an ACK every 4 packets
// there are a quarter as many ACKs.
static void test_collectives(void **state)
{
    (void)state;
    fixture_switch(&f, 16, LINE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 16000000, 1);
    check(16, 16 * 30, 0.01); // 2 (n - 1) steps
    fixture_free(&f);
    fixture_switch(&f, 16, LINE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_TO_ALL, "direct", 16 * 65536, 1);
    roce_spec_of(&f.spec.dims[0].transport)->ack_interval = 4;
    struct estimate e = check(240, 240, 0.02);
    assert_true(fabs(e.packet_hops - e.packets * 1.25 * 2) < 1e-3);
    fixture_free(&f);
    // Over 4 x 4: reduce-scatter and all-gather use the same pairs along a dimension.
    static const uint32_t sizes[] = {4, 4};
    static const char *const algorithms[] = {"direct", "direct"};
    fixture_switch(&f, 16, LINE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_TO_ALL, "direct", 16 * 65536, 1);
    fixture_dims(&f, 2, sizes, algorithms);
    check(96, 96, 0.05); // 16 * (3 + 3)
    fixture_free(&f);
}

// Messages of a ring that are shorter than a packet: each has a packet of its own.
static void test_short_messages(void **state)
{
    (void)state;
    fixture_switch(&f, 16, LINE, PS_PER_US);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 4096;
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 16000, 3);
    struct estimate e = check(16, 3 * 16 * 30, 0.01);
    assert_true(fabs(e.packets - 3 * 16 * 30) < 1); // segments of 1000 / 3 B are rounded
    fixture_free(&f);
}

// What is in flight is bounded by a window: 8 flows of 10 MB, each with a window of 40 KB, have 10
// packets of 4000 B in flight each, not the 20,000 that they post.
static void test_window(void **state)
{
    (void)state;
    fixture_switch(&f, 16, LINE, PS_PER_US);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 4000;
    fixture_cc(&f, "window", NULL, "bytes=40KB", NULL);
    for (uint32_t i = 0; i < 8; i++)
        fixture_flow(&f, i, 8 + i, 10000000, 0);
    struct estimate e = check(8, 8, 0.01);
    assert_int_equal(e.part_bytes[ESTIMATE_PACKETS], 8 * 10 * 64 * 13 / 10);
    fixture_free(&f);
}

// Parts of the estimate for people, in its order of sentences.
static void test_text(void **state)
{
    (void)state;
    struct estimate e = {.part_bytes = {[ESTIMATE_MESSAGES] = 3000000, [ESTIMATE_SERIES] = 1000000},
                         .packets = 12345,
                         .packet_hops = 67890,
                         .wall_s = 1.5,
                         .output_bytes = 7000};
    char *text = estimate_text(&e, "> ");
    assert_string_equal(text,
                        "estimate: up to 4.00 MB of memory for the run, most of it for messages "
                        "(3.00 MB)\n> 1.23e+04 packets and their ACKs over 6.79e+04 packet-hops,"
                        " about 1.50 s\n> up to 7.00 KB of output\n");
    free(text);
    e.closed_form = true;
    text = estimate_text(&e, "> ");
    assert_non_null(strstr(text, "\n> no packets: a network in closed form, about 1.50 s\n"));
    free(text);
    e.closed_form = false;
    e.wall_s = 1e9; // longer than picoseconds can count
    text = estimate_text(&e, "");
    assert_non_null(strstr(text, "about 100000 s"));
    free(text);
}

// A collective that runs 3000 times. The program keeps a record of each collective, even of those
// that it does not report, and counts messages beyond report.flows_max in histograms. The estimate
// of memory must include both.
static void test_many_collectives(void **state)
{
    (void)state;
    enum { N = 3000 };
    size_t before, after;
    fixture_switch(&f, 4, LINE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_TO_ALL, "direct", 4000, 1);
    f.collectives[0].params.repeat = N;
    f.spec.report.flows_max = 0;
    f.spec.report.collectives_max = 10;
    before = mallinfo2().uordblks;
    fixture_run(&f);
    after = mallinfo2().uordblks;
    struct estimate e = sim_estimate(f.sim);
    assert_true(f.sim->workload.recorder.n == N);
    assert_true(estimate_bytes(&e) > after - before);
    assert_true(e.part_bytes[ESTIMATE_COLLECTIVES] > N * sizeof(struct collective_record));
    assert_true(e.part_bytes[ESTIMATE_COLLECTIVES] < N * 2000);
    assert_int_equal(e.part_bytes[ESTIMATE_DISTRIBUTIONS], 2 * 1024 * 1024);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flows),       cmocka_unit_test(test_planes),
        cmocka_unit_test(test_collectives), cmocka_unit_test(test_many_collectives),
        cmocka_unit_test(test_text),        cmocka_unit_test(test_short_messages),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
