// SPDX-License-Identifier: MIT
// How switches forward: the latency of their pipelines, and which links end at a switch that cuts through.
#include "sim/sim_internal.h"

// The latency of the switch to which a port's link leads. The routers of ranks have none.
ps_t sim_latency_ps(const struct sim *sim, uint32_t port)
{
    const struct graph_port *p = &sim->graph.ports[port];
    bool to_switch = sim_peer_node(sim, port) >= sim->graph.n_ends;
    return to_switch ? sim->spec->dims[p->dim].sw.latency_ps : 0;
}

// Add the latency of switches to the delays of the links that lead there.
void sim_add_latencies(struct sim *sim)
{
    for (uint32_t p = 0; p < sim->graph.n_ports; p++)
        sim->graph.ports[p].delay_ps += sim_latency_ps(sim, p);
}

uint32_t sim_header_bytes(const struct sim *sim, uint32_t port)
{
    const struct graph *g = &sim->graph;
    const struct graph_node *node = &g->nodes[sim_peer_node(sim, port)];
    if (sim_peer_node(sim, port) < g->n_ends ||
        sim->spec->dims[g->ports[port].dim].sw.forwarding != FORWARDING_CUT)
        return 0;
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++)
        if (g->ports[p].rate_bps > g->ports[port].rate_bps)
            return 0;
    return NET_CUT_THROUGH_BYTES;
}
