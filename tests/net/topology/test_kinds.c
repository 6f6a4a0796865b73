// SPDX-License-Identifier: MIT
// Tests of the topology kinds against closed forms: numbers of nodes, ports and links, and the
// length of the shortest path of every pair of ranks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "net/topology/graph_kind.h"
#include "net/topology/routes.h"
#include "tests/support/graphs.h"

struct built {
    struct graph g;
    struct routes r;
};

static void begin(struct built *b, uint32_t n, const struct graph_dim *dims)
{
    graphs_build(&b->g, n, dims);
    graphs_check_ports(&b->g);
    assert_int_equal(routes_build(&b->r, &b->g), 0);
}

static void end(struct built *b)
{
    routes_free(&b->r);
    graph_free(&b->g);
}

// Returns the number of links of a pair's path, which must be a chain of links from one rank to the
// other.
static uint32_t path(const struct built *b, uint32_t src, uint32_t dst, uint32_t dim,
                     uint32_t ports[ROUTE_MAX_HOPS])
{
    uint32_t n = route_path(&b->r, &b->g, src, dst, dim, ports, ROUTE_MAX_HOPS), at = src;
    for (uint32_t h = 0; h < n; h++) {
        assert_int_equal(b->g.ports[ports[h]].node, at);
        at = b->g.ports[b->g.ports[ports[h]].peer].node;
    }
    assert_true(n == 0 || at == dst);
    return n;
}

static uint32_t hops(const struct built *b, uint32_t src, uint32_t dst, uint32_t dim)
{
    uint32_t ports[ROUTE_MAX_HOPS];
    return path(b, src, dst, dim, ports);
}

static uint32_t nodes_with(const struct graph *g, enum node_role role, uint32_t n_ports)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        n += g->nodes[i].role == role && g->nodes[i].n_ports == n_ports;
    return n;
}

/* ---- switched kinds ---- */

// 3 pods of 4 servers of 8 GPUs, 5 spines, 2 trunks.
static void test_rail(void **state)
{
    (void)state;
    struct built b;
    char name[GRAPH_NAME];
    begin(&b, 1,
          (struct graph_dim[]){
              {"rail", 96, {"gpus_per_server=8", "servers_per_pod=4", "spines=5", "trunks=2"}}});
    assert_int_equal(nodes_with(&b.g, NODE_RAIL, 4 + 5 * 2), 3 * 8);
    assert_int_equal(nodes_with(&b.g, NODE_SPINE, 3 * 8 * 2), 5);
    assert_int_equal(b.g.n_nodes, 96 + 24 + 5);
    assert_int_equal(b.g.n_ports, 2 * (96 + 24 * 5 * 2));
    assert_string_equal(graph_node_name(&b.g, 96 + 9, name), "rail9");
    for (uint32_t a = 0; a < 96; a++)
        for (uint32_t c = 0; c < 96; c++) {
            bool same = a / 32 == c / 32 && a % 8 == c % 8; // same pod and same rail
            assert_int_equal(hops(&b, a, c, 0), a == c ? 0 : same ? 2 : 4);
        }
    const uint16_t *ports;
    assert_int_equal(routes_get(&b.r, 96, 1, &ports), 10); // every trunk to every spine
    assert_int_equal(b.r.n_groups, 24);
    end(&b);
    begin(&b, 1, (struct graph_dim[]){{"rail", 96, {"gpus_per_server=8", "spines=5"}}});
    assert_int_equal(nodes_with(&b.g, NODE_RAIL, 12 + 5), 8); // one pod
    end(&b);
}

