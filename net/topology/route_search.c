// SPDX-License-Identifier: MIT
// The search goes from the destinations against the direction of packets. Destinations that reach a
// node at a certain distance are entries in the bucket of this distance, so that a node is visited
// once for each distance that it has to some destination.
#include "net/topology/route_search.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define NO_ENTRY UINT32_MAX
#define BUCKETS (UINT8_MAX + 1) // a link costs at most UINT8_MAX

// The fields of a port that a search reads.
struct way {
    uint32_t neighbour;
    uint16_t back; // local port of the neighbour that leads here
    uint8_t dim, cost;
    bool back_down;
};

// A node has a shortest path to these destinations by its local port.
struct entry {
    uint32_t node, next; // `next`: of the same node, while a bucket is processed
    uint16_t port;
    uint64_t destinations;
};

struct bucket {
    struct entry *list;
    size_t n, cap;
};

struct route_search {
    const struct graph *g;
    bool (*forwards)(const struct graph *g, uint32_t node, uint32_t dim);
    struct way *ways;  // [port]
    uint64_t *seen;    // [node] destinations whose distance is final
    uint32_t *first;   // [node] its first entry in the bucket; NO_ENTRY = none
    uint32_t *nodes;   // with entries in the bucket
    uint64_t *of_port; // [local port] of the node that is visited
    struct route_hop *hops;
    struct bucket buckets[BUCKETS]; // by distance modulo BUCKETS
    uint64_t waiting;               // entries in all buckets
};

struct route_search *route_search_new(const struct graph *g,
                                      bool (*forwards)(const struct graph *g, uint32_t node,
                                                       uint32_t dim))
{
    struct route_search *s = memory_zeroed(1, sizeof *s);
    uint32_t most = 0;
    s->g = g;
    s->forwards = forwards;
    s->ways = memory_zeroed(g->n_ports, sizeof *s->ways);
    for (uint32_t p = 0; p < g->n_ports; p++) {
        const struct graph_port *port = &g->ports[p], *peer = &g->ports[port->peer];
        s->ways[p] = (struct way){.neighbour = peer->node,
                                  .back = (uint16_t)peer->local,
                                  .dim = port->dim,
                                  .cost = port->cost,
                                  .back_down = peer->down};
    }
    for (uint32_t i = 0; i < g->n_nodes; i++)
        most = g->nodes[i].n_ports > most ? g->nodes[i].n_ports : most;
    s->seen = memory_zeroed(g->n_nodes, sizeof *s->seen);
    s->first = memory_zeroed(g->n_nodes, sizeof *s->first);
    s->nodes = memory_zeroed(g->n_nodes, sizeof *s->nodes);
    s->of_port = memory_zeroed(most + 1, sizeof *s->of_port);
    s->hops = memory_zeroed(most + 1, sizeof *s->hops);
    memset(s->first, 0xff, g->n_nodes * sizeof *s->first);
    return s;
}

void route_search_free(struct route_search *s)
{
    for (size_t i = 0; i < BUCKETS; i++)
        free(s->buckets[i].list);
    free(s->ways);
    free(s->seen);
    free(s->first);
    free(s->nodes);
    free(s->of_port);
    free(s->hops);
    free(s);
}

static void push(struct route_search *s, uint32_t distance, struct entry entry)
{
    struct bucket *b = &s->buckets[distance % BUCKETS];
    if (b->n == b->cap)
        b->list = memory_grow(b->list, &b->cap, sizeof *b->list);
    b->list[b->n++] = entry;
    s->waiting++;
}

// Propagate destinations to the neighbours of a node that forwards packets.
static void spread(struct route_search *s, uint32_t node, uint32_t dim, uint64_t destinations,
                   uint32_t distance)
{
    uint32_t first = s->g->nodes[node].first_port, end = first + s->g->nodes[node].n_ports;
    for (uint32_t p = first; p < end; p++) {
        const struct way *way = &s->ways[p];
        uint64_t further = destinations & ~s->seen[way->neighbour];
        if (further == 0 || way->dim != dim || way->back_down)
            continue;
        push(s, distance + way->cost,
             (struct entry){.node = way->neighbour, .port = way->back, .destinations = further});
    }
}

// Make lists of the entries of each node, and return the number of nodes.
static uint32_t sort_by_node(struct route_search *s, struct bucket *b)
{
    uint32_t n = 0;
    for (size_t i = 0; i < b->n; i++) {
        struct entry *e = &b->list[i];
        if (s->first[e->node] == NO_ENTRY)
            s->nodes[n++] = e->node;
        e->next = s->first[e->node];
        s->first[e->node] = (uint32_t)i;
    }
    return n;
}

// The next hops of a node in ascending order of ports; *settled: destinations that are new to it.
static uint32_t hops_of(struct route_search *s, const struct bucket *b, uint32_t node,
                        uint64_t *settled)
{
    uint32_t n = 0, low = UINT32_MAX, high = 0;
    uint64_t known = s->seen[node], all = 0;
    for (uint32_t i = s->first[node]; i != NO_ENTRY; i = b->list[i].next) {
        const struct entry *e = &b->list[i];
        s->of_port[e->port] |= e->destinations & ~known;
        all |= e->destinations & ~known;
        low = e->port < low ? e->port : low;
        high = e->port > high ? e->port : high;
    }
    for (uint32_t p = low; p <= high; p++) {
        if (s->of_port[p] != 0)
            s->hops[n++] = (struct route_hop){(uint16_t)p, s->of_port[p]};
        s->of_port[p] = 0;
    }
    s->first[node] = NO_ENTRY;
    *settled = all;
    return n;
}

void route_search_to(struct route_search *s, const uint32_t *nodes, uint32_t n, uint32_t dim,
                     void (*visit)(void *ctx, const struct route_settled *at), void *ctx)
{
    memset(s->seen, 0, s->g->n_nodes * sizeof *s->seen);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t own = (uint64_t)1 << i;
        struct route_settled at = {.node = nodes[i], .settled = own};
        s->seen[nodes[i]] |= own;
        visit(ctx, &at);
        spread(s, nodes[i], dim, own, 0);
    }
    for (uint32_t distance = 1; s->waiting > 0; distance++) {
        struct bucket *b = &s->buckets[distance % BUCKETS];
        uint32_t n_nodes = sort_by_node(s, b);
        for (uint32_t i = 0; i < n_nodes; i++) {
            struct route_settled at = {.node = s->nodes[i], .distance = distance};
            at.n_hops = hops_of(s, b, at.node, &at.settled);
            at.hops = s->hops;
            s->seen[at.node] |= at.settled;
            if (at.settled == 0)
                continue;
            visit(ctx, &at);
            if (s->forwards(s->g, at.node, dim))
                spread(s, at.node, dim, at.settled, distance);
        }
        s->waiting -= b->n;
        b->n = 0;
    }
}
