// SPDX-License-Identifier: MIT
// Port patterns against the ports that they match.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/fabric/port_patterns.h"
#include "tests/support/graphs.h"

// 12 ranks in 6 pairs (switches of dimension 0), 3 leaves of 4, 2 spines, 2 trunks (dimension 1).
// Ports in order: 2 of each rank, 2 of each pair's switch, 4 + 4 of each leaf, 6 of each spine.
enum { SWITCH_PORTS = 24, LEAF_PORTS = 36, SPINE_PORTS = 60, PORTS = 72 };

static void build(struct graph *g)
{
    struct link_spec links[2] = {{.rate_bps = 1000, .delay_ps = 1},
                                 {.rate_bps = 1000, .delay_ps = 1}};
    const uint64_t planes = 1, leaf_spine[4] = {4, 2, 2, 1};
    graph_init(g, 2, (uint32_t[]){2, 6});
    topology_find("switch")->build(g, 0, &planes, links);
    g->dim_fabric[1] = true;
    topology_find("leaf_spine")->build(g, 1, leaf_spine, links);
    graph_seal(g);
    assert_int_equal(g->n_ports, PORTS);
}

#define HITS_MAX 400

struct hits {
    uint32_t ports[HITS_MAX];
    size_t n;
};

static void hit(void *ctx, uint32_t port)
{
    struct hits *h = ctx;
    assert_true(h->n < HITS_MAX);
    h->ports[h->n++] = port;
}

static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern;
        size_t n;
        uint32_t ports[12]; // the first 12 of them
    } cases[] = {
        {"rank3", 2, {6, 7}},
        {"rank3:dim0", 1, {6}},
        {"rank3:dim1", 1, {7}},
        {"rank3:dim2", 0, {0}},
        {"rank1", 2, {2, 3}}, // not rank10, rank11
        {"rank1*", 6, {2, 3, 20, 21, 22, 23}},
        {"rank*", 24, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {"rank*:dim1", 12, {1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23}},
        {"dim0.sw0", 2, {24, 25}},
        {"dim0.sw5", 2, {34, 35}},
        {"dim0.sw5:dim0", 2, {34, 35}},
        {"dim0.sw5:dim1", 0, {0}},
        {"dim0.*", 12, {24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35}},
        {"leaf0", 8, {36, 37, 38, 39, 40, 41, 42, 43}},
        {"leaf2", 8, {52, 53, 54, 55, 56, 57, 58, 59}},
        {"leaf3", 0, {0}},
        {"spine1", 6, {66, 67, 68, 69, 70, 71}},
        {"leaf0->spine1", 2, {42, 43}}, // both trunks
        {"spine1->leaf0", 2, {66, 67}},
        {"leaf*->spine0", 6, {40, 41, 48, 49, 56, 57}},
        {"leaf1->*", 8, {44, 45, 46, 47, 48, 49, 50, 51}},
        {"*->rank3", 2, {27, 39}},
        {"rank3->*", 2, {6, 7}},
        {"rank3->leaf0", 1, {7}},
        {"rank3->leaf1", 0, {0}},
        {"*:dim0", 24, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22}},
        {"*", PORTS, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {"*->*", PORTS, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}},
        {"", 0, {0}},
        {"Rank3", 0, {0}},
        {"rank", 0, {0}},
        {"rank3:", 0, {0}},
        {"->", 0, {0}},
    };
    struct graph g;
    build(&g);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct hits h = {.n = 0};
        size_t n = port_patterns_match(&g, cases[c].pattern, hit, &h);
        if (n != cases[c].n || h.n != n)
            fail_msg("%s: %zu ports, told of %zu", cases[c].pattern, n, h.n);
        for (size_t i = 0; i < n && i < 12; i++)
            if (h.ports[i] != cases[c].ports[i])
                fail_msg("%s: port %u instead of %u", cases[c].pattern, h.ports[i],
                         cases[c].ports[i]);
        for (size_t i = 1; i < n; i++)
            assert_true(h.ports[i] > h.ports[i - 1]); // ascending
    }
    graph_free(&g);
}

// Every name of the graph matches its own ports and no others.
static void check_names(const struct graph *g)
{
    for (uint32_t p = 0; p < g->n_ports; p++) {
        char name[2 * GRAPH_NAME];
        struct hits h = {.n = 0}, link = {.n = 0};
        uint32_t node = g->ports[p].node, peer = g->ports[g->ports[p].peer].node;
        port_patterns_match(g, graph_node_name(g, node, name), hit, &h);
        assert_int_equal(h.n, g->nodes[node].n_ports);
        for (size_t i = 0; i < h.n; i++)
            assert_int_equal(h.ports[i], g->nodes[node].first_port + i);
        port_patterns_match(g, graph_port_name(g, p, name), hit, &link);
        bool found = false;
        for (size_t i = 0; i < link.n; i++) {
            assert_int_equal(g->ports[link.ports[i]].node, node);
            assert_int_equal(g->ports[g->ports[link.ports[i]].peer].node, peer);
            found |= link.ports[i] == p;
        }
        assert_true(found);
    }
}

