// SPDX-License-Identifier: MIT
// Forwarding of switches: the latency of their pipelines, and the links that end at a cut-through
// switch.
#include "sim/fabric/fabric_internal.h"

// The latency of the switch to which a port's link leads. The routers of ranks have none.
ps_t fabric_latency_ps(const struct fabric *fabric, uint32_t port)
{
    const struct graph_port *p = &fabric->graph.ports[port];
    bool to_switch = fabric_peer_node(fabric, port) >= fabric->graph.n_ends;
    return to_switch ? fabric->spec->dims[p->dim].sw.latency_ps : 0;
}

// Add the latency of switches to the delays of the links that lead there.
void fabric_add_latencies(struct fabric *fabric)
{
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++)
        fabric->graph.ports[p].delay_ps += fabric_latency_ps(fabric, p);
}

uint32_t fabric_header_bytes(const struct fabric *fabric, uint32_t port)
{
    const struct graph *g = &fabric->graph;
    const struct graph_node *node = &g->nodes[fabric_peer_node(fabric, port)];
    // Ranks receive whole packets, and so does a switch that stores them.
    if (fabric_peer_node(fabric, port) < g->n_ends ||
        fabric->spec->dims[g->ports[port].dim].sw.forwarding != FORWARDING_CUT)
        return 0;
    // A faster output port would run out of bytes in the middle of a packet, so packets from this
    // link are stored completely.
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (g->ports[p].rate_bps > g->ports[port].rate_bps)
            return 0;
    return NET_CUT_THROUGH_BYTES;
}