// p 2, a 4, h 2: the paper's figure 5, 9 groups, one link between every two.
static void test_dragonfly(void **state)
{
    (void)state;
    struct built b;
    char name[GRAPH_NAME];
    unsigned length[6] = {0};
    begin(&b, 1,
          (struct graph_dim[]){
              {"dragonfly", 72, {"ranks_per_router=2", "routers_per_group=4", "global_links=2"}}});
    assert_int_equal(nodes_with(&b.g, NODE_ROUTER, 2 + 3 + 2), 36);
    assert_int_equal(b.g.n_nodes, 72 + 36);
    assert_int_equal(b.g.n_ports, 2 * (72 + 9 * 6 + 36));
    assert_string_equal(graph_node_name(&b.g, 72 + 35, name), "router35");
    for (uint32_t x = 0; x < 9; x++)
        for (uint32_t y = 0; y < 9; y++) {
            uint32_t links = 0; // links between the two groups
            for (uint32_t p = 0; p < b.g.n_ports; p++) {
                uint32_t from = b.g.ports[p].node, to = b.g.ports[b.g.ports[p].peer].node;
                links += from >= 72 && to >= 72 && (from - 72) / 4 == x && (to - 72) / 4 == y;
            }
            assert_int_equal(links, x == y ? 4 * 3 : 1);
        }
    for (uint32_t s = 0; s < 72; s++)
        for (uint32_t d = 0; d < 72; d++) {
            uint32_t ports[ROUTE_MAX_HOPS], n = s == d ? 0 : path(&b, s, d, 0, ports), global = 0;
            for (uint32_t h = 0; h < n; h++)
                global += b.g.ports[ports[h]].rate_bps == graphs_links[2].rate_bps;
            assert_int_equal(global, s / 8 != d / 8); // minimal: local, global, local
            assert_true(s == d || n == 2 || s / 2 != d / 2);
            assert_true(n <= 5);
            length[n]++;
        }
    // From each rank: itself; the other rank of its router; the ranks of 3 routers at one local and
    // of 2 at one global link; of 6 routers at a global and a local link, and of 6 at a local and a
    // global link; of the other 18 routers at three links.
    assert_int_equal(length[0], 72);
    assert_int_equal(length[2], 72 * 1);
    assert_int_equal(length[3], 72 * 2 * (3 + 2));
    assert_int_equal(length[4], 72 * 2 * (6 + 6));
    assert_int_equal(length[5], 72 * 2 * 18);
    end(&b);
}

// 3 groups instead of 9: the 8 global ports of a group give 4 links to each of 2 other groups.
static void test_dragonfly_of_few_groups(void **state)
{
    (void)state;
    struct built b;
    begin(&b, 1,
          (struct graph_dim[]){
              {"dragonfly", 24, {"ranks_per_router=2", "routers_per_group=4", "global_links=2"}}});
    assert_int_equal(nodes_with(&b.g, NODE_ROUTER, 2 + 3 + 2), 12);
    assert_int_equal(b.g.n_ports, 2 * (24 + 3 * 6 + 3 * 4));
    for (uint32_t s = 0; s < 24; s++)
        for (uint32_t d = 0; d < 24; d++)
            if (s / 2 != d / 2)
                assert_in_range(hops(&b, s, d, 0), 3, 4); // every router has links to both other
                                                          // groups
    end(&b);
    begin(&b, 1, // one group: only local links
          (struct graph_dim[]){
              {"dragonfly", 8, {"ranks_per_router=2", "routers_per_group=4", "global_links=2"}}});
    assert_int_equal(b.g.n_ports, 2 * (8 + 6));
    assert_int_equal(hops(&b, 0, 7, 0), 3);
    end(&b);
}

// Radix 4, 3:1: an edge switch has 6 ranks and 2 uplinks; 8 edges hold 48 ranks.
static void test_oversubscribed_fat_tree(void **state)
{
    (void)state;
    struct built b;
    begin(&b, 1, (struct graph_dim[]){{"fat_tree", 48, {"oversubscription=3"}}});
    assert_int_equal(nodes_with(&b.g, NODE_EDGE, 6 + 2), 8);
    assert_int_equal(nodes_with(&b.g, NODE_AGG, 4), 8);
    assert_int_equal(nodes_with(&b.g, NODE_CORE, 4), 4);
    for (uint32_t s = 0; s < 48; s++)
        for (uint32_t d = 0; d < 48; d++)
            assert_int_equal(hops(&b, s, d, 0), s == d             ? 0
                                                : s / 6 == d / 6   ? 2
                                                : s / 12 == d / 12 ? 4
                                                                   : 6);
    end(&b);
}

/* ---- direct kinds ---- */

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static uint32_t ring_distance(uint32_t i, uint32_t j, uint32_t n)
{
    uint32_t d = i > j ? i - j : j - i;
    return least(d, n - d);
}
static uint32_t mesh_distance(uint32_t i, uint32_t j, uint32_t n)
{
    (void)n;
    return i > j ? i - j : j - i;
}
static uint32_t full_distance(uint32_t i, uint32_t j, uint32_t n)
{
    (void)n;
    return i != j;
}
// Number of nonzero digits in the shortest form with digits -1, 0, 1 (non-adjacent form).
static uint32_t signed_digits(uint32_t d) { return (uint32_t)__builtin_popcount((3 * d) ^ d); }
// For a size that is a power of two, a step of the size itself has no cost.
static uint32_t dln_distance(uint32_t i, uint32_t j, uint32_t n)
{
    uint32_t d = (j + n - i) % n;
    return least(signed_digits(d), signed_digits(n - d));
}

