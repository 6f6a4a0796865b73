// SPDX-License-Identifier: MIT
// The longest path of a dimension. Paths to one destination by the first next hop are a tree, so
// each of its nodes is looked at once: in a fat tree of 65,536 ranks there are four million pairs
// of switches with ranks.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"

// Paths from nodes that forward to one destination.
struct path_tree {
    const struct fabric *fabric;
    const struct transport_dim *sizes;
    uint32_t dim, dst;
    ps_t *hop_rtt_ps; // [port] of the link; 0 = not computed yet
    uint32_t *known;  // [node] number of the destination for which the next two hold
    uint32_t *hops;   // [node] 0 = no path
    ps_t *rtt_ps;     // [node] of the links of the path
    uint32_t *ports;  // of the nodes that are looked at
    uint32_t number;  // of the destination, from 1
};

static struct path_tree tree_new(const struct fabric *fabric, uint32_t dim, uint32_t transport)
{
    uint32_t n = fabric->graph.n_nodes;
    struct path_tree t = {
        .fabric = fabric, .sizes = hosts_dim(&fabric->hosts, dim, transport), .dim = dim};
    t.hop_rtt_ps = memory_zeroed(fabric->graph.n_ports, sizeof *t.hop_rtt_ps);
    t.known = memory_zeroed(n, sizeof *t.known);
    t.hops = memory_zeroed(n, sizeof *t.hops);
    t.rtt_ps = memory_zeroed(n, sizeof *t.rtt_ps);
    t.ports = memory_zeroed(n, sizeof *t.ports);
    return t;
}

static void tree_free(struct path_tree *t)
{
    free(t->hop_rtt_ps);
    free(t->known);
    free(t->hops);
    free(t->rtt_ps);
    free(t->ports);
}

// The port by which a node sends to the destination first; GRAPH_NONE = it cannot.
static uint32_t port_of(const struct path_tree *t, uint32_t node)
{
    const struct routes *r = &t->fabric->routes;
    const uint16_t *next;
    uint32_t choices = node < r->n_ranks ? routes_from(r, node, t->dst, t->dim, &next)
                                         : routes_get(r, node, t->dst, &next);
    return choices > 0 ? t->fabric->graph.nodes[node].first_port + next[0] : GRAPH_NONE;
}

static uint32_t behind(const struct path_tree *t, uint32_t port)
{
    const struct graph *g = &t->fabric->graph;
    return g->ports[g->ports[port].peer].node;
}

// Put a link in front of a path.
static void extend(struct path_tree *t, uint32_t node, uint32_t port, uint32_t hops, ps_t rtt_ps)
{
    // All paths of a transport over one link share its time.
    if (t->hop_rtt_ps[port] == 0)
        t->hop_rtt_ps[port] = fabric_hop_rtt_ps(t->fabric, t->sizes, port);
    t->known[node] = t->number;
    t->hops[node] = hops + 1;
    t->rtt_ps[node] = rtt_ps + t->hop_rtt_ps[port];
}

// Find the path from a node that forwards. Where there is none, or it is a loop, hops stay 0.
static void find_path(struct path_tree *t, uint32_t node)
{
    const struct graph *g = &t->fabric->graph;
    uint32_t n = 0, at = node;
    // Nodes whose path to this destination is known end the walk. The mark is set before the path
    // is known, so that a loop of routes ends it too.
    while (at != t->dst && t->known[at] != t->number) {
        t->known[at] = t->number;
        t->hops[at] = 0;
        uint32_t port = route_forwards(g, at, t->dim) ? port_of(t, at) : GRAPH_NONE;
        if (port == GRAPH_NONE)
            return;
        t->ports[n++] = port;
        at = behind(t, port);
    }
    uint32_t hops = at == t->dst ? 0 : t->hops[at];
    ps_t rtt_ps = at == t->dst ? 0 : t->rtt_ps[at];
    if (at != t->dst && hops == 0)
        return;
    // Back along the way, each node extends the path of the node behind it.
    while (n-- > 0) {
        uint32_t from = g->ports[t->ports[n]].node;
        extend(t, from, t->ports[n], hops, rtt_ps);
        hops = t->hops[from];
        rtt_ps = t->rtt_ps[from];
    }
}

