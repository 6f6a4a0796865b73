// SPDX-License-Identifier: MIT
// Tests of next hops: equal-cost sets and paths of fabrics by hand, and random graphs against
// distances by Floyd and Warshall.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "net/topology/routes.h"
#include "net/topology/topology.h"

#define RATE UINT64_C(100000000000)
static const struct link_spec usual = {.rate_bps = RATE, .delay_ps = 1000};
static const struct link_spec near = {.rate_bps = RATE, .delay_ps = 1};

// 12 ranks, 3 leaves of 4 ranks, 2 spines, 3 trunks: nodes 12 to 14 are leaves, 15 and 16 spines.
enum { LEAF = 12, SPINE = 15 };

static void fabric_begin(struct graph *g, struct routes *r)
{
    graph_init(g, 1, (uint32_t[]){12});
    g->dim_fabric[0] = true;
    for (uint32_t l = 0; l < 3; l++)
        graph_add_switch(g, NODE_LEAF, 0, l, 0);
    for (uint32_t s = 0; s < 2; s++)
        graph_add_switch(g, NODE_SPINE, 0, s, 0);
    for (uint32_t rank = 0; rank < 12; rank++)
        graph_add_link(g, rank, LEAF + rank / 4, 0, &usual);
    for (uint32_t i = 0; i < 3 * 2 * 3; i++)
        graph_add_link(g, LEAF + i / 6, SPINE + i / 3 % 2, 0, &usual);
    graph_seal(g);
    assert_int_equal(routes_build(r, g), 0);
}

static uint32_t neighbour(const struct graph *g, uint32_t node, uint32_t local)
{
    return g->ports[g->ports[g->nodes[node].first_port + local].peer].node;
}

static void test_sets_of_a_fabric_with_trunks(void **state)
{
    (void)state;
    struct graph g;
    struct routes r;
    fabric_begin(&g, &r);
    for (uint32_t rank = 0; rank < 12; rank++) {
        for (uint32_t leaf = 0; leaf < 3; leaf++) {
            const uint16_t *hops;
            uint32_t count = routes_get(&r, LEAF + leaf, rank, &hops);
            if (leaf == rank / 4) { // its own rank: one port, to the rank itself
                assert_int_equal(count, 1);
                assert_int_equal(neighbour(&g, LEAF + leaf, hops[0]), rank);
                continue;
            }
            assert_int_equal(count, 6); // all trunks to all spines, each once, in order
            for (uint32_t i = 0; i < 6; i++) {
                assert_int_equal(hops[i], 4 + i);
                assert_int_equal(neighbour(&g, LEAF + leaf, hops[i]), SPINE + i / 3);
            }
        }
        for (uint32_t spine = 0; spine < 2; spine++) {
            const uint16_t *hops;
            uint32_t count = routes_get(&r, SPINE + spine, rank, &hops);
            assert_int_equal(count, 3);
            for (uint32_t i = 0; i < 3; i++)
                assert_int_equal(neighbour(&g, SPINE + spine, hops[i]), LEAF + rank / 4);
        }
    }
    routes_free(&r);
    graph_free(&g);
}

static void test_paths_of_a_fabric(void **state)
{
    (void)state;
    struct graph g;
    struct routes r;
    uint32_t ports[ROUTE_MAX_HOPS];
    fabric_begin(&g, &r);
    for (uint32_t src = 0; src < 12; src++)
        for (uint32_t dst = 0; dst < 12; dst++) {
            if (src == dst)
                continue;
            uint32_t n = route_path(&r, &g, src, dst, 0, ports, ROUTE_MAX_HOPS);
            assert_int_equal(n, src / 4 == dst / 4 ? 2 : 4);
            uint32_t at = src; // must be a chain of links from src to dst
            for (uint32_t h = 0; h < n; h++) {
                assert_int_equal(g.ports[ports[h]].node, at);
                at = g.ports[g.ports[ports[h]].peer].node;
            }
            assert_int_equal(at, dst);
            assert_int_equal(route_path(&r, &g, src, dst, 0, ports, n), n);
            assert_int_equal(route_path(&r, &g, src, dst, 0, ports, n - 1), 0); // not enough room
        }
    routes_free(&r);
    graph_free(&g);
}

