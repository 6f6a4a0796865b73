// SPDX-License-Identifier: MIT
// The topology kinds against closed forms: numbers of nodes, ports and links, and the length of the
// shortest path of every pair of ranks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/graphs.h"
#include "topology/routes.h"

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

// The path of a pair, which must be a chain of links from one to the other: its links.
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
            bool same = a / 32 == c / 32 && a % 8 == c % 8; // pod and rail
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
            uint32_t links = 0; // between the groups
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
    // Of a rank: itself, its router's other, 3 routers by one local link and the 2 by a global one; by
    // two links the 6 routers behind those and the 6 that a local link goes before; the other 18.
    assert_int_equal(length[0], 72);
    assert_int_equal(length[2], 72 * 1);
    assert_int_equal(length[3], 72 * 2 * (3 + 2));
    assert_int_equal(length[4], 72 * 2 * (6 + 6));
    assert_int_equal(length[5], 72 * 2 * 18);
    end(&b);
}

// 3 groups where 9 could be: 8 global ports go round 2 others 4 times.
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
                assert_in_range(hops(&b, s, d, 0), 3, 4); // every router reaches both others
    end(&b);
    begin(&b, 1, // one group: local links alone
          (struct graph_dim[]){
              {"dragonfly", 8, {"ranks_per_router=2", "routers_per_group=4", "global_links=2"}}});
    assert_int_equal(b.g.n_ports, 2 * (8 + 6));
    assert_int_equal(hops(&b, 0, 7, 0), 3);
    end(&b);
}

// Radix 4, 3:1: an edge has 6 ranks and 2 links up; 8 edges hold 48.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rail),
        cmocka_unit_test(test_dragonfly),
        cmocka_unit_test(test_dragonfly_of_few_groups),
        cmocka_unit_test(test_oversubscribed_fat_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
