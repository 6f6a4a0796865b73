// SPDX-License-Identifier: MIT
// Properties of paths that a transport needs: base RTT, number of links, and the longest path of
// all.
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

static uint32_t first_port_of(const struct sim *sim, uint32_t rank, uint32_t dim)
{
    uint32_t first = 0, n = graph_ports_in(&sim->graph, rank, dim, &first);
    SIM_ASSERT(&sim->engine, rank, n > 0);
    return first;
}

uint32_t sim_route(const struct sim *sim, const struct routes *r, uint32_t src, uint32_t dst,
                   uint32_t dim, uint32_t ports[ROUTE_MAX_HOPS])
{
    const struct graph *g = &sim->graph;
    src = graph_owner(g, src, dim);
    dst = graph_owner(g, dst, dim);
    if (src != dst)
        return route_path(r, g, src, dst, dim, ports, ROUTE_MAX_HOPS);
    // ranks that share a NIC communicate through its switch
    ports[0] = first_port_of(sim, src, dim);
    ports[1] = g->ports[ports[0]].peer;
    return 2;
}

// The time in which a packet arrives so far that it is forwarded.
static ps_t store_ps(const struct sim *sim, uint32_t port, uint32_t wire_bytes)
{
    return serialization_ps(arriving_bytes(sim_header_bytes(sim, port), wire_bytes),
                            sim->graph.ports[port].rate_bps);
}

// What may wait for a port of a switch in the transport's class: the limit of a lossy class, else the
// whole buffer.
static uint64_t largest_queue(const struct sim *sim, const struct transport_dim *transport,
                              uint32_t dim)
{
    const struct switch_spec *sw = &sim->spec->dims[dim].sw;
    uint64_t own = transport->spec.cls;
    unsigned cls = (unsigned)(own != PARAM_AUTO ? own : transport->ops->data_class);
    uint64_t bytes = sw->buffer_bytes;
    if (sim_lossless(sim, dim) >> cls & 1 || !sim_queue_limit_everywhere(&sw->queue_limit))
        return bytes;
    if (sw->queue_limit.bytes != PARAM_AUTO && sw->queue_limit.bytes < bytes)
        bytes = sw->queue_limit.bytes;
    if (sw->queue_limit.packets != PARAM_AUTO &&
        sw->queue_limit.packets * transport->full.frame < bytes)
        bytes = sw->queue_limit.packets * transport->full.frame;
    return bytes;
}

struct transport_path sim_path(void *ctx, uint32_t src, uint32_t dst, uint32_t dim,
                               uint32_t transport, uint32_t stripe)
{
    const struct sim *sim = ctx;
    const struct transport_dim *sizes = hosts_dim(&sim->hosts, dim, transport);
    const struct routes *routes = &sim->routes;
    uint32_t ports[ROUTE_MAX_HOPS];
    uint32_t n = sim_route(sim, routes, src, dst, dim, ports);
    bool cut_off = n == 0;
    if (cut_off) { // failed links have cut off the pair: use the path of the network without faults
        routes = sim_first_routes(sim);
        n = sim_route(sim, routes, src, dst, dim, ports);
    }
    if (n == 0) // routes that the scenario gives form a loop
        n = 1, ports[0] = first_port_of(sim, graph_owner(&sim->graph, src, dim), dim);
    ps_t nics_ps = sim_adapter_rtt_ps(sim, src, dst, dim, transport);
    src = graph_owner(&sim->graph, src, dim);
    dst = graph_owner(&sim->graph, dst, dim);
    uint32_t data = sizes->full.wire, ack = sizes->ack.wire;
    uint64_t queue_bytes = largest_queue(sim, sizes, dim);
    const struct queue_limit_spec *limit = &sim->spec->dims[dim].sw.queue_limit;
    struct transport_path out = {.src_node = src,
                                 .dst_node = dst,
                                 .hops = n,
                                 .line_bps = sim->graph.ports[ports[0]].rate_bps,
                                 .shared_port = (uint16_t)sim->graph.ports[ports[0]].local,
                                 .cut_off = cut_off,
                                 .limited =
                                     sim_queue_limit_everywhere(limit) &&
                                     (limit->bytes != PARAM_AUTO || limit->packets != PARAM_AUTO)};
    if (src != dst)
        out.n_ports = routes_from(routes, src, dst, dim, &out.ports);
    if (stripe > 0)
        out.n_ports = sim_stripe_port(sim, src, dst, dim, stripe - 1, &out.ports, out.n_ports);
    out.base_rtt_ps = nics_ps;
    for (uint32_t h = 0; h < n; h++) {
        const struct graph_port *there = &sim->graph.ports[ports[h]];
        const struct graph_port *back = &sim->graph.ports[there->peer];
        out.base_rtt_ps += there->delay_ps + back->delay_ps + store_ps(sim, ports[h], data) +
                           store_ps(sim, there->peer, ack);
        if (h == 0)
            continue;
        uint64_t marked =
            out.limited ? UINT64_MAX : sim_marked_bytes(sim, dim, transport, ports[h]);
        out.queueing_ps += serialization_ps(queue_bytes, there->rate_bps);
        out.target_ps +=
            serialization_ps(marked < queue_bytes ? marked : queue_bytes, there->rate_bps);
    }
    return out;
}