static const struct direct_case {
    const char *kind;
    uint32_t size, links;
    uint32_t (*distance)(uint32_t i, uint32_t j, uint32_t n);
} direct_cases[] = {
    {"ring", 1, 0, ring_distance},
    {"ring", 2, 1, ring_distance}, // no double link
    {"ring", 3, 3, ring_distance},
    {"ring", 8, 8, ring_distance},
    {"ring", 513, 513, ring_distance},
    {"mesh", 1, 0, mesh_distance},
    {"mesh", 2, 1, mesh_distance},
    {"mesh", 9, 8, mesh_distance},
    {"mesh", 257, 256, mesh_distance},
    {"fully_connected", 1, 0, full_distance},
    {"fully_connected", 2, 1, full_distance},
    {"fully_connected", 9, 36, full_distance},
    {"dln", 1, 0, full_distance},
    {"dln", 2, 1, full_distance},
    {"dln", 3, 3, full_distance},  // distance 2 is distance 1 in the other direction
    {"dln", 4, 6, full_distance},  // distance 1, and 2 across, once
    {"dln", 5, 10, full_distance}, // distances 1 and 2; 4 is 1 in the other direction
    {"dln", 7, 21, full_distance}, // distances 1, 2, 4 in both directions
    {"dln", 8, 8 + 8 + 4, dln_distance},
    {"dln", 128, 6 * 128 + 64, dln_distance},
};

// The ranks whose distances to and from all others are checked: all ranks of small networks, else a
// sample.
static bool measured(uint32_t i, uint32_t size) { return size < 130 || i % 37 == 0; }

static void check_direct(const struct direct_case *c)
{
    struct built b;
    begin(&b, 1, (struct graph_dim[]){{c->kind, c->size, {0}}});
    assert_int_equal(b.g.n_nodes, c->size);
    assert_int_equal(b.g.n_ports, 2 * c->links);
    for (uint32_t i = 0; i < c->size; i++)
        for (uint32_t j = 0; j < c->size && measured(i, c->size); j++) {
            uint32_t d = i == j ? 0 : c->distance(i, j, c->size), neighbours = 0;
            if (hops(&b, i, j, 0) != d)
                fail_msg("%s of %u: %u to %u", c->kind, c->size, i, j);
            for (uint32_t p = 0; p < b.g.nodes[i].n_ports; p++)
                neighbours += b.g.ports[b.g.ports[b.g.nodes[i].first_port + p].peer].node == j;
            assert_int_equal(neighbours, d == 1); // exactly one link
        }
    end(&b);
}

static void test_direct_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof direct_cases / sizeof *direct_cases; i++)
        check_direct(&direct_cases[i]);
}