// Properties of the path from a rank to the destination, as fabric_path() has them.
static struct longest_path path_from(struct path_tree *t, uint32_t src, uint32_t dst,
                                     uint32_t transport)
{
    const struct fabric *fabric = t->fabric;
    uint32_t owner = graph_owner(&fabric->graph, src, t->dim), hops = 0;
    ps_t rtt_ps = 0;
    uint32_t port = owner != t->dst && graph_dim_joins(&fabric->graph, owner, t->dst, t->dim)
                        ? port_of(t, owner)
                        : GRAPH_NONE;
    uint32_t next = port != GRAPH_NONE ? behind(t, port) : t->dst;
    if (next != t->dst)
        find_path(t, next);
    if (port != GRAPH_NONE && (next == t->dst || t->hops[next] > 0)) {
        uint32_t rest = next == t->dst ? 0 : t->hops[next];
        rtt_ps = next == t->dst ? 0 : t->rtt_ps[next];
        if (t->hop_rtt_ps[port] == 0)
            t->hop_rtt_ps[port] = fabric_hop_rtt_ps(fabric, t->sizes, port);
        rtt_ps += t->hop_rtt_ps[port];
        hops = rest + 1;
    }
    // fabric_path() covers the rest: ranks that share a NIC, paths that are too long, and broken
    // ones.
    if (hops > 0 && hops <= ROUTE_MAX_HOPS)
        return (struct longest_path){
            rtt_ps + fabric_adapter_rtt_ps(fabric, src, dst, t->dim, transport), hops, src, dst};
    struct transport_path path =
        fabric_path((void *)(uintptr_t)fabric, src, dst, t->dim, transport, 0);
    return (struct longest_path){path.base_rtt_ps, path.hops, src, dst};
}

// All ranks that one link attaches to the same switch are one group, else those of a column: the
// first one represents it.
static uint32_t *first_of_groups(const struct fabric *fabric, uint32_t dim, uint32_t *n)
{
    const struct graph *g = &fabric->graph;
    const struct routes *r = &fabric->routes;
    bool *seen = memory_zeroed((size_t)g->n_nodes + r->n_groups, sizeof *seen);
    uint32_t *firsts = memory_zeroed(r->n_ranks, sizeof *firsts);
    *n = 0;
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        uint32_t port = 0, edge = route_edge(g, rank, dim, &port),
                 group = edge != GRAPH_NONE
                             ? edge
                             : g->n_nodes + r->group[(size_t)dim * r->n_ranks + rank];
        if (!seen[group])
            firsts[(*n)++] = rank;
        seen[group] = true;
    }
    free(seen);
    return firsts;
}

// True if a message of some size takes the dimension.
static bool takes_dim(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim)
{
    return fabric_message_dim(fabric, src, dst, 0) == dim ||
           fabric_message_dim(fabric, src, dst, UINT64_MAX) == dim;
}

// Pairs are ordered by the group of the source, then by that of the destination.
struct worst {
    struct longest_path path; // of the first pair with the most hops; its RTT is the longest of all
    uint32_t i, j;
};

static void compare(struct worst *w, const struct longest_path *path, uint32_t i, uint32_t j)
{
    ps_t rtt_ps = path->base_rtt_ps > w->path.base_rtt_ps ? path->base_rtt_ps : w->path.base_rtt_ps;
    bool earlier = i < w->i || (i == w->i && j < w->j);
    if (path->hops > w->path.hops || (path->hops == w->path.hops && path->hops > 0 && earlier))
        *w = (struct worst){*path, i, j};
    w->path.base_rtt_ps = rtt_ps;
}

static struct longest_path find_longest(const struct fabric *fabric, uint32_t dim,
                                        uint32_t transport)
{
    struct worst worst = {0};
    uint32_t n, *firsts = first_of_groups(fabric, dim, &n);
    struct path_tree t = tree_new(fabric, dim, transport);
    for (uint32_t j = 0; j < n; j++) {
        t.dst = graph_owner(&fabric->graph, firsts[j], dim);
        t.number = j + 1;
        for (uint32_t i = 0; i < n; i++)
            if (i != j && graph_dim_joins(&fabric->graph, firsts[i], firsts[j], dim) &&
                takes_dim(fabric, firsts[i], firsts[j], dim)) {
                struct longest_path path = path_from(&t, firsts[i], firsts[j], transport);
                compare(&worst, &path, i, j);
            }
    }
    tree_free(&t);
    for (uint32_t i = 0; i < n; i++) { // also to a rank of the same group
        uint32_t src = firsts[i], dst = src + 1;
        if (dst >= fabric->graph.n_ends || !takes_dim(fabric, src, dst, dim))
            continue;
        struct transport_path path =
            fabric_path((void *)(uintptr_t)fabric, src, dst, dim, transport, 0);
        compare(&worst, &(struct longest_path){path.base_rtt_ps, path.hops, src, dst}, i, n);
    }
    free(firsts);
    return worst.path;
}

struct longest_path fabric_longest_path(const struct fabric *fabric, uint32_t dim,
                                        uint32_t transport)
{
    struct longest_path *known = fabric->longest;
    if (!known)
        return find_longest(fabric, dim, transport);
    known += (size_t)dim * fabric->hosts.n_transports + transport;
    if (known->hops == 0)
        *known = find_longest(fabric, dim, transport);
    return *known;
}

void fabric_longest_keep(struct fabric *fabric)
{
    free(fabric->longest);
    fabric->longest = memory_zeroed((size_t)fabric->spec->n_dims * fabric->hosts.n_transports,
                                    sizeof *fabric->longest);
}