double sim_bandwidth(void *ctx, uint32_t src, uint32_t dst)
{
    const struct sim *sim = ctx;
    double bps = 0;
    if (sim_is_analytical(sim))
        return analytical_bandwidth(&sim->analytical, src, dst);
    // of a relayed pair: the first leg
    uint32_t first = 0, next = sim_relay_next(&sim->graph, src, dst);
    uint32_t dim = sim_message_dim(sim, src, next, UINT64_MAX);
    uint32_t n = graph_ports_in(&sim->graph, graph_owner(&sim->graph, src, dim), dim, &first);
    for (uint32_t p = first; p < first + n; p++)
        bps += (double)sim->graph.ports[p].rate_bps;
    return bps;
}

uint32_t sim_joining_dim(void *ctx, const struct transfer_request *request)
{
    return sim_request_dim(ctx, request);
}

// All ranks of a group are attached to the same switch, so the first one represents the group.
static uint32_t *first_of_groups(const struct sim *sim, uint32_t dim, uint32_t *n)
{
    const struct routes *r = &sim->routes;
    bool *seen = memory_zeroed(UINT16_MAX + 1, sizeof *seen);
    uint32_t *firsts = memory_zeroed(r->n_ranks, sizeof *firsts);
    *n = 0;
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        uint16_t group = r->group[(size_t)dim * r->n_ranks + rank];
        if (!seen[group])
            firsts[(*n)++] = rank;
        seen[group] = true;
    }
    free(seen);
    return firsts;
}

// True if a message of some size takes the dimension.
static bool takes_dim(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim)
{
    return sim_message_dim(sim, src, dst, 0) == dim ||
           sim_message_dim(sim, src, dst, UINT64_MAX) == dim;
}

struct sim_longest sim_longest_path(const struct sim *sim, uint32_t dim, uint32_t transport)
{
    struct sim_longest worst = {0};
    uint32_t n, *firsts = first_of_groups(sim, dim, &n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j <= n; j++) {
            // also to a rank of the same group
            uint32_t src = firsts[i], dst = j < n ? firsts[j] : src + 1;
            if (src == dst || dst >= sim->graph.n_ends || !takes_dim(sim, src, dst, dim))
                continue;
            struct transport_path path =
                sim_path((void *)(uintptr_t)sim, src, dst, dim, transport, 0);
            if (path.base_rtt_ps > worst.base_rtt_ps)
                worst.base_rtt_ps = path.base_rtt_ps;
            if (path.hops > worst.hops)
                worst = (struct sim_longest){worst.base_rtt_ps, path.hops, src, dst};
        }
    free(firsts);
    return worst;
}
