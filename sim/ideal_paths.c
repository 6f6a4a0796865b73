// SPDX-License-Identifier: MIT
// Bounds over all paths of a pair: dynamic programming over the graph of next hops.
#include <stdlib.h>

#include "engine/memory.h"
#include "engine/rng.h"
#include "sim/ideal.h"

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
};

static double byte_ps_of(const struct sim *sim, uint32_t port)
{
    const struct byte_time *bt = &port_first_link(&sim->net, port)->byte_time;
    return (double)bt->num / (double)bt->den;
}

// The part of a packet's way that grows with its size: nothing where it is forwarded by cut-through, whose
// few bytes the bounds leave out.
static double stored_byte_ps(const struct sim *sim, uint32_t port)
{
    return port_first_link(&sim->net, port)->header_bytes > 0 ? 0 : byte_ps_of(sim, port);
}

static bool dim_even(const struct sim *sim, uint32_t dim)
{
    const struct graph_port *first = NULL;
    for (uint32_t p = 0; p < sim->graph.n_ports; p++) {
        const struct graph_port *port = &sim->graph.ports[p];
        if (port->dim != dim)
            continue;
        first = first ? first : port;
        if (port->rate_bps != first->rate_bps || port->delay_ps != first->delay_ps ||
            port->cost != first->cost)
            return false;
    }
    bool differ = sim->spec->noise.clock_ppm > 0 || sim->spec->noise.link_delay_ps > 0;
    return sim->spec->dims[dim].transport.clock_ppm <= 0 && sim->spec->n_routes == 0 &&
           !(differ && sim_has_noise(sim->spec));
}

struct ideal_paths *ideal_paths_new(const struct sim *sim)
{
    struct ideal_paths *paths = memory_zeroed(1, sizeof *paths);
    paths->even = memory_zeroed(sim->graph.n_dims, sizeof *paths->even);
    for (uint32_t d = 0; d < sim->graph.n_dims; d++)
        paths->even[d] = dim_even(sim, d);
    return paths;
}

void ideal_paths_free(struct ideal_paths *paths)
{
    if (!paths)
        return;
    free(paths->nodes);
    free(paths->even);
    free(paths);
}

// Whether packets of one flow may take different paths: switches or a transport choose by packet.
static bool parts_ways(const struct sim *sim, uint32_t dim)
{
    int kind = sim->spec->dims[dim].sw.routing.kind;
    for (uint32_t t = 0; t < sim->hosts.n_transports; t++)
        if (hosts_dim(&sim->hosts, dim, t)->sprays)
            return true;
    return kind == ROUTING_SPRAY || kind == ROUTING_FLOWLET || kind == ROUTING_ADAPTIVE ||
           kind == ROUTING_SOURCE;
}

static struct node_bound *bound_of(const struct sim *sim, uint32_t node, uint32_t dst, uint32_t dim,
                                   bool root, bool *circle);

// Bounds over one next hop: the link of a port, then the bounds from its other end.
static struct node_bound way_on(const struct sim *sim, uint32_t port, uint32_t dst, uint32_t dim,
                                bool *circle)
{
    const struct link *link = port_first_link(&sim->net, port);
    const struct node_bound *rest =
        bound_of(sim, sim_peer_node(sim, port), dst, dim, false, circle);
    struct node_bound way = *rest;
    double byte_ps = byte_ps_of(sim, port);
    way.delay_ps += (double)link->delay_ps;
    way.byte_ps += stored_byte_ps(sim, port);
    way.slowest_ps = byte_ps > way.slowest_ps ? byte_ps : way.slowest_ps;
    way.fractions = (uint16_t)(way.fractions + (link->byte_time.den != 1));
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
    b->delay_ps = way->delay_ps < b->delay_ps ? way->delay_ps : b->delay_ps;
    b->byte_ps = way->byte_ps < b->byte_ps ? way->byte_ps : b->byte_ps;
    b->slowest_ps = way->slowest_ps < b->slowest_ps ? way->slowest_ps : b->slowest_ps;
    b->fractions = way->fractions > b->fractions ? way->fractions : b->fractions;
}

static struct node_bound *bound_of(const struct sim *sim, uint32_t node, uint32_t dst, uint32_t dim,
                                   bool root, bool *circle)
{
    struct ideal_paths *paths = sim->ideal;
    struct node_bound *b = &paths->nodes[node];
    const struct routes *r = sim_first_routes(sim);
    const uint16_t *next;
    if (b->round == paths->round) {
        *circle |= b->open;
        return b;
    }
    *b = (struct node_bound){.round = paths->round, .alike = true, .reaches = node == dst};
    if (node == dst || (!root && node < r->n_ranks && !sim->graph.dim_direct[dim]))
        return b;
    uint32_t n =
        node < r->n_ranks ? routes_from(r, node, dst, dim, &next) : routes_get(r, node, dst, &next);
    struct node_bound best = {.round = paths->round};
    b->open = true;
    for (uint32_t i = 0; i < n; i++) {
        struct node_bound way = way_on(sim, node_port(&sim->net, node, next[i]), dst, dim, circle);
        take_best(&best, &way);
    }
    *b = best;
    b->parted |= n > 1 && !root; // a queue pair always uses the same port of the sender
    return b;
}

