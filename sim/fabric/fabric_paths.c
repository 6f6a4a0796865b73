// SPDX-License-Identifier: MIT
// Properties of paths that a transport needs: base RTT, number of links, and the longest path of
// all.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"

static uint32_t first_port_of(const struct fabric *fabric, uint32_t rank, uint32_t dim)
{
    uint32_t first = 0, n = graph_ports_in(&fabric->graph, rank, dim, &first);
    SIM_ASSERT(&fabric->engine, rank, n > 0);
    return first;
}

uint32_t fabric_route(const struct fabric *fabric, const struct routes *r, uint32_t src,
                      uint32_t dst, uint32_t dim, uint32_t ports[ROUTE_MAX_HOPS])
{
    const struct graph *g = &fabric->graph;
    src = graph_owner(g, src, dim);
    dst = graph_owner(g, dst, dim);
    if (src != dst)
        return route_path(r, g, src, dst, dim, ports, ROUTE_MAX_HOPS);
    // ranks that share a NIC communicate through its switch
    ports[0] = first_port_of(fabric, src, dim);
    ports[1] = g->ports[ports[0]].peer;
    return 2;
}

// Time until so much of a packet has arrived that it is forwarded.
static ps_t store_ps(const struct fabric *fabric, uint32_t port, uint32_t wire_bytes)
{
    return serialization_ps(arriving_bytes(fabric_header_bytes(fabric, port), wire_bytes),
                            fabric->graph.ports[port].rate_bps);
}

// Most bytes that may wait at a port of a switch in the transport's class: the limit of a lossy
// class, else the whole buffer.
static uint64_t largest_queue(const struct fabric *fabric, const struct transport_dim *transport,
                              uint32_t dim)
{
    const struct switch_spec *sw = &fabric->spec->dims[dim].sw;
    uint64_t own = transport->spec.cls;
    unsigned cls = (unsigned)(own != PARAM_AUTO ? own : transport->ops->data_class);
    uint64_t bytes = fabric->buffer_bytes[dim];
    // A lossless class pauses its senders and does not drop, so only the buffer limits its queue.
    // Limits at single switches say nothing about a path.
    if (fabric_lossless(fabric, dim) >> cls & 1 || !fabric_queue_limit_everywhere(&sw->queue_limit))
        return bytes;
    if (sw->queue_limit.bytes != PARAM_AUTO && sw->queue_limit.bytes < bytes)
        bytes = sw->queue_limit.bytes;
    if (sw->queue_limit.packets != PARAM_AUTO &&
        sw->queue_limit.packets * transport->full.frame < bytes)
        bytes = sw->queue_limit.packets * transport->full.frame;
    return bytes;
}

ps_t fabric_hop_rtt_ps(const struct fabric *fabric, const struct transport_dim *sizes,
                       uint32_t port)
{
    const struct graph_port *there = &fabric->graph.ports[port];
    return there->delay_ps + fabric->graph.ports[there->peer].delay_ps +
           store_ps(fabric, port, sizes->full.wire) +
           store_ps(fabric, there->peer, sizes->ack.wire);
}

struct transport_path fabric_path(void *ctx, uint32_t src, uint32_t dst, uint32_t dim,
                                  uint32_t transport, uint32_t stripe)
{
    const struct fabric *fabric = ctx;
    const struct transport_dim *sizes = hosts_dim(&fabric->hosts, dim, transport);
    const struct routes *routes = &fabric->routes;
    uint32_t ports[ROUTE_MAX_HOPS];
    uint32_t n = fabric_route(fabric, routes, src, dst, dim, ports);
    bool cut_off = n == 0;
    if (cut_off) { // failed links have cut off the pair: use the path of the network without faults
        routes = fabric_first_routes(fabric);
        n = fabric_route(fabric, routes, src, dst, dim, ports);
    }
    if (n == 0) // routes that the scenario gives form a loop
        n = 1, ports[0] = first_port_of(fabric, graph_owner(&fabric->graph, src, dim), dim);
    ps_t nics_ps = fabric_adapter_rtt_ps(fabric, src, dst, dim, transport);
    src = graph_owner(&fabric->graph, src, dim);
    dst = graph_owner(&fabric->graph, dst, dim);
    uint64_t queue_bytes = largest_queue(fabric, sizes, dim);
    const struct queue_limit_spec *limit = &fabric->spec->dims[dim].sw.queue_limit;
    struct transport_path out = {.src_node = src,
                                 .dst_node = dst,
                                 .hops = n,
                                 .line_bps = fabric->graph.ports[ports[0]].rate_bps,
                                 .shared_port = (uint16_t)fabric->graph.ports[ports[0]].local,
                                 .cut_off = cut_off,
                                 .limited =
                                     fabric_queue_limit_everywhere(limit) &&
                                     (limit->bytes != PARAM_AUTO || limit->packets != PARAM_AUTO)};
    if (src != dst)
        out.n_ports = routes_from(routes, src, dst, dim, &out.ports);
    if (stripe > 0)
        out.n_ports =
            fabric_stripe_port(fabric, src, dst, dim, stripe - 1, &out.ports, out.n_ports);
    out.base_rtt_ps = nics_ps;
    for (uint32_t h = 0; h < n; h++) {
        const struct graph_port *there = &fabric->graph.ports[ports[h]];
        out.base_rtt_ps += fabric_hop_rtt_ps(fabric, sizes, ports[h]);
        // At the first hop packets wait in the NIC of the sender, not in a queue of the network.
        if (h == 0)
            continue;
        uint64_t marked =
            out.limited ? UINT64_MAX : fabric_marked_bytes(fabric, dim, transport, ports[h]);
        out.queueing_ps += serialization_ps(queue_bytes, there->rate_bps);
        out.target_ps +=
            serialization_ps(marked < queue_bytes ? marked : queue_bytes, there->rate_bps);
    }
    return out;
}

uint32_t fabric_joining_dim(void *ctx, const struct transfer_request *request)
{
    return fabric_request_dim(ctx, request);
}

uint32_t fabric_next_rank(const struct graph *g, uint32_t src, uint32_t dst)
{
    uint32_t stride = 1;
    // Ranks that share a dimension need no relay.
    if (graph_joining_dim(g, src, dst) != GRAPH_NONE)
        return dst;
    for (uint32_t d = 0; d < g->n_dims; stride *= g->dim_size[d++]) {
        uint32_t from = graph_coord(g, src, d), to = graph_coord(g, dst, d);
        // Ranks differ in several dimensions: the innermost of them comes first, as relay.c states.
        if (from != to)
            return src + to * stride - from * stride;
    }
    return dst;
}

double fabric_bandwidth(const struct fabric *fabric, uint32_t src, uint32_t dst)
{
    double bps = 0;
    // for a relayed pair, the first leg
    uint32_t first = 0, next = fabric_next_rank(&fabric->graph, src, dst);
    uint32_t dim = fabric_message_dim(fabric, src, next, UINT64_MAX);
    uint32_t n = graph_ports_in(&fabric->graph, graph_owner(&fabric->graph, src, dim), dim, &first);
    for (uint32_t p = first; p < first + n; p++)
        bps += (double)fabric->graph.ports[p].rate_bps;
    return bps;
}
