// SPDX-License-Identifier: MIT
// Makes the ports of a network from its graph.
#include "sim/fabric/fabric_internal.h"

// The largest lag with which a NIC port computes the start of a packet: it does so at the latest
// when the packet before is delivered, a propagation delay later. Two packets are added for safety.
static ps_t catch_up_lag_ps(const struct fabric *fabric, const struct graph_port *port)
{
    uint64_t full = fabric_largest_packets(fabric, port->dim).full_wire;
    return port->delay_ps + serialization_ps(2 * full, port->rate_bps);
}

// A lower bound of the retransmission timers that flows of a transport behind a port arm when a
// packet starts. A timer shorter than this lag would be armed in the past, so the departures of
// such a port must be scheduled as events.
static ps_t shortest_rto_ps(const struct fabric *fabric, const struct graph_port *port,
                            const struct transport_dim *dim)
{
    // The base RTT of a pair includes one link of the rank in both directions, not necessarily the
    // one on which the flow sends.
    uint32_t first = 0, n = graph_ports_in(&fabric->graph, port->node, port->dim, &first);
    ps_t base_rtt = PS_NEVER;
    for (uint32_t p = first; p < first + n; p++) {
        const struct graph_port *link = &fabric->graph.ports[p],
                                *back = &fabric->graph.ports[link->peer];
        ps_t rtt = link->delay_ps + back->delay_ps +
                   serialization_ps(dim->full.wire, link->rate_bps) +
                   serialization_ps(dim->ack.wire, back->rate_bps);
        base_rtt = rtt < base_rtt ? rtt : base_rtt;
    }
    return dim->ops->shortest_timer_ps(&dim->spec, base_rtt);
}

static bool needs_departure_events(const struct fabric *fabric, const struct graph_port *port)
{
    ps_t lag_ps = catch_up_lag_ps(fabric, port);
    for (uint32_t t = 0; t < fabric->hosts.n_transports; t++)
        if (lag_ps >= shortest_rto_ps(fabric, port, hosts_dim(&fabric->hosts, port->dim, t)))
            return true;
    return false;
}

void fabric_build_network(struct fabric *fabric)
{
    const struct graph *g = &fabric->graph;
    network_init(&fabric->net, &fabric->engine, g->n_ends, g->n_nodes, g->n_ports,
                 fabric_classes_in_use(fabric));
    for (uint32_t p = 0; p < g->n_ports; p++) {
        const struct graph_port *port = &g->ports[p];
        const struct dim_spec *dim = &fabric->spec->dims[port->dim];
        struct port_config config = {.node = port->node,
                                     .local = port->local,
                                     .peer = port->peer,
                                     .peer_local = g->ports[port->peer].local,
                                     .peer_node = g->ports[port->peer].node,
                                     .rate_bps = fabric_port_rate(fabric, p),
                                     .delay_ps = port->delay_ps,
                                     .header_bytes = fabric_header_bytes(fabric, p)};
        network_set_port(&fabric->net, p, &config);
        network_set_pfc_response(&fabric->net, p, dim->sw.pfc.response_ps);
    }
    // Only packets that start at an end arm timers of transports.
    for (uint32_t p = 0; p < fabric->net.first_port[g->n_ends]; p++)
        if (needs_departure_events(fabric, &g->ports[p]))
            port_pin_departure_events(&fabric->net, p);
    // The mean only sizes the wheel of events, so 1500 bytes may stand for any packet.
    ps_t span = 0; // mean time from a start to its arrival
    for (uint32_t p = 0; p < g->n_ports; p++)
        span += (g->ports[p].delay_ps + serialization_ps(1500, g->ports[p].rate_bps)) / g->n_ports;
    engine_shape(&fabric->engine, g->n_ports, span);
    // Count preamble and inter-frame gap only if the scenario does.
    bool gap = fabric->spec->dims[0].transport.overhead == OVERHEAD_ETHERNET;
    fabric->net.pfc_wire_bytes = NET_PFC_FRAME_BYTES + (gap ? 20 : 0);
}
