// SPDX-License-Identifier: MIT
// Building of the graph, and names of its nodes and ports.
#include "net/topology/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

void graph_init(struct graph *g, uint32_t n_dims, const uint32_t *dim_size)
{
    *g = (struct graph){.n_dims = n_dims, .n_ranks = 1};
    g->dim_size = memory_zeroed(n_dims, sizeof *g->dim_size);
    g->dim_fabric = memory_zeroed(n_dims, sizeof *g->dim_fabric);
    g->dim_direct = memory_zeroed(n_dims, sizeof *g->dim_direct);
    g->dim_share = memory_zeroed(n_dims, sizeof *g->dim_share);
    for (uint32_t d = 0; d < n_dims; d++) {
        g->dim_size[d] = dim_size[d];
        g->dim_share[d] = 1;
        g->n_ranks *= dim_size[d];
    }
    g->nodes = memory_zeroed(g->n_ranks, sizeof *g->nodes);
    g->cap_nodes = g->n_nodes = g->n_ends = g->n_ranks;
    for (uint32_t r = 0; r < g->n_ranks; r++)
        g->nodes[r] = (struct graph_node){.role = NODE_RANK, .index = r};
}

void graph_free(struct graph *g)
{
    free(g->dim_size);
    free(g->dim_fabric);
    free(g->dim_direct);
    free(g->dim_share);
    free(g->nodes);
    free(g->ports);
    *g = (struct graph){0};
}

uint32_t graph_add_switch(struct graph *g, enum node_role role, uint32_t dim, uint32_t index,
                          uint32_t plane)
{
    if (g->n_nodes == g->cap_nodes)
        g->nodes = memory_grow(g->nodes, &g->cap_nodes, sizeof *g->nodes);
    g->nodes[g->n_nodes] = (struct graph_node){
        .role = (uint8_t)role, .dim = (uint8_t)dim, .index = index, .plane = plane};
    return g->n_nodes++;
}

static void add_port(struct graph *g, uint32_t node, uint32_t peer, uint32_t dim, uint64_t rate_bps,
                     ps_t delay_ps, uint8_t cost)
{
    if (g->n_ports == g->cap_ports)
        g->ports = memory_grow(g->ports, &g->cap_ports, sizeof *g->ports);
    g->ports[g->n_ports++] = (struct graph_port){.node = node,
                                                 .local = g->nodes[node].n_ports++,
                                                 .peer = peer,
                                                 .dim = (uint8_t)dim,
                                                 .cost = cost,
                                                 .rate_bps = rate_bps,
                                                 .delay_ps = delay_ps};
}

void graph_add_costly_link(struct graph *g, uint32_t a, uint32_t b, uint32_t dim,
                           const struct link_spec *link, uint8_t cost)
{
    if ((a < g->n_ranks && graph_owner(g, a, dim) != a) ||
        (b < g->n_ranks && graph_owner(g, b, dim) != b))
        return; // the rank uses the ports of another rank
    bool alike = link->reverse_rate_bps == 0;
    uint32_t first = g->n_ports;
    add_port(g, a, first + 1, dim, link->rate_bps, link_delay_ps(link), cost);
    add_port(g, b, first, dim, alike ? link->rate_bps : link->reverse_rate_bps,
             link_back_delay_ps(link), cost);
}

void graph_add_link(struct graph *g, uint32_t a, uint32_t b, uint32_t dim,
                    const struct link_spec *link)
{
    graph_add_costly_link(g, a, b, dim, link, 1);
}

void graph_reserve_aggregators(struct graph *g, uint32_t n)
{
    g->nodes = memory_resize(g->nodes, g->n_ranks + n, sizeof *g->nodes);
    memset(g->nodes + g->n_ranks, 0, n * sizeof *g->nodes);
    g->cap_nodes = g->n_nodes = g->n_ends = g->n_ranks + n;
}

void graph_add_aggregator(struct graph *g, uint32_t index, uint32_t sw,
                          const struct link_spec *link)
{
    uint32_t node = g->n_ranks + index, dim = g->nodes[sw].dim;
    g->nodes[node] = (struct graph_node){
        .role = NODE_AGGREGATOR, .dim = (uint8_t)dim, .index = index, .plane = g->nodes[sw].plane};
    graph_add_link(g, node, sw, dim, link);
}

void graph_add_trunks(struct graph *g, uint32_t first_a, uint32_t n_a, uint32_t first_b,
                      uint32_t n_b, uint32_t parallel, uint32_t dim, const struct link_spec *link)
{
    for (uint32_t a = first_a; a < first_a + n_a; a++)
        for (uint32_t b = first_b; b < first_b + n_b; b++)
            for (uint32_t t = 0; t < parallel; t++)
                graph_add_link(g, a, b, dim, link);
}

