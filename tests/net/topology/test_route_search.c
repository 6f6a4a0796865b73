// SPDX-License-Identifier: MIT
// Searches towards many destinations at once against distances by relaxation (Bellman and Ford):
// random graphs with costs of links, links that are down in one direction, nodes that do not
// forward, and more destinations than one search has bits.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "net/topology/route_search.h"
#include "net/topology/routes.h"

enum { NODES = 160, RANKS = 8, FAR = 1 << 20 };

static const struct link_spec link = {.rate_bps = UINT64_C(100000000000), .delay_ps = 1000};

static void random_graph(struct graph *g, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 0);
    graph_init(g, 1, (uint32_t[]){RANKS});
    for (uint32_t s = RANKS; s < NODES; s++)
        graph_add_switch(g, NODE_SWITCH, 0, s - RANKS, 0);
    for (uint32_t i = 0; i < 3 * NODES; i++) {
        uint32_t a = (uint32_t)rng_below(&rng, NODES), b = (uint32_t)rng_below(&rng, NODES);
        uint8_t cost = (uint8_t)(1 + rng_below(&rng, seed % 2 ? 255 : 3));
        if (a != b)
            graph_add_costly_link(g, a, b, 0, &link, cost);
    }
    graph_seal(g);
    for (uint32_t p = 0; p < g->n_ports; p++)
        g->ports[p].down = rng_below(&rng, 8) == 0;
}

static uint32_t neighbour(const struct graph *g, uint32_t p)
{
    return g->ports[g->ports[p].peer].node;
}

// Distances to `dst`; packets go from a node by ports that are not down, through nodes that
// forward.
static void distances_to(const struct graph *g, uint32_t dst, uint32_t d[NODES])
{
    for (uint32_t i = 0; i < NODES; i++)
        d[i] = i == dst ? 0 : FAR;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t p = 0; p < g->n_ports; p++) {
            const struct graph_port *port = &g->ports[p];
            uint32_t next = neighbour(g, p);
            bool takes = next == dst || route_forwards(g, next, 0);
            if (takes && !port->down && d[next] + port->cost < d[port->node]) {
                d[port->node] = d[next] + port->cost;
                changed = true;
            }
        }
    }
}

static struct found {
    uint32_t distance;
    uint64_t hops[4]; // bits of local ports
} found[NODES][ROUTE_SEARCH_WIDTH];

static void note(void *ctx, const struct route_settled *at)
{
    (void)ctx;
    for (uint32_t bit = 0; bit < ROUTE_SEARCH_WIDTH; bit++) {
        if (!(at->settled >> bit & 1))
            continue;
        struct found *f = &found[at->node][bit];
        assert_int_equal(f->distance, FAR); // once
        f->distance = at->distance;
        for (uint32_t i = 0; i < at->n_hops; i++) {
            assert_true(i == 0 || at->hops[i - 1].port < at->hops[i].port);
            if (at->hops[i].destinations >> bit & 1)
                f->hops[at->hops[i].port / 64] |= (uint64_t)1 << at->hops[i].port % 64;
        }
    }
}

static unsigned check(const struct graph *g, uint32_t node, uint32_t dst, uint32_t bit)
{
    static uint32_t d[NODES];
    unsigned several = 0;
    if (node == 0)
        distances_to(g, dst, d);
    const struct found *f = &found[node][bit];
    assert_int_equal(f->distance, d[node]);
    for (uint32_t i = 0; i < g->nodes[node].n_ports; i++) {
        uint32_t p = g->nodes[node].first_port + i, next = neighbour(g, p);
        bool leads = node != dst && d[node] < FAR && !g->ports[p].down &&
                     (next == dst || route_forwards(g, next, 0)) &&
                     d[next] + g->ports[p].cost == d[node];
        assert_int_equal(f->hops[i / 64] >> i % 64 & 1, leads);
        several += leads;
    }
    return several > 1;
}

static void test_random_graphs(void **state)
{
    (void)state;
    unsigned several = 0, unreached = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct graph g;
        random_graph(&g, seed);
        struct route_search *s = route_search_new(&g, route_forwards);
        for (uint32_t first = 0; first < NODES; first += ROUTE_SEARCH_WIDTH) {
            uint32_t nodes[ROUTE_SEARCH_WIDTH], n = 0;
            while (n < ROUTE_SEARCH_WIDTH && first + n < NODES) {
                nodes[n] = first + n;
                n++;
            }
            for (uint32_t i = 0; i < NODES; i++)
                for (uint32_t bit = 0; bit < n; bit++)
                    found[i][bit] = (struct found){.distance = FAR};
            route_search_to(s, nodes, n, 0, note, NULL);
            for (uint32_t bit = 0; bit < n; bit++)
                for (uint32_t i = 0; i < NODES; i++) {
                    several += check(&g, i, nodes[bit], bit);
                    unreached += found[i][bit].distance == FAR;
                }
        }
        route_search_free(s);
        graph_free(&g);
    }
    assert_true(several > 1000 && unreached > 1000); // both occur
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
