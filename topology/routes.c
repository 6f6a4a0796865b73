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
            if (g->ports[p].dim != dim || s->distance[next] != UINT16_MAX ||
                g->ports[g->ports[p].peer].down)
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
        if (g->ports[p].dim != dim || !forwards || s->distance[next] + 1 != s->distance[node] ||
            g->ports[p].down)
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

// The only port of a rank in a dimension, or GRAPH_NONE.
static uint32_t only_port(const struct graph *g, uint32_t rank, uint32_t dim)
{
    const struct graph_node *node = &g->nodes[rank];
    uint32_t found = GRAPH_NONE;
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
        if (g->ports[p].dim != dim)
            continue;
        if (found != GRAPH_NONE)
            return GRAPH_NONE;
        found = p;
    }
    return found;
}

// Groups of a dimension; first[group] is its first rank. How many.
static uint32_t make_groups(struct routes *r, const struct graph *g, uint32_t dim, uint32_t *first)
{
    uint16_t *group_at = memory_zeroed(r->n_switches, sizeof *group_at); // + 1; 0 = none yet
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        uint32_t port = only_port(g, rank, dim);
        uint32_t peer = port == GRAPH_NONE ? 0 : g->ports[port].peer;
        uint32_t edge = port == GRAPH_NONE ? GRAPH_NONE : g->ports[peer].node;
        bool shared = edge != GRAPH_NONE && edge >= r->n_ranks;
        size_t at = (size_t)dim * r->n_ranks + rank;
        if (shared && group_at[edge - r->n_ranks]) {
            r->group[at] = (uint16_t)(group_at[edge - r->n_ranks] - 1);
        } else {
            r->group[at] = (uint16_t)n;
            if (shared)
                group_at[edge - r->n_ranks] = (uint16_t)(n + 1);
            first[n++] = rank;
        }
        if (shared)
            r->port[at] = (uint16_t)g->ports[peer].local;
    }
    free(group_at);
    return n;
}

// A column: what every switch of the dimension does with packets to a group.
static void routes_to(struct routes *r, struct search *s, uint32_t rank, uint32_t dim)
{
    uint32_t port = only_port(s->g, rank, dim);
    uint32_t edge = port == GRAPH_NONE ? GRAPH_NONE : s->neighbour[port];
    bool grouped =
        edge != GRAPH_NONE && edge >= r->n_ranks; // then the rank's own link says nothing
    uint32_t n = search_from(s, grouped ? edge : rank, dim);
    uint32_t group = r->group[(size_t)dim * r->n_ranks + rank];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = s->order[i];
        if (node >= r->n_ranks)
            r->next[(size_t)(node - r->n_ranks) * r->n_groups + group] =
                node == edge ? ROUTE_HERE : next_hop(r, s, node, dim);
    }
}

void routes_build(struct routes *r, const struct graph *g)
{
    *r = (struct routes){
        .n_ranks = g->n_ranks, .n_switches = g->n_nodes - g->n_ranks, .n_dims = g->n_dims};
    r->dim = memory_zeroed(r->n_switches, sizeof *r->dim);
    for (uint32_t i = 0; i < r->n_switches; i++)
        r->dim[i] = g->nodes[r->n_ranks + i].dim;
    size_t cells = (size_t)g->n_dims * r->n_ranks;
    r->group = memory_zeroed(cells, sizeof *r->group);
    r->port = memory_zeroed(cells, sizeof *r->port);
    uint32_t *first = memory_zeroed(cells, sizeof *first);
    uint32_t *n_groups = memory_zeroed(g->n_dims, sizeof *n_groups);
    for (uint32_t dim = 0; dim < g->n_dims; dim++) {
        n_groups[dim] = make_groups(r, g, dim, first + (size_t)dim * r->n_ranks);
        r->n_groups = n_groups[dim] > r->n_groups ? n_groups[dim] : r->n_groups;
    }
    r->next = memory_zeroed((size_t)r->n_switches * r->n_groups, sizeof *r->next);
    memset(r->next, 0xff, (size_t)r->n_switches * r->n_groups * sizeof *r->next);
    struct search s = {.g = g,
                       .distance = memory_zeroed(g->n_nodes, sizeof *s.distance),
                       .neighbour = memory_zeroed(g->n_ports, sizeof *s.neighbour),
                       .order = memory_zeroed(g->n_nodes, sizeof *s.order)};
    for (uint32_t p = 0; p < g->n_ports; p++)
        s.neighbour[p] = g->ports[g->ports[p].peer].node;
    for (uint32_t dim = 0; dim < g->n_dims; dim++)
        for (uint32_t i = 0; i < n_groups[dim]; i++)
            routes_to(r, &s, first[(size_t)dim * r->n_ranks + i], dim);
    free(s.distance);
    free(s.neighbour);
    free(s.order);
    free(first);
    free(n_groups);
}

void routes_free(struct routes *r)
{
    free(r->next);
    free(r->dim);
    free(r->group);
    free(r->port);
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