static void test_every_name_finds_itself(void **state)
{
    (void)state;
    static const struct graph_dim kinds[][2] = {
        {{"ring", 4, {0}}, {"mesh", 3, {0}}},
        {{"fully_connected", 5, {0}}, {"dln", 8, {0}}},
        {{"switch", 4, {"planes=2"}},
         {"rail", 4, {"gpus_per_server=4", "servers_per_pod=2", "spines=2"}}},
        {{"ring", 4, {0}},
         {"dragonfly", 6, {"ranks_per_router=2", "routers_per_group=4", "global_links=2"}}},
        {{"fat_tree", 4, {"oversubscription=2"}}, {"fat_tree", 2, {"tiers=2"}}},
    };
    struct graph g;
    build(&g);
    check_names(&g);
    graph_free(&g);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        graphs_build(&g, 2, kinds[k]);
        check_names(&g);
        graph_free(&g);
    }
}

// A place that is not there: the error says how it is written, or what there is. Every link spelt
// from its other end, or with another sign, is led to its name.
static void test_unknown_places(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *want;
    } cases[] = {
        {"rank3->leaf1", "the links of rank3 lead to dim0.sw1, leaf0"},
        {"leaf0->leaf1", "the links of leaf0 lead to rank0, rank1, rank2, rank3, spine0, spine1"},
        {"leaf3", "there are rank0 to rank11, dim0.sw0 to dim0.sw5, leaf0 to leaf2, spine0 to "
                  "spine1, and links such as rank0->dim0.sw0"},
        {"spine1<-leaf0", "write \"leaf0->spine1\""},
        {"leaf0 -> spine1", "write \"leaf0->spine1\""},
        {"", "there are rank0 to rank11"},
    };
    static const char *const signs[] = {"<->", "=>", "--", " to ", "/", "-"};
    struct graph g;
    build(&g);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct err err = {0};
        assert_int_equal(port_patterns_unknown(&g, cases[c].pattern, "at", &err), -1);
        assert_int_equal(err.n_errors, 1);
        if (strstr(err.items[0].text, cases[c].want) == NULL)
            fail_msg("%s: %s", cases[c].pattern, err.items[0].text);
        err_free(&err);
    }
    struct graph shared = g; // rank 3 shares the ports of rank 2
    struct graph_node nodes[64];
    uint32_t shares[2] = {1, 2};
    assert_true(g.n_nodes <= 64);
    memcpy(nodes, g.nodes, g.n_nodes * sizeof *nodes);
    nodes[3].n_ports = 0;
    shared.nodes = nodes;
    shared.dim_share = shares;
    struct err refused = {0};
    assert_int_equal(port_patterns_unknown(&shared, "rank3->leaf0", "at", &refused), -1);
    assert_non_null(
        strstr(refused.items[0].text, "rank3 has no links of its own, it shares those of rank2"));
    err_free(&refused);
    for (uint32_t p = 0; p < g.n_ports; p++)
        for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
            char from[GRAPH_NAME], to[GRAPH_NAME], link[2 * GRAPH_NAME + 2], text[256], want[256];
            struct err err = {0};
            graph_node_name(&g, g.ports[p].node, from);
            graph_node_name(&g, g.ports[g.ports[p].peer].node, to);
            snprintf(text, sizeof text, "%s%s%s", from, signs[i], to);
            snprintf(want, sizeof want, "write \"%s->%s\"", from, to);
            snprintf(link, sizeof link, "%s->%s", from, to);
            port_patterns_unknown(&g, text, "at", &err);
            if (strstr(err.items[0].text, want) == NULL)
                fail_msg("%s: %s", text, err.items[0].text);
            struct hits h = {.n = 0};
            assert_true(port_patterns_match(&g, link, hit, &h) > 0);
            err_free(&err);
        }
    graph_free(&g);
}

static size_t matches(const struct graph *g, const char *pattern)
{
    struct hits h = {.n = 0};
    return port_patterns_match(g, pattern, hit, &h);
}

static void test_places_of_new_kinds(void **state)
{
    (void)state;
    struct graph g;
    graphs_build(
        &g, 2,
        (struct graph_dim[]){{"ring", 4, {0}}, {"rail", 4, {"gpus_per_server=4", "spines=2"}}});
    assert_int_equal(matches(&g, "rank5"), 3);
    assert_int_equal(matches(&g, "rank5:dim0"), 2);
    assert_int_equal(matches(&g, "rank5->rank6"), 1);
    assert_int_equal(matches(&g, "rank5->rank7"), 0);
    assert_int_equal(matches(&g, "rank5->rail1"), 1);
    assert_int_equal(matches(&g, "rail*->spine1"), 4);
    graph_free(&g);
    graphs_build(
        &g, 1,
        (struct graph_dim[]){
            {"dragonfly", 16, {"ranks_per_router=2", "routers_per_group=4", "global_links=1"}}});
    assert_int_equal(matches(&g, "router0->router3"), 1);
    assert_int_equal(matches(&g, "router*->router*"), 2 * (2 * 6 + 4)); // local, and 4 global
    graph_free(&g);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_every_name_finds_itself),
        cmocka_unit_test(test_places_of_new_kinds),
        cmocka_unit_test(test_unknown_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
