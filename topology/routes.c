// SPDX-License-Identifier: MIT
// Breadth-first search from every destination; equal next-hop sets of a switch are stored once.
#include "topology/routes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

struct search {
    const struct graph *g;
    uint16_t *distance; // of each node to the destination
    uint32_t *order;    // nodes as reached
};

// Distances to `dst` over links of dimension `dim`; returns the number of nodes reached.
static uint32_t search_from(struct search *s, uint32_t dst, uint32_t dim)
{
    const struct graph *g = s->g;
    memset(s->distance, 0xff, g->n_nodes * sizeof *s->distance);
    uint32_t n = 0;
    s->distance[dst] = 0;
    s->order[n++] = dst;
    for (uint32_t i = 0; i < n; i++) {
        const struct graph_node *node = &g->nodes[s->order[i]];
        if (node->role == NODE_RANK && s->order[i] != dst)
            continue; // ranks do not forward
        for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
            uint32_t next = g->ports[g->ports[p].peer].node;
            if (g->ports[p].dim != dim || s->distance[next] != UINT16_MAX)
                continue;
            s->distance[next] = (uint16_t)(s->distance[s->order[i]] + 1);
            s->order[n++] = next;
        }
    }
    return n;
}

// The set of ports of `node` one step nearer, as an index; `last` is the set made last for this
// node, which neighbours of a destination mostly share.
static uint32_t set_of(struct routes *r, const struct search *s, uint32_t node, uint32_t dim,
                       uint32_t last)
{
    const struct graph *g = s->g;
    const struct graph_node *n = &g->nodes[node];
    uint32_t first = (uint32_t)r->n_hops, count = 0;
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
        uint32_t next = g->ports[g->ports[p].peer].node;
        bool forwards = g->nodes[next].role != NODE_RANK || s->distance[next] == 0;
        if (g->ports[p].dim != dim || !forwards || s->distance[next] + 1 != s->distance[node])
            continue;
        if (r->n_hops == r->cap_hops)
            r->hops = memory_grow(r->hops, &r->cap_hops, sizeof *r->hops);
        r->hops[r->n_hops++] = (uint16_t)g->ports[p].local;
        count++;
    }
    struct route_set old = r->sets[last];
    if (old.count == count &&
        memcmp(r->hops + old.first, r->hops + first, count * sizeof *r->hops) == 0) {
        r->n_hops = first;
        return last;
    }
    if (r->n_sets == r->cap_sets)
        r->sets = memory_grow(r->sets, &r->cap_sets, sizeof *r->sets);
    r->sets[r->n_sets] = (struct route_set){first, count};
    return r->n_sets++;
}

void routes_build(struct routes *r, const struct graph *g)
{
    *r = (struct routes){.n_ranks = g->n_ranks, .n_switches = g->n_nodes - g->n_ranks};
    r->set = memory_zeroed((size_t)r->n_switches * r->n_ranks, sizeof *r->set);
    r->sets = memory_grow(NULL, &r->cap_sets, sizeof *r->sets);
    r->sets[0] = (struct route_set){0, 0};
    r->n_sets = 1;
    struct search s = {.g = g,
                       .distance = memory_zeroed(g->n_nodes, sizeof *s.distance),
                       .order = memory_zeroed(g->n_nodes, sizeof *s.order)};
    for (uint32_t dim = 0; dim < g->n_dims; dim++)
        for (uint32_t dst = 0; dst < g->n_ranks; dst++) {
            uint32_t n = search_from(&s, dst, dim);
            for (uint32_t i = 0; i < n; i++) {
                uint32_t node = s.order[i];
                if (node < g->n_ranks)
                    continue;
                uint32_t *slot = &r->set[(size_t)(node - r->n_ranks) * r->n_ranks + dst];
                *slot = set_of(r, &s, node, dim, dst > 0 ? slot[-1] : 0);
            }
        }
    free(s.distance);
    free(s.order);
}

void routes_free(struct routes *r)
{
    free(r->set);
    free(r->sets);
    free(r->hops);
    *r = (struct routes){0};
}

uint32_t route_path(const struct routes *r, const struct graph *g, uint32_t src, uint32_t dst,
                    uint32_t dim, uint32_t *ports, uint32_t cap)
{
    const struct graph_node *from = &g->nodes[src];
    for (uint32_t p = from->first_port; p < from->first_port + from->n_ports; p++) {
        if (g->ports[p].dim != dim)
            continue;
        uint32_t n = 0, port = p;
        for (;;) {
            if (n == cap)
                return 0;
            ports[n++] = port;
            uint32_t node = g->ports[g->ports[port].peer].node;
            if (node == dst)
                return n;
            struct route_set set = node < g->n_ranks ? r->sets[0] : routes_get(r, node, dst);
            if (set.count == 0)
                break;
            port = g->nodes[node].first_port + r->hops[set.first];
        }
    }
    return 0;
}
