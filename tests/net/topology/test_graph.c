// SPDX-License-Identifier: MIT
// Tests of the graphs of the topology kinds: sizes, ports, links, names, joining dimensions.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/graphs.h"

static uint32_t node_named(const struct graph *g, const char *name)
{
    char buf[GRAPH_NAME];
    uint32_t found = GRAPH_NONE;
    for (uint32_t n = 0; n < g->n_nodes; n++)
        if (strcmp(graph_node_name(g, n, buf), name) == 0) {
            assert_int_equal(found, GRAPH_NONE); // names are unique
            found = n;
        }
    assert_int_not_equal(found, GRAPH_NONE);
    return found;
}

static uint32_t links_between(const struct graph *g, uint32_t a, uint32_t b)
{
    uint32_t links = 0;
    for (uint32_t p = 0; p < g->n_ports; p++)
        links += g->ports[p].node == a && g->ports[g->ports[p].peer].node == b;
    return links;
}

static void test_one_switch(void **state)
{
    (void)state;
    struct graph g;
    char name[2 * GRAPH_NAME];
    graphs_build(&g, 1, (struct graph_dim[]){{"switch", 5, {0}}});
    assert_int_equal(g.n_ranks, 5);
    assert_int_equal(g.n_nodes, 6);
    assert_int_equal(g.n_ports, 10);
    graphs_check_ports(&g);
    uint32_t sw = node_named(&g, "dim0.sw0");
    assert_int_equal(g.nodes[sw].n_ports, 5);
    for (uint32_t r = 0; r < 5; r++) {
        assert_int_equal(links_between(&g, r, sw), 1);
        assert_int_equal(g.ports[r].rate_bps, graphs_links[0].rate_bps);
        assert_int_equal(g.ports[r].delay_ps, graphs_links[0].delay_ps);
    }
    assert_string_equal(graph_port_name(&g, 3, name), "rank3->dim0.sw0");
    assert_string_equal(graph_port_name(&g, g.ports[3].peer, name), "dim0.sw0->rank3");
    graph_free(&g);
}

static void test_leaf_spine(void **state)
{
    (void)state;
    struct graph g;
    char name[2 * GRAPH_NAME];
    graphs_build(
        &g, 1,
        (struct graph_dim[]){{"leaf_spine", 12, {"ranks_per_leaf=4", "spines=2", "trunks=3"}}});
    assert_int_equal(g.n_nodes, 12 + 3 + 2);
    assert_int_equal(g.n_ports, 2 * (12 + 3 * 2 * 3));
    graphs_check_ports(&g);
    for (uint32_t l = 0; l < 3; l++) {
        snprintf(name, sizeof name, "leaf%u", l);
        uint32_t leaf = node_named(&g, name);
        assert_int_equal(g.nodes[leaf].role, NODE_LEAF);
        assert_int_equal(g.nodes[leaf].n_ports, 4 + 2 * 3);
        for (uint32_t r = 0; r < 12; r++)
            assert_int_equal(links_between(&g, r, leaf), r / 4 == l);
        for (uint32_t s = 0; s < 2; s++) {
            snprintf(name, sizeof name, "spine%u", s);
            uint32_t spine = node_named(&g, name);
            assert_int_equal(g.nodes[spine].role, NODE_SPINE);
            assert_int_equal(g.nodes[spine].n_ports, 3 * 3);
            assert_int_equal(links_between(&g, leaf, spine), 3);
        }
    }
    for (uint32_t p = 0; p < g.n_ports; p++) { // links and trunks have the given rates and delays
        bool edge = g.ports[p].node < 12 || g.ports[g.ports[p].peer].node < 12;
        assert_int_equal(g.ports[p].rate_bps, graphs_links[!edge].rate_bps);
        assert_int_equal(g.ports[p].delay_ps, graphs_links[!edge].delay_ps);
    }
    uint32_t up = g.nodes[node_named(&g, "leaf1")].first_port + 4;
    assert_string_equal(graph_port_name(&g, up, name), "leaf1->spine0");
    graph_free(&g);
}

