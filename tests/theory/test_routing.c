// SPDX-License-Identifier: MIT
// Distribution of packets over equal links. 1000 equal flows hashed to 16 links behave like balls
// in bins: the maximum is 1.20 to 1.26 times the mean on average. Round-robin spraying is even to
// one packet per flow and hop; D-mod-k never puts two flows of a shift permutation on one link if
// the fabric is wide enough; adaptive routing keeps every queue short; flowlets of a paused flow
// get new paths.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define LINKS 16
#define FLOWS 1000
#define PER_LEAF 40

static struct fixture f;

static void two_leaves(enum routing_kind kind, uint64_t seed)
{
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, 2 * PER_LEAF, PER_LEAF, LINKS, link, link);
    f.spec.seed = seed;
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    roce_spec_of(&dim->transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
    roce_spec_of(&dim->transport)->reorder_packets = 1000;
    dim->sw.routing.kind = (int)kind;
}

static void all_flows(uint64_t bytes)
{
    for (unsigned i = 0; i < FLOWS; i++)
        fixture_flow(&f, i % PER_LEAF, PER_LEAF + (i * 7 + i / PER_LEAF) % PER_LEAF, bytes,
                     (ps_t)i * 2 * PS_PER_US);
}

// Maximum over mean of the bytes on leaf0's uplinks; all ranks of leaf0 send to leaf1.
static double max_over_mean(void)
{
    double max = 0, sum = 0;
    const struct graph_node *leaf = &f.sim->fabric.graph.nodes[f.sim->fabric.graph.n_ranks];
    for (uint32_t p = leaf->first_port + PER_LEAF; p < leaf->first_port + leaf->n_ports; p++) {
        double n = (double)f.sim->fabric.net.ports[p].tx_packets;
        sum += n;
        max = n > max ? n : max;
    }
    return max / (sum / LINKS);
}

static double imbalance(enum routing_kind kind, uint64_t seed)
{
    two_leaves(kind, seed);
    all_flows(4000);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    double ratio = max_over_mean();
    fixture_free(&f);
    return ratio;
}

static void test_ecmp_is_balls_in_bins(void **state)
{
    (void)state;
    double mean = 0;
    for (uint64_t seed = 1; seed <= 50; seed++)
        mean += imbalance(ROUTING_ECMP, seed) / 50;
    print_message("ECMP: max/mean %.3f on average of 50 seeds\n", mean);
    assert_true(mean > 1.20 && mean < 1.26);
}

static void test_spraying_is_even(void **state)
{
    (void)state;
    double even = imbalance(ROUTING_SPRAY, 3), least = imbalance(ROUTING_ADAPTIVE, 3);
    print_message("round-robin spray: max/mean %.4f; adaptive %.4f\n", even, least);
    assert_true(even < 1.05);
    assert_true(least < 1.05);
}

// Sixteen ranks of leaf0 each send to the corresponding rank of leaf1 over sixteen spines: one flow
// per link.
static double permutation_slowdown(enum routing_kind kind)
{
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, 2 * LINKS, LINKS, LINKS, link, link);
    f.spec.dims[0].sw.routing.kind = (int)kind;
    for (unsigned i = 0; i < LINKS; i++)
        fixture_flow(&f, i, LINKS + (i + 5) % LINKS, 2000000, 0);
    fixture_run(&f);
    double worst = f.result->summary.slowdown.max;
    fixture_free(&f);
    return worst;
}

static void test_static_routes_do_not_collide(void **state)
{
    (void)state;
    assert_true(permutation_slowdown(ROUTING_STATIC) < 1.001);
    assert_true(permutation_slowdown(ROUTING_ECMP) > 1.5);
}

// Two ranks exchange 4 packets 60 times, each time some us after the last packet has arrived: with
// a flowlet gap of 1 us every burst is a flowlet, with 1 ms all bursts are one. 60 draws of 16
// links miss a given link with probability (15/16)^60 = 2 %, so 15.7 links are used on average;
// fewer than 12 of 16 has a probability below 10^-6.
static unsigned links_used(ps_t gap_ps)
{
    two_leaves(ROUTING_FLOWLET, 5);
    f.spec.dims[0].sw.routing.flowlet_gap_ps = gap_ps;
    roce_spec_of(&f.spec.dims[0].transport)->qp = QP_PERSISTENT;
    fixture_collective(&f, COLL_ALL_TO_ALL, "direct", 2 * 4000,
                       1); // ranks 0 and 40, again and again
    static const uint32_t pair[] = {0, PER_LEAF};
    fixture_ranks(&f, 0, (uint32_t *)(uintptr_t)pair, 2);
    f.collectives[0].params.repeat = 60;
    fixture_run(&f);
    const struct graph_node *leaf = &f.sim->fabric.graph.nodes[f.sim->fabric.graph.n_ranks];
    unsigned used = 0;
    for (uint32_t p = leaf->first_port + PER_LEAF; p < leaf->first_port + leaf->n_ports; p++)
        used += f.sim->fabric.net.ports[p].tx_packets > 0;
    f.jobs[0].ranks = NULL;
    fixture_free(&f);
    return used;
}

static void test_flowlets(void **state)
{
    (void)state;
    assert_in_range(links_used(PS_PER_US), 12, LINKS);
    assert_true(links_used(PS_PER_MS) <= 2); // data, and ACKs of the other direction
}

// Eight queue pairs of one pair of ranks whose NICs use the same UDP port for all: one path, unless
// switches hash the queue pair.
static unsigned paths_of_a_pair(enum routing_hash hash, enum udp_entropy entropy)
{
    two_leaves(ROUTING_ECMP, 2);
    f.spec.dims[0].sw.routing.hash = (int)hash;
    roce_spec_of(&f.spec.dims[0].transport)->entropy = (int)entropy;
    for (unsigned i = 0; i < 8; i++)
        fixture_flow(&f, 0, PER_LEAF, 10000, 0);
    fixture_run(&f);
    const struct graph_node *leaf = &f.sim->fabric.graph.nodes[f.sim->fabric.graph.n_ranks];
    unsigned used = 0;
    for (uint32_t p = leaf->first_port + PER_LEAF; p < leaf->first_port + leaf->n_ports; p++)
        used += f.sim->fabric.net.ports[p].tx_packets > 0;
    fixture_free(&f);
    return used;
}

static void test_enhanced_ecmp(void **state)
{
    (void)state;
    assert_int_equal(paths_of_a_pair(ROUTING_HASH_TUPLE, ENTROPY_NONE), 1);
    assert_true(paths_of_a_pair(ROUTING_HASH_QP, ENTROPY_NONE) > 3);
    assert_true(paths_of_a_pair(ROUTING_HASH_TUPLE, ENTROPY_QPN) > 3);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ecmp_is_balls_in_bins),
        cmocka_unit_test(test_spraying_is_even),
        cmocka_unit_test(test_static_routes_do_not_collide),
        cmocka_unit_test(test_flowlets),
        cmocka_unit_test(test_enhanced_ecmp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
