// SPDX-License-Identifier: MIT
// Links that differ by direction: which direction of each kind's links is the first one. It leads
// away from the ranks, to the router with the larger number, or to the rank with the next
// coordinate (in a ring from the last one to the first).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/graphs.h"

static const struct link_spec unequal[TOPOLOGY_MAX_LINKS] = {
    {.rate_bps = 1000, .delay_ps = 1, .reverse_rate_bps = 2000, .reverse_delay_ps = 2},
    {.rate_bps = 1000, .delay_ps = 1, .reverse_rate_bps = 2000, .reverse_delay_ps = 2},
    {.rate_bps = 1000, .delay_ps = 1, .reverse_rate_bps = 2000, .reverse_delay_ps = 2},
};

static const struct graph_dim dims[] = {
    {"switch", 4, {"planes=2"}},
    {"leaf_spine", 8, {"ranks_per_leaf=2", "spines=2"}},
    {"fat_tree", 8, {"tiers=2"}},
    {"fat_tree", 16, {"tiers=3"}},
    {"rail", 8, {"gpus_per_server=2", "servers_per_pod=2", "spines=2"}},
    {"dragonfly", 8, {"ranks_per_router=1", "routers_per_group=2", "global_links=2"}},
    {"ring", 2, {NULL}},
    {"ring", 5, {"parallel=2"}},
    {"mesh", 5, {NULL}},
    {"fully_connected", 5, {NULL}},
    {"dln", 8, {NULL}},
};

static const unsigned tier[] = {
    [NODE_RANK] = 0,   [NODE_SWITCH] = 1, [NODE_LEAF] = 1,  [NODE_EDGE] = 1, [NODE_RAIL] = 1,
    [NODE_ROUTER] = 1, [NODE_AGG] = 2,    [NODE_SPINE] = 2, [NODE_CORE] = 3};

// True if the port's link leaves in its first direction, by tiers, numbers and distances round the
// ring.
static bool is_first(const struct graph *g, uint32_t port, const struct topology_kind *kind)
{
    const struct graph_node *from = &g->nodes[g->ports[port].node];
    const struct graph_node *to = &g->nodes[g->ports[g->ports[port].peer].node];
    if (tier[from->role] != tier[to->role])
        return tier[from->role] < tier[to->role];
    bool around = kind->direct && kind != topology_find("mesh") &&
                  kind != topology_find("fully_connected") && g->n_ranks > 2;
    if (!around)
        return from->index < to->index;
    // neighbours are at most half of the ring apart; those exactly half apart go upwards
    uint32_t distance = (to->index + g->n_ranks - from->index) % g->n_ranks;
    return 2 * distance == g->n_ranks ? from->index < to->index : 2 * distance < g->n_ranks;
}

static void test_first_direction(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof dims / sizeof *dims; i++) {
        struct graph g;
        const struct topology_kind *kind = topology_find(dims[i].kind);
        assert_non_null(kind);
        uint64_t params[TOPOLOGY_PARAMS_BYTES / 8];
        graphs_params(kind, &dims[i], params);
        graph_init(&g, 1, &dims[i].size);
        g.dim_fabric[0] = kind->fabric;
        kind->build(&g, 0, params, unequal);
        graph_seal(&g);
        assert_true(g.n_ports > 0);
        for (uint32_t p = 0; p < g.n_ports; p++) {
            uint64_t way = is_first(&g, p, kind) ? 1 : 2;
            char name[2 * GRAPH_NAME];
            if (g.ports[p].rate_bps != 1000 * way || g.ports[p].delay_ps != (ps_t)way)
                fail_msg("%s of %u: %s has the other direction's rate or delay", dims[i].kind,
                         dims[i].size, graph_port_name(&g, p, name));
        }
        graph_free(&g);
    }
}

// A link that does not say otherwise is the same in both directions.
static void test_alike(void **state)
{
    (void)state;
    struct graph g;
    static const struct link_spec link = {.rate_bps = 1000, .delay_ps = 7};
    graph_init(&g, 1, (uint32_t[]){2});
    graph_add_link(&g, 0, 1, 0, &link);
    graph_seal(&g);
    graphs_check_ports(&g);
    assert_int_equal(g.ports[1].rate_bps, 1000);
    assert_int_equal(g.ports[1].delay_ps, 7);
    graph_free(&g);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_direction),
        cmocka_unit_test(test_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
