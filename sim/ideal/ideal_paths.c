// SPDX-License-Identifier: MIT
// Bounds over all paths of a pair: dynamic programming over the graph of next hops.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "sim/ideal/ideal_internal.h"

#define KEPT 4096 // cached pairs, by hash; a power of two

// Bounds from a node to the destination over all next hops.
struct node_bound {
    uint64_t round; // the search that set these values
    uint64_t hops;  // hash of the sequence of links; valid if `alike`
    double delay_ps, byte_ps, slowest_ps;
    uint16_t fractions;
    bool alike, parted, open, reaches;
};

struct ideal_paths {
    struct node_bound *nodes;
    uint64_t round;
    bool *even; // [dim] all links are equal, so all shortest paths are alike
    struct ideal_path kept[KEPT];
    struct ideal_answer *answers; // [n_answers] a power of two
    size_t n_answers;
};

static struct ideal_paths *paths_of(const struct ideals *ideals)
{
    return &ideals->paths[engine_thread_of(ideals->n_threads)];
}

struct ideal_answer *ideal_kept(const struct ideals *ideals, uint32_t src, uint32_t dst)
{
    const struct ideal_paths *paths = paths_of(ideals);
    return &paths->answers[hash_mix((uint64_t)src << 32 | dst) & (paths->n_answers - 1)];
}

// Time by which a hop grows with each byte of a packet: 0 where the packet is forwarded by
// cut-through, whose few header bytes the bounds leave out.
static double stored_byte_ps(const struct ideals *ideals, uint32_t port)
{
    return port_first_link(&ideals->fabric->net, port)->header_bytes > 0
               ? 0
               : ideal_byte_ps(ideals, port);
}

static bool dim_even(const struct ideals *ideals, uint32_t dim)
{
    const struct graph_port *first = NULL;
    // `share` changes the rates of single ports, so equal links may no longer be equal.
    if (ideals->share)
        return false;
    for (uint32_t p = 0; p < ideals->fabric->graph.n_ports; p++) {
        const struct graph_port *port = &ideals->fabric->graph.ports[p];
        if (port->dim != dim)
            continue;
        first = first ? first : port;
        if (port->rate_bps != first->rate_bps || port->delay_ps != first->delay_ps ||
            port->cost != first->cost)
            return false;
    }
    // Clocks and cables that noise makes different are not in the graph. Given routes may be longer
    // than the shortest ones.
    bool differ =
        ideals->fabric->spec->noise.clock_ppm > 0 || ideals->fabric->spec->noise.link_delay_ps > 0;
    return ideals->fabric->spec->dims[dim].transport.clock_ppm <= 0 &&
           ideals->fabric->spec->n_routes == 0 && !(differ && spec_has_noise(ideals->fabric->spec));
}

static void answers_init(const struct ideals *ideals, struct ideal_paths *paths)
{
    for (paths->n_answers = KEPT; paths->n_answers < 2 * (size_t)ideals->fabric->graph.n_ends;)
        paths->n_answers *= 2;
    paths->answers = memory_zeroed(paths->n_answers, sizeof *paths->answers);
}

void ideals_init(struct ideals *ideals, const struct fabric *fabric)
{
    ideals_init_with(ideals, fabric, NULL);
}

void ideals_init_with(struct ideals *ideals, const struct fabric *fabric, const double *share)
{
    *ideals = (struct ideals){.fabric = fabric, .share = share};
    if (fabric_is_analytical(fabric))
        return;
    struct ideal_paths *paths = ideals->paths = memory_zeroed(1, sizeof *paths);
    ideals->n_threads = 1;
    paths->even = memory_zeroed(ideals->fabric->graph.n_dims, sizeof *paths->even);
    for (uint32_t d = 0; d < ideals->fabric->graph.n_dims; d++)
        paths->even[d] = dim_even(ideals, d);
    answers_init(ideals, paths);
}

void ideals_share(struct ideals *ideals, uint32_t n_threads)
{
    ideals->paths = memory_resize(ideals->paths, n_threads, sizeof *ideals->paths);
    // `even` is only read, so all threads use the same array. Searches and caches are each thread's
    // own.
    for (uint32_t i = 1; i < n_threads; i++) {
        ideals->paths[i] = (struct ideal_paths){.even = ideals->paths[0].even};
        answers_init(ideals, &ideals->paths[i]);
    }
    ideals->n_threads = n_threads;
}

void ideals_free(struct ideals *ideals)
{
    struct ideal_paths *paths = ideals->paths;
    if (!paths)
        return;
    free(paths->even);
    for (uint32_t i = 0; i < ideals->n_threads; i++) {
        free(paths[i].nodes);
        free(paths[i].answers);
    }
    free(paths);
}