// 4 x 3 ranks: switches with planes along dimension 0, switches along dimension 1.
static void test_two_dimensions_of_switches(void **state)
{
    (void)state;
    struct graph g;
    graphs_build(&g, 2, (struct graph_dim[]){{"switch", 4, {"planes=2"}}, {"switch", 3, {0}}});
    assert_int_equal(g.n_ranks, 12);
    assert_int_equal(g.n_nodes, 12 + 3 * 2 + 4);
    assert_int_equal(g.n_ports, 2 * (3 * 2 * 4 + 4 * 3));
    graphs_check_ports(&g);
    for (uint32_t r = 0; r < 12; r++) {
        assert_int_equal(g.nodes[r].n_ports, 3);
        assert_int_equal(graph_coord(&g, r, 0), r % 4);
        assert_int_equal(graph_coord(&g, r, 1), r / 4);
        for (uint32_t local = 0; local < 3; local++)
            assert_int_equal(g.ports[g.nodes[r].first_port + local].dim, local == 2);
        for (uint32_t group = 0; group < 3; group++) {
            static const char *const plane[] = {"", ".p1"};
            for (int p = 0; p < 2; p++) {
                char name[GRAPH_NAME];
                snprintf(name, sizeof name, "dim0.sw%u%s", group, plane[p]);
                uint32_t sw = node_named(&g, name);
                assert_int_equal(g.nodes[sw].n_ports, 4);
                assert_int_equal(links_between(&g, r, sw), r / 4 == group);
            }
        }
        for (uint32_t column = 0; column < 4; column++) {
            char name[GRAPH_NAME];
            snprintf(name, sizeof name, "dim1.sw%u", column);
            uint32_t sw = node_named(&g, name);
            assert_int_equal(g.nodes[sw].n_ports, 3);
            assert_int_equal(links_between(&g, r, sw), r % 4 == column);
        }
    }
    graph_free(&g);
}

static void test_three_dimensions(void **state)
{
    (void)state;
    struct graph g;
    graphs_build(&g, 3,
                 (struct graph_dim[]){{"switch", 2, {0}}, {"switch", 3, {0}}, {"switch", 4, {0}}});
    assert_int_equal(g.n_ranks, 24);
    assert_int_equal(g.n_nodes, 24 + 12 + 8 + 6);
    assert_int_equal(g.n_ports, 2 * 3 * 24);
    graphs_check_ports(&g);
    for (uint32_t a = 0; a < 24; a++) { // a dimension joins ranks that differ only in its
                                        // coordinate
        for (uint32_t b = 0; b < 24; b++) {
            uint32_t common[3] = {0}, differing = 0, which = GRAPH_NONE;
            for (uint32_t d = 0; d < 3; d++)
                if (graph_coord(&g, a, d) != graph_coord(&g, b, d))
                    differing++, which = d;
            for (uint32_t sw = 24; sw < g.n_nodes; sw++)
                common[g.nodes[sw].dim] += links_between(&g, a, sw) && links_between(&g, b, sw);
            for (uint32_t d = 0; d < 3; d++)
                assert_int_equal(common[d], differing == 0 || (differing == 1 && which == d));
            if (a != b)
                assert_int_equal(graph_joining_dim(&g, a, b), differing == 1 ? which : GRAPH_NONE);
        }
    }
    graph_free(&g);
}

// The innermost joining dimension: a group where possible, the fabric for all other pairs.
static void test_joining_dimension_with_a_fabric(void **state)
{
    (void)state;
    struct graph g;
    graphs_build(&g, 2,
                 (struct graph_dim[]){{"switch", 4, {0}},
                                      {"leaf_spine", 3, {"ranks_per_leaf=6", "spines=1"}}});
    assert_int_equal(g.n_ranks, 12); // the fabric has all ranks
    assert_int_equal(g.n_nodes, 12 + 3 + 2 + 1);
    graphs_check_ports(&g);
    for (uint32_t a = 0; a < 12; a++)
        for (uint32_t b = 0; b < 12; b++)
            if (a != b)
                assert_int_equal(graph_joining_dim(&g, a, b), a / 4 == b / 4 ? 0 : 1);
    node_named(&g, "leaf1"); // a single fabric needs no prefix
    node_named(&g, "dim0.sw2");
    graph_free(&g);
    graphs_build(&g, 2,
                 (struct graph_dim[]){{"leaf_spine", 4, {"ranks_per_leaf=2", "spines=1"}},
                                      {"switch", 2, {0}}});
    assert_int_equal(graph_joining_dim(&g, 0, 4), 0); // the inner dimension, though both would join
                                                      // them
    graph_free(&g);
}

static void test_two_fabrics_have_two_names(void **state)
{
    (void)state;
    struct graph g;
    graphs_build(&g, 2,
                 (struct graph_dim[]){{"leaf_spine", 4, {"ranks_per_leaf=4", "spines=1"}},
                                      {"leaf_spine", 2, {"ranks_per_leaf=4", "spines=2"}}});
    assert_int_equal(g.nodes[node_named(&g, "dim0.leaf1")].dim, 0);
    assert_int_equal(g.nodes[node_named(&g, "dim1.leaf1")].dim, 1);
    node_named(&g, "dim1.spine1");
    node_named(&g, "rank7");
    graph_free(&g);
}