// A dimension reaches only its own groups; ranks do not forward between them.
static void test_unreachable(void **state)
{
    (void)state;
    struct graph g;
    struct routes r;
    uint32_t ports[ROUTE_MAX_HOPS];
    const uint64_t planes = 2;
    struct link_spec link = {.rate_bps = RATE, .delay_ps = 1000};
    graph_init(&g, 2, (uint32_t[]){4, 3});
    for (uint32_t d = 0; d < 2; d++)
        topology_find("switch")->build(&g, d, &planes, &link);
    graph_seal(&g);
    assert_int_equal(routes_build(&r, &g), 0);
    for (uint32_t sw = 12; sw < g.n_nodes; sw++)
        for (uint32_t rank = 0; rank < 12; rank++) {
            const uint16_t *hops;
            uint32_t count = routes_get(&r, sw, rank, &hops);
            bool member = false;
            for (uint32_t local = 0; local < g.nodes[sw].n_ports; local++)
                member |= neighbour(&g, sw, local) == rank;
            if (!member)
                continue; // its column may be shared with a member of another group
            assert_int_equal(count, 1);
            assert_int_equal(neighbour(&g, sw, hops[0]), rank);
        }
    assert_int_equal(route_path(&r, &g, 0, 3, 0, ports, ROUTE_MAX_HOPS), 2);
    assert_int_equal(route_path(&r, &g, 0, 3, 1, ports, ROUTE_MAX_HOPS), 0);
    assert_int_equal(route_path(&r, &g, 0, 8, 1, ports, ROUTE_MAX_HOPS), 2);
    assert_int_equal(route_path(&r, &g, 0, 8, 0, ports, ROUTE_MAX_HOPS), 0);
    assert_int_equal(route_path(&r, &g, 0, 5, 0, ports, ROUTE_MAX_HOPS), 0);
    assert_int_equal(route_path(&r, &g, 0, 5, 1, ports, ROUTE_MAX_HOPS), 0);
    routes_free(&r);
    graph_free(&g);
}

#define FAR 1000
#define NODES 40

// Hops between nodes if ranks do not forward: Floyd and Warshall over the switches in between.
static void distances(const struct graph *g, uint32_t d[NODES][NODES])
{
    for (uint32_t a = 0; a < g->n_nodes; a++)
        for (uint32_t b = 0; b < g->n_nodes; b++)
            d[a][b] = a == b ? 0 : FAR;
    for (uint32_t p = 0; p < g->n_ports; p++)
        d[g->ports[p].node][g->ports[g->ports[p].peer].node] = 1;
    for (uint32_t via = g->n_ranks; via < g->n_nodes; via++)
        for (uint32_t a = 0; a < g->n_nodes; a++)
            for (uint32_t b = 0; b < g->n_nodes; b++)
                if (d[a][via] + d[via][b] < d[a][b])
                    d[a][b] = d[a][via] + d[via][b];
}

// 8 ranks with one or two ports on up to 24 randomly linked switches, parallel links included; some
// ranks are disconnected.
static void random_graph(struct graph *g, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 0);
    uint32_t switches = 2 + (uint32_t)rng_below(&rng, 23);
    graph_init(g, 1, (uint32_t[]){8});
    g->dim_fabric[0] = true;
    for (uint32_t s = 0; s < switches; s++)
        graph_add_switch(g, NODE_SWITCH, 0, s, 0);
    for (uint32_t r = 0; r < 8; r++)
        for (uint64_t links = 1 + rng_below(&rng, 2); links > 0; links--)
            graph_add_link(g, r, 8 + (uint32_t)rng_below(&rng, switches), 0, &near);
    for (uint64_t links = rng_below(&rng, 2 * switches + 1); links > 0; links--) {
        uint32_t a = (uint32_t)rng_below(&rng, switches), b = (uint32_t)rng_below(&rng, switches);
        if (a != b)
            graph_add_link(g, 8 + a, 8 + b, 0, &near);
    }
    graph_seal(g);
}

static void test_random_graphs(void **state)
{
    (void)state;
    static uint32_t d[NODES][NODES];
    unsigned unreachable = 0, choices = 0;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct graph g;
        struct routes r;
        random_graph(&g, seed);
        assert_int_equal(routes_build(&r, &g), 0);
        distances(&g, d);
        for (uint32_t sw = 8; sw < g.n_nodes; sw++)
            for (uint32_t rank = 0; rank < 8; rank++) {
                const uint16_t *hops;
                uint32_t count = routes_get(&r, sw, rank, &hops);
                uint32_t n = 0;
                for (uint32_t local = 0; local < g.nodes[sw].n_ports; local++) {
                    uint32_t next = neighbour(&g, sw, local);
                    if (d[sw][rank] >= FAR || d[next][rank] + 1 != d[sw][rank] ||
                        (next < 8 && next != rank))
                        continue;
                    assert_true(n < count);
                    assert_int_equal(hops[n++], local);
                }
                assert_int_equal(count, n);
                unreachable += n == 0;
                choices += n > 1;
            }
        for (uint32_t a = 0; a < 8; a++)
            for (uint32_t b = 0; b < 8; b++) {
                uint32_t ports[ROUTE_MAX_HOPS];
                uint32_t n = a == b ? 0 : route_path(&r, &g, a, b, 0, ports, ROUTE_MAX_HOPS);
                if (a == b || d[a][b] > ROUTE_MAX_HOPS)
                    assert_int_equal(n, 0);
                else
                    assert_int_equal(n, d[a][b]);
            }
        routes_free(&r);
        graph_free(&g);
    }
    assert_true(unreachable > 100 && choices > 100);
}

