// SPDX-License-Identifier: MIT
// The dimension that a message takes, where circuits are for some messages only.
#include "sim/fabric/fabric_circuits.h"

// Returns true if ranks forward messages of the pair over circuits of the dimension.
static bool transit_joins(const struct fabric *fabric, uint32_t a, uint32_t b, uint32_t dim)
{
    uint32_t ports[ROUTE_MAX_HOPS];
    return fabric->circuits->of_dim[dim]->params->transit &&
           fabric_route(fabric, fabric_first_routes(fabric), a, b, dim, ports) > 0;
}

bool fabric_joined_by_circuit(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim)
{
    const uint16_t *ports;
    // Aggregators have no ports in dimensions of circuits.
    if (!fabric->circuits || !fabric->circuits->of_dim[dim] || src >= fabric->graph.n_ranks ||
        dst >= fabric->graph.n_ranks)
        return false;
    uint32_t n = routes_from(fabric_first_routes(fabric), src, dst, dim, &ports);
    return n > 0 && fabric_peer_node(fabric, fabric->graph.nodes[src].first_port + ports[0]) == dst;
}

// In a dimension of circuits a path for the pair is a circuit, or transit over several.
bool fabric_pair_joined(const struct fabric *fabric, uint32_t a, uint32_t b)
{
    bool joined = false;
    for (uint32_t d = 0; !joined && d < fabric->spec->n_dims; d++)
        joined = !fabric->circuits->of_dim[d] && graph_dim_joins(&fabric->graph, a, b, d);
    for (uint32_t d = 0; !joined && d < fabric->spec->n_dims; d++)
        joined = fabric->circuits->of_dim[d] &&
                 (fabric_joined_by_circuit(fabric, a, b, d) || transit_joins(fabric, a, b, d));
    return joined;
}

uint32_t fabric_message_dim(const struct fabric *fabric, uint32_t src, uint32_t dst, uint64_t bytes)
{
    uint32_t usual = graph_joining_dim(&fabric->graph, src, dst);
    if (!fabric->circuits || usual == GRAPH_NONE)
        return usual;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        const struct circuit_switch *c = fabric->circuits->of_dim[d];
        if (c && bytes >= c->params->threshold_bytes &&
            fabric_joined_by_circuit(fabric, src, dst, d))
            return d;
    }
    if (!fabric->circuits->of_dim[usual])
        return usual;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) // the circuits are not for this message
        if (!fabric->circuits->of_dim[d] && graph_dim_joins(&fabric->graph, src, dst, d))
            return d;
    // No dimension joins the two directly, so ranks forward the message over several circuits.
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        if (fabric->circuits->of_dim[d] && transit_joins(fabric, src, dst, d))
            return d;
    return usual;
}