static size_t errors_of(const char *kind_name, uint32_t ranks, struct graph_dim dim)
{
    const struct topology_kind *kind = topology_find(kind_name);
    uint64_t params[TOPOLOGY_PARAMS_BYTES / 8];
    struct err err = {0};
    graphs_params(kind, &dim, params);
    kind->check(params, dim.size, ranks, "topology.dims[0]", &err);
    for (size_t i = 0; i < err.n_items; i++)
        assert_ptr_equal(strstr(err.items[i].text, "topology.dims[0]: "), err.items[i].text);
    size_t n = err.n_errors;
    err_free(&err);
    return n;
}

static void test_checks(void **state)
{
    (void)state;
    assert_null(topology_find("torus of doughnuts"));
    assert_int_equal(errors_of("switch", 4095, (struct graph_dim){"", 4095, {0}}), 0);
    assert_int_equal(errors_of("switch", 4096, (struct graph_dim){"", 4096, {0}}), 1);
    const char *fits[] = {"ranks_per_leaf=4", "spines=2", "trunks=3"};
    struct graph_dim d = {"", 12, {fits[0], fits[1], fits[2]}};
    assert_int_equal(errors_of("leaf_spine", 12, d), 0);
    assert_int_equal(errors_of("leaf_spine", 13, d), 1);       // 13 ranks do not fill the leaves
    assert_int_equal(errors_of("leaf_spine", 4 * 1365, d), 0); // a spine of exactly 4095 ports
    assert_int_equal(errors_of("leaf_spine", 4 * 1366, d), 1);
    struct graph_dim wide = {"", 12, {"ranks_per_leaf=2048", "spines=2047"}};
    assert_int_equal(errors_of("leaf_spine", 2048, wide), 0);
    wide.settings[1] = "spines=2048";
    assert_int_equal(errors_of("leaf_spine", 2048, wide), 1);
    struct graph_dim rail = {"", 64, {"gpus_per_server=8", "servers_per_pod=4", "spines=2"}};
    assert_int_equal(errors_of("rail", 64, rail), 0);
    assert_int_equal(errors_of("rail", 60, rail), 1); // 60 ranks do not fill the servers
    assert_int_equal(errors_of("rail", 72, rail), 1); // 72 ranks do not fill the pods
    rail.settings[3] = "trunks=64";                   // 8 rails per pod, with 64 trunks each to a
                                                      // spine
    assert_int_equal(errors_of("rail", 7 * 32, rail), 0);
    assert_int_equal(errors_of("rail", 8 * 32, rail), 1);
    rail.settings[2] = "spines=64"; // 4 + 64 * 64 ports of a rail switch
    assert_int_equal(errors_of("rail", 32, rail), 1);
    struct graph_dim fly = {
        "", 72, {"ranks_per_router=2", "routers_per_group=4", "global_links=2"}};
    assert_int_equal(errors_of("dragonfly", 72, fly), 0);
    assert_int_equal(errors_of("dragonfly", 80, fly), 1); // 10 groups with 8 global links each
    assert_int_equal(errors_of("dragonfly", 76, fly), 1); // 76 ranks do not fill the groups
    struct graph_dim broad = {
        "", 4096, {"ranks_per_router=2048", "routers_per_group=1", "global_links=1024"}};
    assert_int_equal(errors_of("dragonfly", 4096, broad), 0);
    broad.settings[1] = "routers_per_group=1024"; // 2048 + 1023 + 1024 ports
    assert_int_equal(errors_of("dragonfly", 2048 * 1024, broad), 0);
    static const struct {
        const char *kind;
        uint32_t max;
    } direct[] = {{"ring", 513}, {"mesh", 257}, {"fully_connected", 1024}, {"dln", 4096}};
    for (size_t i = 0; i < 4; i++) {
        uint32_t max = direct[i].max;
        assert_int_equal(errors_of(direct[i].kind, max, (struct graph_dim){"", max, {0}}), 0);
        max++;
        assert_int_equal(errors_of(direct[i].kind, max, (struct graph_dim){"", max, {0}}), 1);
    }
    struct graph_dim tree = {"", 48, {"radix=4", "oversubscription=3"}};
    assert_int_equal(errors_of("fat_tree", 48, tree), 0);
    assert_int_equal(errors_of("fat_tree", 49, tree), 1);
    tree.settings[0] = "radix=2048"; // 3 * 1024 + 1024 ports of an edge switch
    assert_int_equal(errors_of("fat_tree", 48, tree), 1);
    tree.settings[1] = "oversubscription=2";
    assert_int_equal(errors_of("fat_tree", 48, tree), 0);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_switch),
        cmocka_unit_test(test_leaf_spine),
        cmocka_unit_test(test_two_dimensions_of_switches),
        cmocka_unit_test(test_three_dimensions),
        cmocka_unit_test(test_joining_dimension_with_a_fabric),
        cmocka_unit_test(test_two_fabrics_have_two_names),
        cmocka_unit_test(test_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