// Returns true if packets of one flow may take different paths, as switches or a transport choose
// paths by packet.
static bool parts_ways(const struct ideals *ideals, uint32_t dim)
{
    int kind = ideals->fabric->spec->dims[dim].sw.routing.kind;
    for (uint32_t t = 0; t < ideals->fabric->hosts.n_transports; t++)
        if (hosts_dim(&ideals->fabric->hosts, dim, t)->sprays)
            return true;
    return kind == ROUTING_SPRAY || kind == ROUTING_FLOWLET || kind == ROUTING_ADAPTIVE ||
           kind == ROUTING_SOURCE;
}

static struct node_bound *bound_of(const struct ideals *ideals, uint32_t node, uint32_t dst,
                                   uint32_t dim, bool root, bool *circle);

// Bounds over one next hop: the link of a port, then the bounds from its other end.
static struct node_bound way_on(const struct ideals *ideals, uint32_t port, uint32_t dst,
                                uint32_t dim, bool *circle)
{
    const struct link *link = port_first_link(&ideals->fabric->net, port);
    const struct node_bound *rest =
        bound_of(ideals, fabric_peer_node(ideals->fabric, port), dst, dim, false, circle);
    struct node_bound way = *rest;
    double byte_ps = ideal_byte_ps(ideals, port);
    way.delay_ps += (double)link->delay_ps;
    way.byte_ps += stored_byte_ps(ideals, port);
    way.slowest_ps = byte_ps > way.slowest_ps ? byte_ps : way.slowest_ps;
    way.fractions = (uint16_t)(way.fractions + (link->byte_time.den != 1));
    // The hash identifies a sequence of links by all that the time of a packet depends on, so paths
    // with equal hashes take the same time.
    way.hops =
        hash_mix(hash_mix(hash_mix(way.hops + 1) ^ link->byte_time.num) + link->byte_time.den) ^
        hash_mix((uint64_t)link->delay_ps + link->header_bytes);
    return way;
}

static void take_best(struct node_bound *b, const struct node_bound *way)
{
    if (!way->reaches)
        return;
    if (!b->reaches) {
        uint64_t round = b->round;
        *b = *way;
        b->round = round;
        return;
    }
    b->alike = b->alike && way->alike && b->hops == way->hops;
    b->parted |= way->parted;
    // Each quantity takes its own minimum. The result may be better than every single path, so it
    // is still a lower bound.
    b->delay_ps = way->delay_ps < b->delay_ps ? way->delay_ps : b->delay_ps;
    b->byte_ps = way->byte_ps < b->byte_ps ? way->byte_ps : b->byte_ps;
    b->slowest_ps = way->slowest_ps < b->slowest_ps ? way->slowest_ps : b->slowest_ps;
    b->fractions = way->fractions > b->fractions ? way->fractions : b->fractions;
}

static struct node_bound *bound_of(const struct ideals *ideals, uint32_t node, uint32_t dst,
                                   uint32_t dim, bool root, bool *circle)
{
    struct ideal_paths *paths = paths_of(ideals);
    struct node_bound *b = &paths->nodes[node];
    const struct routes *r = fabric_first_routes(ideals->fabric);
    const uint16_t *next;
    // The search has reached this node by another way. If the node is still open, that way leads
    // back to it, and its bounds are not known yet: the routes have a circle.
    if (b->round == paths->round) {
        *circle |= b->open;
        return b;
    }
    *b = (struct node_bound){.round = paths->round, .alike = true, .reaches = node == dst};
    // Ranks forward packets of others only in direct dimensions.
    if (node == dst || (!root && node < r->n_ranks && !ideals->fabric->graph.dim_direct[dim]))
        return b;
    // A rank has ports in several dimensions, so its next hops are those in `dim`.
    uint32_t n =
        node < r->n_ranks ? routes_from(r, node, dst, dim, &next) : routes_get(r, node, dst, &next);
    struct node_bound best = {.round = paths->round};
    b->open = true;
    for (uint32_t i = 0; i < n; i++) {
        struct node_bound way =
            way_on(ideals, node_port(&ideals->fabric->net, node, next[i]), dst, dim, circle);
        take_best(&best, &way);
    }
    *b = best;
    b->parted |= n > 1 && !root; // a queue pair always uses the same port of the sender
    return b;
}

// Bounds over the ports of a rank in a dimension: over outgoing links, or with `into` incoming
// ones.
static void ports_bound(const struct ideals *ideals, uint32_t node, uint32_t dim, bool into,
                        double *fastest, double *slowest, double *together, double *delay)
{
    uint32_t first = 0, n = graph_ports_in(&ideals->fabric->graph, node, dim, &first);
    double rate = 0;
    *fastest = *delay = 1e300;
    *slowest = 0;
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t port = into ? ideals->fabric->graph.ports[p].peer : p;
        double byte_ps = ideal_byte_ps(ideals, port),
               d = (double)port_first_link(&ideals->fabric->net, port)->delay_ps;
        *fastest = byte_ps < *fastest ? byte_ps : *fastest;
        *slowest = byte_ps > *slowest ? byte_ps : *slowest;
        *delay = d < *delay ? d : *delay;
        rate += 1 / byte_ps;
    }
    *together = 1 / rate;
}