// Parallel links are equal-cost first hops. Those of a ring lead in both directions, those of a
// pair to the other rank.
static void test_parallel_links(void **state)
{
    (void)state;
    static const struct {
        const char *kind;
        uint32_t size, links, first_hops, width; // from rank 0 to rank 1; width as closed forms
                                                 // count it
    } cases[] = {{"ring", 6, 18, 3, 6}, {"ring", 2, 3, 3, 3}, {"fully_connected", 4, 18, 3, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct built b;
        const uint16_t *ports;
        struct graph_dim dim = {cases[i].kind, cases[i].size, {"parallel=3"}};
        uint64_t params[TOPOLOGY_PARAMS_BYTES / 8];
        const struct topology_kind *kind = topology_find(dim.kind);
        begin(&b, 1, &dim);
        assert_int_equal(b.g.n_ports, 2 * cases[i].links);
        assert_int_equal(routes_from(&b.r, 0, 1, 0, &ports), cases[i].first_hops);
        assert_int_equal(hops(&b, 0, 1, 0), 1);
        graphs_params(kind, &dim, params);
        assert_int_equal(kind->width(params, cases[i].size), cases[i].width);
        end(&b);
    }
}

// A torus of 4 x 3: rings along both coordinates, no diagonal links.
static void test_torus(void **state)
{
    (void)state;
    struct built b;
    begin(&b, 2, (struct graph_dim[]){{"ring", 4, {0}}, {"ring", 3, {0}}});
    assert_int_equal(b.g.n_ports, 2 * (3 * 4 + 4 * 3));
    for (uint32_t i = 0; i < 12; i++) {
        assert_int_equal(b.g.nodes[i].n_ports, 4);
        for (uint32_t j = 0; j < 12; j++) {
            bool row = i / 4 == j / 4, column = i % 4 == j % 4;
            assert_int_equal(hops(&b, i, j, 0), row ? ring_distance(i % 4, j % 4, 4) : 0);
            assert_int_equal(hops(&b, i, j, 1), column ? ring_distance(i / 4, j / 4, 3) : 0);
        }
    }
    end(&b);
}

// The far side of an even ring is equally far in both directions: two equal-cost first hops there,
// one elsewhere.
static void test_equal_ways_round_a_ring(void **state)
{
    (void)state;
    struct built b;
    begin(&b, 1, (struct graph_dim[]){{"ring", 6, {0}}});
    for (uint32_t i = 0; i < 6; i++)
        for (uint32_t j = 0; j < 6; j++) {
            const uint16_t *ports;
            if (i != j)
                assert_int_equal(routes_from(&b.r, i, j, 0, &ports),
                                 ring_distance(i, j, 6) == 3 ? 2 : 1);
        }
    end(&b);
}

// Planes are equal-cost first hops, in order.
static void test_planes(void **state)
{
    (void)state;
    struct built b;
    const uint16_t *ports;
    begin(&b, 2, (struct graph_dim[]){{"ring", 3, {0}}, {"switch", 4, {"planes=3"}}});
    assert_int_equal(routes_from(&b.r, 1, 10, 1, &ports), 3);
    for (uint32_t plane = 0; plane < 3; plane++)
        assert_int_equal(ports[plane], 2 + plane); // after those of the ring
    assert_int_equal(hops(&b, 1, 10, 1), 2);
    end(&b);
}

/* ---- graphs ---- */

// A torus of 5 x 4 as one fabric of links between ranks that forward: the distances along both
// coordinates add up.
static void test_graph_with_transit(void **state)
{
    (void)state;
    struct graph_link links[40];
    struct graph_params params = {.transit = true, .links = links};
    for (uint32_t i = 0; i < 20; i++) {
        uint32_t right = i / 5 * 5 + (i + 1) % 5, down = (i + 5) % 20;
        links[params.n_links++] =
            (struct graph_link){{{i, false}, {right, false}}, graphs_links[0]};
        links[params.n_links++] = (struct graph_link){{{i, false}, {down, false}}, graphs_links[1]};
    }
    struct built b;
    graph_init(&b.g, 1, (uint32_t[]){20});
    b.g.dim_fabric[0] = true;
    topology_graph.build(&b.g, 0, &params, NULL);
    graph_seal(&b.g);
    graphs_check_ports(&b.g);
    assert_int_equal(routes_build(&b.r, &b.g), 0);
    assert_int_equal(b.g.n_ports, 80);
    assert_int_equal(b.r.longest, 2 + 2);
    for (uint32_t i = 0; i < 20; i++)
        for (uint32_t j = 0; j < 20; j++)
            assert_int_equal(hops(&b, i, j, 0),
                             ring_distance(i % 5, j % 5, 5) + ring_distance(i / 5, j / 5, 4));
    end(&b);
}

// A rank with two switches uses the one nearer to the destination.
static void test_graph_of_two_switches(void **state)
{
    (void)state;
    struct graph_link links[] = {
        {{{0, false}, {0, true}}, graphs_links[0]}, {{{0, false}, {1, true}}, graphs_links[0]},
        {{{1, false}, {0, true}}, graphs_links[0]}, {{{2, false}, {1, true}}, graphs_links[0]},
        {{{0, true}, {1, true}}, graphs_links[1]},
    };
    struct graph_params params = {.switches = 2, .links = links, .n_links = 5};
    struct built b;
    char name[GRAPH_NAME];
    const uint16_t *ports;
    graph_init(&b.g, 1, (uint32_t[]){3});
    b.g.dim_fabric[0] = true;
    topology_graph.build(&b.g, 0, &params, NULL);
    graph_seal(&b.g);
    assert_int_equal(routes_build(&b.r, &b.g), 0);
    assert_string_equal(graph_node_name(&b.g, 4, name), "dim0.sw1");
    for (uint32_t to = 1; to <= 2; to++) {
        assert_int_equal(routes_from(&b.r, 0, to, 0, &ports), 1);
        assert_int_equal(ports[0], to - 1);
        assert_int_equal(hops(&b, 0, to, 0), 2);
        assert_int_equal(hops(&b, to, 0, 0), 2);
    }
    assert_int_equal(hops(&b, 1, 2, 0), 3); // not through rank 0
    end(&b);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rail),
        cmocka_unit_test(test_dragonfly),
        cmocka_unit_test(test_dragonfly_of_few_groups),
        cmocka_unit_test(test_oversubscribed_fat_tree),
        cmocka_unit_test(test_direct_kinds),
        cmocka_unit_test(test_torus),
        cmocka_unit_test(test_parallel_links),
        cmocka_unit_test(test_equal_ways_round_a_ring),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_graph_with_transit),
        cmocka_unit_test(test_graph_of_two_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
