// SPDX-License-Identifier: MIT
// Choices of paths: hash polarization, weights after a failure, source routes, flowlets and packets
// by quality, and planes that fail.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

static struct fixture f;

static struct routing_spec *routing(int kind)
{
    struct roce_spec *roce = roce_spec_of(&f.spec.dims[0].transport);
    roce->recovery = RECOVERY_SELECTIVE_REPEAT;
    roce->reorder_packets = 100000;
    roce->bdp_cap = false;
    f.spec.dims[0].sw.routing.kind = kind;
    return &f.spec.dims[0].sw.routing;
}

static void leaves(uint32_t per_leaf, uint32_t n_leaves, uint32_t spines)
{
    struct link_spec link = {.rate_bps = RATE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, per_leaf * n_leaves, per_leaf, spines, link, link);
}

/* ---- packets that overtake each other, and ACKs for several ---- */

// The request for an ACK may come before packets that were sent earlier. It is answered when these
// have come, so that a short window never waits for the retransmission timer.
static void test_early_requests(void **state)
{
    (void)state;
    struct fault_spec fault = fixture_fault("leaf0->spine0");
    fault.rate_share = 0.25;
    fault.rate_end_ps = PS_NEVER;
    for (unsigned interval = 1; interval <= 16; interval *= 4) {
        leaves(4, 2, 4);
        routing(ROUTING_SPRAY);
        struct roce_spec *roce = roce_spec_of(&f.spec.dims[0].transport);
        roce->mtu_bytes = 1000;
        roce->ack_interval = interval;
        fixture_cc(&f, "window", NULL, "k=0.5", NULL);
        f.faults[0] = fault;
        f.spec.faults = f.faults;
        f.spec.n_faults = 1;
        for (uint32_t r = 0; r < 8; r++)
            fixture_flow(&f, r, (r + 4) % 8, 1000000, 0);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_true(f.result->naks > 1000);
        assert_int_equal(f.result->timeouts, 0);
        assert_int_equal(f.result->retransmitted, 0);
        fixture_free(&f);
    }
}

/* ---- hash polarization ---- */

// The uplinks of aggregation switches in a fat tree of 128 ranks: ports to cores, and how many have
// sent.
static void count_uplinks(uint32_t *all, uint32_t *used)
{
    const struct graph *g = &f.sim->fabric.graph;
    *all = *used = 0;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint32_t node = g->ports[p].node, peer = g->ports[g->ports[p].peer].node;
        bool to_core = node >= g->n_ends && peer >= g->n_ends && g->nodes[node].role == NODE_AGG &&
                       g->nodes[peer].role == NODE_CORE;
        *all += to_core;
        *used += to_core && f.sim->fabric.net.ports[p].tx_packets > 0;
    }
}