// Bounds over the ports of a rank in a dimension: those that leave it, or those that end at it.
static void ports_bound(const struct sim *sim, uint32_t node, uint32_t dim, bool into,
                        double *fastest, double *slowest, double *together, double *delay)
{
    uint32_t first = 0, n = graph_ports_in(&sim->graph, node, dim, &first);
    double rate = 0;
    *fastest = *delay = 1e300;
    *slowest = 0;
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t port = into ? sim->graph.ports[p].peer : p;
        double byte_ps = byte_ps_of(sim, port),
               d = (double)port_first_link(&sim->net, port)->delay_ps;
        *fastest = byte_ps < *fastest ? byte_ps : *fastest;
        *slowest = byte_ps > *slowest ? byte_ps : *slowest;
        *delay = d < *delay ? d : *delay;
        rate += 1 / byte_ps;
    }
    *together = 1 / rate;
}

static bool neighbours(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim)
{
    uint32_t first = 0, n = graph_ports_in(&sim->graph, src, dim, &first);
    for (uint32_t p = first; p < first + n; p++)
        if (sim_peer_node(sim, p) == dst)
            return true;
    return false;
}

static void set_ends(const struct sim *sim, struct ideal_path *path, bool any_route)
{
    double fast_out, slow_out, out, delay_out, fast_in, delay_in;
    ports_bound(sim, path->src, path->dim, false, &fast_out, &slow_out, &out, &delay_out);
    ports_bound(sim, path->dst, path->dim, true, &fast_in, &path->into_single_ps, &path->into_ps,
                &delay_in);
    path->first_ps = fast_out;
    path->first_all_ps = out;
    path->first_single_ps = slow_out;
    if (!any_route)
        return;
    bool one = neighbours(sim, path->src, path->dst, path->dim);
    path->exact = false;
    path->parted = true;
    path->delay_ps = one ? (delay_in > delay_out ? delay_in : delay_out) : delay_in + delay_out;
    bool stored = sim->spec->dims[path->dim].sw.forwarding == FORWARDING_STORE;
    path->byte_ps = one      ? (fast_in > fast_out ? fast_in : fast_out)
                    : stored ? fast_in + fast_out
                             : fast_in;
    path->slowest_ps = fast_out;
    path->fractions = ROUTE_MAX_HOPS;
}

// If all choices are equal, the first path represents every path.
static void set_from_path(const struct sim *sim, uint32_t src, uint32_t dst,
                          struct ideal_path *path)
{
    uint32_t ports[ROUTE_MAX_HOPS];
    uint32_t n = sim_route(sim, sim_first_routes(sim), src, dst, path->dim, ports);
    for (uint32_t h = 0; h < n; h++) {
        const struct link *link = port_first_link(&sim->net, ports[h]);
        double byte_ps = byte_ps_of(sim, ports[h]);
        path->delay_ps += (double)link->delay_ps;
        path->byte_ps += stored_byte_ps(sim, ports[h]);
        path->slowest_ps = byte_ps > path->slowest_ps ? byte_ps : path->slowest_ps;
        path->fractions += link->byte_time.den != 1;
    }
    path->exact = n > 0;
}

static bool set_from_search(const struct sim *sim, struct ideal_path *path)
{
    struct ideal_paths *paths = sim->ideal;
    bool circle = false;
    if (!paths->nodes)
        paths->nodes = memory_zeroed(sim->graph.n_nodes, sizeof *paths->nodes);
    paths->round++;
    const struct node_bound *b = bound_of(sim, path->src, path->dst, path->dim, true, &circle);
    path->parted = b->parted && parts_ways(sim, path->dim);
    path->exact = b->alike && !path->parted;
    path->delay_ps = b->delay_ps;
    path->byte_ps = b->byte_ps;
    path->slowest_ps = b->slowest_ps;
    path->fractions = b->fractions;
    return b->reaches && !circle;
}

struct ideal_path ideal_path(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim)
{
    struct ideal_path path = {.src = graph_owner(&sim->graph, src, dim),
                              .dst = graph_owner(&sim->graph, dst, dim),
                              .dim = dim,
                              .known = true};
    uint64_t hash = hash_mix(((uint64_t)path.src << 32 | path.dst) * 31 + dim);
    struct ideal_path *kept = &sim->ideal->kept[hash & (KEPT - 1)];
    bool shared = path.src == path.dst, any_route = sim->rerouted && !shared;
    if (shared || (sim->ideal->even[dim] && !any_route && !parts_ways(sim, dim))) {
        set_from_path(sim, src, dst, &path);
        set_ends(sim, &path, !path.exact);
        return path;
    }
    if (!any_route && kept->known && kept->src == path.src && kept->dst == path.dst &&
        kept->dim == dim)
        return *kept;
    bool found = !any_route && set_from_search(sim, &path);
    set_ends(sim, &path, !found);
    if (!any_route)
        *kept = path;
    return path;
}
