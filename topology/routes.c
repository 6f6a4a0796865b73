// SPDX-License-Identifier: MIT
// Breadth-first search from every destination; equal sets of next hops are stored once.
#include "topology/routes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

struct search {
    const struct graph *g;
    uint16_t *distance;  // of each node to the destination
    uint32_t *neighbour; // by port: node at its other end
    uint32_t *order;     // nodes as reached
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
            uint32_t next = s->neighbour[p];
            if (g->ports[p].dim != dim || s->distance[next] != UINT16_MAX)
                continue;
            s->distance[next] = (uint16_t)(s->distance[s->order[i]] + 1);
            s->order[n++] = next;
        }
    }
    return n;
}

// The index of the set that stands at the end of r->ports, `count` long: an old one where it is known.
static uint32_t set_index(struct routes *r, uint32_t count)
{
    uint32_t first = (uint32_t)r->n_ports - count;
    for (uint32_t i = r->n_sets; i-- > 0;) // neighbours of a destination mostly share the last
        if (r->sets[i].count == count &&
            memcmp(r->ports + r->sets[i].first, r->ports + first, count * sizeof *r->ports) == 0) {
            r->n_ports = first;
            return i;
        }
    if (r->n_sets == r->cap_sets)
        r->sets = memory_grow(r->sets, &r->cap_sets, sizeof *r->sets);
    r->sets[r->n_sets] = (struct route_set){first, count};
    return r->n_sets++;
}

// What `node` does with packets to the destination of the search.
static uint16_t next_hop(struct routes *r, const struct search *s, uint32_t node, uint32_t dim)
{
    const struct graph *g = s->g;
    const struct graph_node *n = &g->nodes[node];
    uint32_t count = 0;
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
        uint32_t next = s->neighbour[p];
        bool forwards = g->nodes[next].role != NODE_RANK || s->distance[next] == 0;
        if (g->ports[p].dim != dim || !forwards || s->distance[next] + 1 != s->distance[node])
            continue;
        if (r->n_ports == r->cap_ports)
            r->ports = memory_grow(r->ports, &r->cap_ports, sizeof *r->ports);
        r->ports[r->n_ports++] = (uint16_t)g->ports[p].local;
        count++;
    }
    if (count == 0)
        return ROUTE_NONE;
    if (count > 1)
        return (uint16_t)(ROUTE_SET | set_index(r, count));
    return r->ports[--r->n_ports];
}

static void routes_to(struct routes *r, struct search *s, uint32_t dst, uint32_t dim)
{
    uint32_t n = search_from(s, dst, dim);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = s->order[i];
        if (node >= r->n_ranks)
            r->next[(size_t)(node - r->n_ranks) * r->n_ranks + dst] = next_hop(r, s, node, dim);
    }
}

// Ranks that hang on the same switch by one link each have the same routes everywhere but there.
static bool copy_sibling(struct routes *r, const struct graph *g, uint32_t dst, uint32_t dim)
{
    uint32_t edge[2] = {GRAPH_NONE, GRAPH_NONE}, port = 0;
    for (uint32_t k = 0; k < 2; k++) {
        if (dst < k)
            return false;
        const struct graph_node *rank = &g->nodes[dst - k];
        for (uint32_t p = rank->first_port; p < rank->first_port + rank->n_ports; p++) {
            if (g->ports[p].dim != dim)
                continue;
            if (edge[k] != GRAPH_NONE)
                return false;
            edge[k] = g->ports[g->ports[p].peer].node;
            port = k == 0 ? g->ports[g->ports[p].peer].local : port;
        }
    }
    if (edge[0] == GRAPH_NONE || edge[0] != edge[1] || edge[0] < r->n_ranks)
        return false;
    for (uint32_t s = 0; s < r->n_switches; s++) {
        uint16_t *row = &r->next[(size_t)s * r->n_ranks];
        if (g->nodes[r->n_ranks + s].dim == dim)
            row[dst] = r->n_ranks + s == edge[0] ? (uint16_t)port : row[dst - 1];
    }
    return true;
}

void routes_build(struct routes *r, const struct graph *g)
{
    *r = (struct routes){.n_ranks = g->n_ranks, .n_switches = g->n_nodes - g->n_ranks};
    size_t n = (size_t)r->n_switches * r->n_ranks;
    r->next = memory_zeroed(n, sizeof *r->next);
    memset(r->next, 0xff, n * sizeof *r->next);
    struct search s = {.g = g,
                       .distance = memory_zeroed(g->n_nodes, sizeof *s.distance),
                       .neighbour = memory_zeroed(g->n_ports, sizeof *s.neighbour),
                       .order = memory_zeroed(g->n_nodes, sizeof *s.order)};
    for (uint32_t p = 0; p < g->n_ports; p++)
        s.neighbour[p] = g->ports[g->ports[p].peer].node;
    for (uint32_t dim = 0; dim < g->n_dims; dim++)
        for (uint32_t dst = 0; dst < g->n_ranks; dst++)
            if (!copy_sibling(r, g, dst, dim))
                routes_to(r, &s, dst, dim);
    free(s.distance);
    free(s.neighbour);
    free(s.order);
}

void routes_free(struct routes *r)
{
    free(r->next);
    free(r->sets);
    free(r->ports);
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
            const uint16_t *next;
            if (node < g->n_ranks || routes_get(r, node, dst, &next) == 0)
                break;
            port = g->nodes[node].first_port + next[0];
        }
    }
    return 0;
}