// Equal sets are stored once over all switches.
static void test_sets_are_shared(void **state)
{
    (void)state;
    struct graph g;
    struct routes r;
    fabric_begin(&g, &r);
    const uint16_t *hops, *before;
    for (uint32_t leaf = 0; leaf < 3; leaf++)
        for (uint32_t rank = 1; rank < 12; rank++)
            if (rank / 4 != leaf && (rank - 1) / 4 != leaf) {
                assert_int_equal(routes_get(&r, LEAF + leaf, rank, &hops), 6);
                routes_get(&r, LEAF + leaf, rank - 1, &before);
                assert_ptr_equal(hops, before);
            }
    assert_int_equal(r.n_groups, 3);
    assert_int_equal(r.n_sets, 1 + 3); // up from every leaf; down to each leaf from every spine
    routes_free(&r);
    graph_free(&g);
}

/* ---- groups that are alike ---- */

enum { GROUPS = 3, MEMBERS = 8, ALL = GROUPS * MEMBERS };

// Three groups of eight ranks with the same random links in dimension 1. `odd`: 1 = one direction
// of a link of one group is down; 2 = one group has one more link; 0 = all groups are equal.
static void groups_begin(struct graph *g, uint64_t seed, unsigned odd)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 0);
    graph_init(g, 2, (uint32_t[]){GROUPS, MEMBERS});
    g->dim_direct[0] = g->dim_direct[1] = true;
    for (uint32_t k = 0; k < MEMBERS; k++)
        for (uint32_t i = 0; i < GROUPS; i++)
            graph_add_link(g, k * GROUPS + i, k * GROUPS + (i + 1) % GROUPS, 0, &near);
    for (unsigned links = 0; links < 12; links++) {
        uint32_t a = (uint32_t)rng_below(&rng, MEMBERS), b = (uint32_t)rng_below(&rng, MEMBERS);
        for (uint32_t i = 0; i < GROUPS && a != b; i++)
            graph_add_link(g, a * GROUPS + i, b * GROUPS + i, 1, &near);
    }
    uint32_t group = (uint32_t)rng_below(&rng, GROUPS);
    if (odd == 2)
        graph_add_link(g, group, (MEMBERS - 1) * GROUPS + group, 1, &near);
    graph_seal(g);
    for (uint32_t p = 0; odd == 1 && p < g->n_ports; p++)
        if (g->ports[p].dim == 1 && g->ports[p].node % GROUPS == group) {
            g->ports[p].down = true;
            break;
        }
}

// Hops in dimension 1 where every rank forwards.
static void hops_in_groups(const struct graph *g, uint32_t d[ALL][ALL])
{
    for (uint32_t a = 0; a < ALL; a++)
        for (uint32_t b = 0; b < ALL; b++)
            d[a][b] = a == b ? 0 : FAR;
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (g->ports[p].dim == 1 && !g->ports[p].down)
            d[g->ports[p].node][g->ports[g->ports[p].peer].node] = 1;
    for (uint32_t via = 0; via < ALL; via++)
        for (uint32_t a = 0; a < ALL; a++)
            for (uint32_t b = 0; b < ALL; b++)
                if (d[a][via] + d[via][b] < d[a][b])
                    d[a][b] = d[a][via] + d[via][b];
}

static void check_groups(const struct graph *g, const struct routes *r)
{
    static uint32_t d[ALL][ALL];
    hops_in_groups(g, d);
    for (uint32_t a = 0; a < ALL; a++)
        for (uint32_t b = 0; b < ALL; b++) {
            uint32_t ports[ROUTE_MAX_HOPS], n = 0;
            if (a == b || a % GROUPS != b % GROUPS)
                continue;
            if (r->only[ALL + a] != ROUTE_NONE) // it has no choice, and no row
                continue;
            assert_int_equal(route_path(r, g, a, b, 1, ports, ROUTE_MAX_HOPS),
                             d[a][b] < FAR ? d[a][b] : 0);
            const uint16_t *hops;
            uint32_t count = routes_from(r, a, b, 1, &hops);
            for (uint32_t local = 0; local < g->nodes[a].n_ports; local++) {
                const struct graph_port *port = &g->ports[g->nodes[a].first_port + local];
                if (port->dim != 1 || port->down || d[a][b] >= FAR ||
                    d[neighbour(g, a, local)][b] + 1 != d[a][b])
                    continue;
                assert_true(n < count);
                assert_int_equal(hops[n++], local);
            }
            assert_int_equal(count, n);
        }
}

// Routes of groups that are copies of the first one, and of a group with a failed link or one link
// more.
static void test_groups(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct graph g;
        struct routes r;
        groups_begin(&g, seed, (unsigned)(seed % 3));
        assert_int_equal(routes_build(&r, &g), 0);
        check_groups(&g, &r);
        routes_free(&r);
        graph_free(&g);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_of_a_fabric_with_trunks),
        cmocka_unit_test(test_paths_of_a_fabric),
        cmocka_unit_test(test_unreachable),
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_sets_are_shared),
        cmocka_unit_test(test_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