void graph_seal(struct graph *g)
{
    uint32_t next = 0;
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        g->nodes[n].first_port = next;
        next += g->nodes[n].n_ports;
    }
    struct graph_port *sorted = memory_zeroed(g->n_ports, sizeof *sorted);
    for (uint32_t p = 0; p < g->n_ports; p++) {
        struct graph_port port = g->ports[p];
        const struct graph_port *peer = &g->ports[port.peer];
        port.peer = g->nodes[peer->node].first_port + peer->local;
        sorted[g->nodes[port.node].first_port + port.local] = port;
    }
    free(g->ports);
    g->ports = sorted;
    g->cap_ports = g->n_ports;
}

uint32_t graph_ports_in(const struct graph *g, uint32_t rank, uint32_t d, uint32_t *first)
{
    const struct graph_node *node = &g->nodes[rank];
    uint32_t n = 0;
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (g->ports[p].dim == d && n++ == 0)
            *first = p;
    return n;
}

// Ranks that share ports are consecutive ranks in a fabric, else ranks with consecutive coordinates
// in the dimension.
uint32_t graph_owner(const struct graph *g, uint32_t rank, uint32_t d)
{
    uint32_t share = g->dim_share[d], stride = 1;
    if (share <= 1 || rank >= g->n_ranks)
        return rank;
    if (g->dim_fabric[d])
        return rank - rank % share;
    for (uint32_t i = 0; i < d; i++)
        stride *= g->dim_size[i];
    return rank - rank / stride % g->dim_size[d] % share * stride;
}

uint32_t graph_coord(const struct graph *g, uint32_t rank, uint32_t d)
{
    for (uint32_t i = 0; i < d; i++)
        rank /= g->dim_size[i];
    return rank % g->dim_size[d];
}

// Returns the only dimension in which the coordinates of two ranks differ, or GRAPH_NONE.
static uint32_t differing_dim(const struct graph *g, uint32_t a, uint32_t b)
{
    uint32_t only = GRAPH_NONE;
    for (uint32_t d = 0; d < g->n_dims; d++) {
        uint32_t size = g->dim_size[d];
        if (a % size != b % size) {
            if (only != GRAPH_NONE)
                return GRAPH_NONE;
            only = d;
        }
        a /= size;
        b /= size;
    }
    return only;
}

bool graph_dim_joins(const struct graph *g, uint32_t a, uint32_t b, uint32_t d)
{
    if (graph_is_aggregator(g, a) || graph_is_aggregator(g, b))
        return a != b && graph_joining_dim(g, a, b) == d;
    return a != b && (g->dim_fabric[d] || differing_dim(g, a, b) == d);
}

uint32_t graph_joining_dim(const struct graph *g, uint32_t a, uint32_t b)
{
    if (graph_is_aggregator(g, a) || graph_is_aggregator(g, b))
        return g->nodes[graph_is_aggregator(g, a) ? a : b].dim;
    uint32_t differing = differing_dim(g, a, b);
    for (uint32_t d = 0; d < g->n_dims; d++)
        if (g->dim_fabric[d] || differing == d)
            return d;
    return GRAPH_NONE;
}

static bool fabrics_share_names(const struct graph *g)
{
    unsigned fabrics = 0;
    for (uint32_t d = 0; d < g->n_dims; d++)
        fabrics += g->dim_fabric[d];
    return fabrics > 1;
}

const char *graph_node_name(const struct graph *g, uint32_t node, char buf[GRAPH_NAME])
{
    static const char *const role[] = {"rank", "sw",   "leaf", "spine", "edge",
                                       "agg",  "core", "rail", "router"};
    const struct graph_node *n = &g->nodes[node];
    if (n->role == NODE_AGGREGATOR) {
        graph_node_name(g, graph_switch_of(g, node), buf);
        strncat(buf, ".aggregator", GRAPH_NAME - 1 - strlen(buf));
        return buf;
    }
    char prefix[16] = "", plane[16] = "";
    if (n->role == NODE_SWITCH || (n->role != NODE_RANK && fabrics_share_names(g)))
        snprintf(prefix, sizeof prefix, "dim%u.", n->dim);
    if (n->plane > 0)
        snprintf(plane, sizeof plane, ".p%u", n->plane);
    snprintf(buf, GRAPH_NAME, "%s%s%u%s", prefix, role[n->role], n->index, plane);
    return buf;
}

uint32_t graph_node_called(const struct graph *g, const char *name)
{
    char buf[GRAPH_NAME];
    for (uint32_t n = 0; n < g->n_nodes; n++)
        if (strcmp(graph_node_name(g, n, buf), name) == 0)
            return n;
    return GRAPH_NONE;
}

uint32_t graph_port_to(const struct graph *g, uint32_t node, uint32_t neighbour)
{
    const struct graph_node *n = &g->nodes[node];
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++)
        if (g->ports[g->ports[p].peer].node == neighbour)
            return g->ports[p].local;
    return GRAPH_NONE;
}

const char *graph_port_name(const struct graph *g, uint32_t port, char buf[2 * GRAPH_NAME])
{
    char from[GRAPH_NAME], to[GRAPH_NAME];
    const struct graph_port *p = &g->ports[port];
    snprintf(buf, 2 * GRAPH_NAME, "%s->%s", graph_node_name(g, p->node, from),
             graph_node_name(g, g->ports[p->peer].node, to));
    return buf;
}