static void polarize(int seeds, uint32_t *all, uint32_t *used)
{
    fixture_switch(&f, 128, RATE, PS_PER_US);
    fixture_kind(&f.spec.dims[0], "fat_tree");
    for (int i = 1; i < TOPOLOGY_MAX_LINKS; i++)
        f.spec.dims[0].links[i] = f.spec.dims[0].links[0];
    f.spec.dims[0].sw.routing.seeds = seeds;
    for (uint32_t r = 0; r < 128; r++)
        for (uint32_t shift = 32; shift <= 96; shift += 16)
            fixture_flow(&f, r, (r + shift) % 128, 4000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    count_uplinks(all, used);
    fixture_free(&f);
}

// Edge and aggregation switches have 4 uplinks each. With one seed an aggregation switch sees only
// packets for which the edge's hash has chosen it, and its own hash chooses the same number.
static void test_polarization(void **state)
{
    (void)state;
    uint32_t all, used;
    polarize(SEEDS_SAME, &all, &used);
    assert_int_equal(all, 128);
    assert_int_equal(4 * used, all);
    polarize(SEEDS_PER_SWITCH, &all, &used);
    assert_true(used > all * 9 / 10);
}

/* ---- weights ---- */

// Pods of four ranks at two edge switches, two aggregation switches with two uplinks each: 4 x RATE
// between pods. One uplink of the first pod fails before the start, so 3 x RATE are left. Packets
// take the uplinks in turn: with equal weights half of them go to the aggregation switch that has
// one uplink for 2 x RATE.
static ps_t with_failed_uplink(int weights, uint64_t bytes)
{
    fixture_switch(&f, 16, RATE, PS_PER_US);
    fixture_kind(&f.spec.dims[0], "fat_tree");
    for (int i = 1; i < TOPOLOGY_MAX_LINKS; i++)
        f.spec.dims[0].links[i] = f.spec.dims[0].links[0];
    routing(ROUTING_SPRAY)->weights = weights;
    f.faults[0] = fixture_fault("agg0->core0");
    f.faults[0].down_ps = 0;
    f.faults[0].detect_ps = PS_PER_US;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    for (uint32_t r = 0; r < 4; r++)
        fixture_flow(&f, r, 4 + r, bytes, 2 * PS_PER_US);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    ps_t time = f.result->sim_time_ps - 2 * PS_PER_US;
    fixture_free(&f);
    return time;
}

static void test_weights(void **state)
{
    (void)state;
    const uint64_t bytes = 4096 * 1000;
    double wire = 4. * (double)bytes / 4096 * (4096 + 82); // of all four, in bytes
    double third = wire * 8e12 / (3. * (double)RATE), half = wire / 2 * 8e12 / (double)RATE;
    double weighted = (double)with_failed_uplink(WEIGHTS_CAPACITY, bytes);
    double equal = (double)with_failed_uplink(WEIGHTS_EQUAL, bytes);
    assert_true(weighted >= third && weighted <= third * 1.03 + 20e6);
    assert_true(equal >= half && equal <= half * 1.03 + 20e6);
}

/* ---- source routes ---- */

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// Packets of a flow take all paths in turn: the uplinks of a leaf carry the same number of data
// packets, to within one of each flow.
static void test_source_routes(void **state)
{
    (void)state;
    leaves(4, 2, 4);
    routing(ROUTING_SOURCE)->source = SOURCE_ROUND_ROBIN;
    for (uint32_t r = 0; r < 4; r++)
        fixture_flow(&f, r, 4 + r, 4096 * 401, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    uint64_t packets[4];
    uint32_t n = 0;
    for (size_t i = 0; i < f.result->n_ports; i++)
        if (strncmp(f.result->ports[i].at, "leaf0->spine", 12) == 0)
            packets[n++] = f.sim->fabric.net.ports[i].tx_packets;
    assert_int_equal(n, 4);
    qsort(packets, 4, sizeof *packets, by_size);
    assert_int_equal(packets[0] + packets[1] + packets[2] + packets[3], 4 * 401);
    assert_true(packets[3] - packets[0] <= 4);
    fixture_free(&f);
}

// In three tiers the digits of the path's number choose at the edge and at the aggregation switch.
static void test_source_in_three_tiers(void **state)
{
    (void)state;
    fixture_switch(&f, 128, RATE, PS_PER_US);
    fixture_kind(&f.spec.dims[0], "fat_tree");
    for (int i = 1; i < TOPOLOGY_MAX_LINKS; i++)
        f.spec.dims[0].links[i] = f.spec.dims[0].links[0];
    routing(ROUTING_SOURCE)->source = SOURCE_ROUND_ROBIN;
    fixture_flow(&f, 0, 127, 4096 * 160, 0);
    fixture_run(&f);
    const struct graph *g = &f.sim->fabric.graph;
    uint32_t cores = 0;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint32_t node = g->ports[p].node;
        if (node < g->n_ends || g->nodes[node].role != NODE_CORE ||
            !f.sim->fabric.net.ports[p].tx_packets)
            continue;
        const struct graph_node *n = &g->nodes[node];
        uint64_t sum = 0; // ACKs of the other direction go by hash
        for (uint32_t q = n->first_port; q < n->first_port + n->n_ports; q++)
            sum += f.sim->fabric.net.ports[q].tx_bytes / (4096 + 82);
        cores += sum == 10;
    }
    assert_true(cores >= 15); // 4 x 4 paths of 10 packets each; one core also carries the ACKs
    fixture_free(&f);
}

/* ---- quality ---- */

// Four flows of four ranks start one after the other. Each takes the uplink with the best quality,
// so none meets another there.
static void test_flowlets_by_quality(void **state)
{
    (void)state;
    for (int interval = 0; interval < 2; interval++) {
        leaves(4, 2, 4);
        struct routing_spec *r = routing(ROUTING_FLOWLET);
        r->flowlet_choice = FLOWLET_QUALITY;
        r->state_interval_ps = interval ? PS_PER_US : 0;
        for (uint32_t i = 0; i < 4; i++)
            fixture_flow(&f, i, 4 + i, 1000000, (ps_t)i * 5 * PS_PER_US);
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        for (uint32_t i = 0; i < 4; i++)
            assert_true((double)f.result->flows[i].fct_ps <
                        1.02 * (double)f.result->flows[i].ideal_ps);
        fixture_free(&f);
    }
}

// Leaf 2 keeps the link from spine 0 to leaf 1 busy. Leaf 0 sees it only with remote state.
static uint64_t queue_behind(bool remote)
{
    leaves(2, 3, 2);
    struct routing_spec *r = routing(ROUTING_ADAPTIVE);
    r->state_interval_ps = PS_PER_US;
    r->remote = remote;
    f.faults[0] = fixture_fault("leaf2->spine1"); // so that leaf 2 sends by spine 0 alone
    f.faults[0].down_ps = 0;
    f.faults[0].detect_ps = PS_PER_US;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    fixture_flow(&f, 4, 2, 2000000, 2 * PS_PER_US);
    fixture_flow(&f, 0, 3, 2000000, 20 * PS_PER_US);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    uint64_t most = 0;
    for (size_t i = 0; i < f.result->n_ports; i++)
        if (strcmp(f.result->ports[i].at, "spine0->leaf1") == 0)
            most = f.result->ports[i].max_queue_bytes;
    fixture_free(&f);
    return most;
}

static void test_remote_state(void **state)
{
    (void)state;
    uint64_t local = queue_behind(false), remote = queue_behind(true);
    assert_true(local > 100000);
    // what is sent before the state is known: two links and two intervals of RATE
    assert_true(remote <= 4 * RATE / 8 / 1000000);
}

/* ---- planes ---- */

static ps_t over_planes(uint32_t planes, bool fails, ps_t start_ps, uint64_t *again)
{
    fixture_switch(&f, 4, RATE, PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    struct param n = param_find(dim->kind->params, dim->kind->n_params, "planes");
    char text[8] = {(char)('0' + planes)};
    struct err err = {0};
    param_set(&n, dim->params, text, "planes", &err);
    f.faults[0] = fixture_fault("dim0.sw0.p2");
    f.faults[0].down_ps = 50 * PS_PER_US;
    f.faults[0].detect_ps = 10 * PS_PER_US;
    f.spec.faults = f.faults;
    f.spec.n_faults = fails;
    fixture_flow(&f, 0, 1, 12000000, start_ps);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->n_flows, 1);
    assert_int_equal(f.result->flows[0].delivered_bytes, 12000000);
    ps_t time = f.result->flows[0].fct_ps;
    *again = f.result->retransmitted;
    fixture_free(&f);
    return time;
}

// A message posted after the detection takes exactly the time of a network with one plane less.
// Parts that are under way on the plane go on over another one, which then carries two.
static void test_planes(void **state)
{
    (void)state;
    uint64_t again;
    ps_t three = over_planes(3, false, 0, &again);
    ps_t four = over_planes(4, false, 0, &again);
    assert_true(over_planes(4, true, 100 * PS_PER_US, &again) == three);
    assert_int_equal(again, 0);
    ps_t under_way = over_planes(4, true, 0, &again);
    assert_true(again > 0);
    // Until 60 us the plane has delivered 50 us of its part; then it shares a plane with another.
    ps_t part = four - 4 * PS_PER_US, left = part - 50 * PS_PER_US;
    ps_t expected = 60 * PS_PER_US + left + (part - 60 * PS_PER_US);
    assert_true(llabs(under_way - expected) < 10 * PS_PER_US);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_early_requests),
        cmocka_unit_test(test_polarization),
        cmocka_unit_test(test_weights),
        cmocka_unit_test(test_source_routes),
        cmocka_unit_test(test_source_in_three_tiers),
        cmocka_unit_test(test_flowlets_by_quality),
        cmocka_unit_test(test_remote_state),
        cmocka_unit_test(test_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