static bool neighbours(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim)
{
    uint32_t first = 0, n = graph_ports_in(&ideals->fabric->graph, src, dim, &first);
    for (uint32_t p = first; p < first + n; p++)
        if (fabric_peer_node(ideals->fabric, p) == dst)
            return true;
    return false;
}

static void set_ends(const struct ideals *ideals, struct ideal_path *path, bool any_route)
{
    double fast_out, slow_out, out, delay_out, fast_in, delay_in;
    ports_bound(ideals, path->src, path->dim, false, &fast_out, &slow_out, &out, &delay_out);
    ports_bound(ideals, path->dst, path->dim, true, &fast_in, &path->into_single_ps, &path->into_ps,
                &delay_in);
    path->first_ps = fast_out;
    path->first_all_ps = out;
    path->first_single_ps = slow_out;
    // Packets may have taken any route, so only the first and the last link are certain. Between
    // neighbours these may be one link, whose times then count once.
    if (!any_route)
        return;
    bool one = neighbours(ideals, path->src, path->dst, path->dim);
    path->exact = false;
    path->parted = true;
    path->delay_ps = one ? (delay_in > delay_out ? delay_in : delay_out) : delay_in + delay_out;
    // A switch that stores a packet forwards it when it has arrived whole, so its bytes take their
    // time on both links. With cut-through the two overlap.
    bool stored = ideals->fabric->spec->dims[path->dim].sw.forwarding == FORWARDING_STORE;
    path->byte_ps = one      ? (fast_in > fast_out ? fast_in : fast_out)
                    : stored ? fast_in + fast_out
                             : fast_in;
    path->slowest_ps = fast_out;
    // The number of hops is unknown, and each may round its byte time down.
    path->fractions = ROUTE_MAX_HOPS;
}

// If all choices are equal, the first path represents every path.
static void set_from_path(const struct ideals *ideals, uint32_t src, uint32_t dst,
                          struct ideal_path *path)
{
    uint32_t ports[ROUTE_MAX_HOPS];
    uint32_t n = fabric_route(ideals->fabric, fabric_first_routes(ideals->fabric), src, dst,
                              path->dim, ports);
    for (uint32_t h = 0; h < n; h++) {
        const struct link *link = port_first_link(&ideals->fabric->net, ports[h]);
        double byte_ps = ideal_byte_ps(ideals, ports[h]);
        path->delay_ps += (double)link->delay_ps;
        path->byte_ps += stored_byte_ps(ideals, ports[h]);
        path->slowest_ps = byte_ps > path->slowest_ps ? byte_ps : path->slowest_ps;
        path->fractions += link->byte_time.den != 1;
    }
    path->exact = n > 0;
}

static bool set_from_search(const struct ideals *ideals, struct ideal_path *path)
{
    struct ideal_paths *paths = paths_of(ideals);
    bool circle = false;
    if (!paths->nodes)
        paths->nodes = memory_zeroed(ideals->fabric->graph.n_nodes, sizeof *paths->nodes);
    paths->round++;
    const struct node_bound *b = bound_of(ideals, path->src, path->dst, path->dim, true, &circle);
    path->parted = b->parted && parts_ways(ideals, path->dim);
    path->exact = b->alike && !path->parted;
    path->delay_ps = b->delay_ps;
    path->byte_ps = b->byte_ps;
    path->slowest_ps = b->slowest_ps;
    path->fractions = b->fractions;
    return b->reaches && !circle;
}

struct ideal_path ideal_path(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim)
{
    struct ideal_path path = {.src = graph_owner(&ideals->fabric->graph, src, dim),
                              .dst = graph_owner(&ideals->fabric->graph, dst, dim),
                              .dim = dim,
                              .known = true};
    uint64_t hash = hash_mix(((uint64_t)path.src << 32 | path.dst) * 31 + dim);
    struct ideal_path *kept = &paths_of(ideals)->kept[hash & (KEPT - 1)];
    // Ranks that share a port have one owner, so the cache, which is by owner, cannot distinguish
    // them.
    bool shared = path.src == path.dst, any_route = ideals->fabric->rerouted && !shared;
    if (!shared && !any_route && kept->known && kept->src == path.src && kept->dst == path.dst &&
        kept->dim == dim)
        return *kept;
    if (shared || (ideals->paths->even[dim] && !any_route && !parts_ways(ideals, dim))) {
        set_from_path(ideals, src, dst, &path);
        set_ends(ideals, &path, !path.exact);
        if (!shared)
            *kept = path;
        return path;
    }
    bool found = !any_route && set_from_search(ideals, &path);
    set_ends(ideals, &path, !found);
    if (!any_route)
        *kept = path;
    return path;
}
