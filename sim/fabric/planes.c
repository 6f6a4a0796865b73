// SPDX-License-Identifier: MIT
// The ports of a rank over which messages are striped: those to the planes of a dimension or to
// several switches of a graph, or the parallel links to a neighbour.
#include "engine/base/rng.h"
#include "sim/fabric/fabric_internal.h"

// Find the parallel ports among the `n` ports of a rank that are equal next hops. Returns their
// number, and the port of stripe `stripe` in *chosen.
static uint32_t side_by_side(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                             const uint16_t *ports, uint32_t n, uint32_t stripe,
                             const uint16_t **chosen)
{
    const struct graph *g = &fabric->graph;
    const uint16_t *lanes[STRIPES_MAX];
    uint32_t count = 0, first = g->nodes[src].first_port;
    // The first stripe may be a byte longer; different pairs start with different planes.
    uint32_t pair = (uint32_t)hash_mix((uint64_t)src << 32 | dst) >> 1, turn = n > 1 ? pair % n : 0;
    uint32_t neighbour = n > 0 ? g->ports[g->ports[first + ports[turn]].peer].node : 0;
    for (uint32_t i = 0; i < n && count < STRIPES_MAX; i++) {
        uint32_t peer = g->ports[g->ports[first + ports[i]].peer].node;
        // In a switched dimension a rank has a port for each plane, or for each switch that a graph
        // gives it (NVSwitches, dual ToR, NICs). In a direct dimension the links to one neighbour
        // are the parallel ones.
        if (!g->dim_direct[dim] || peer == neighbour)
            lanes[count++] = &ports[i];
    }
    if (count > 0)
        *chosen = lanes[(stripe + pair) % count];
    return count;
}

static bool is_among(uint16_t port, const uint16_t *ports, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ports[i] == port)
            return true;
    return false;
}

// Returns the port of stripe `stripe` in the network without failures. NULL = there is none, or it
// is not among the `n` ports `ports`, which lead to the destination now.
static const uint16_t *own_port(const struct fabric *fabric, uint32_t src, uint32_t dst,
                                uint32_t dim, uint32_t stripe, const uint16_t *ports, uint32_t n)
{
    // A stripe keeps the port that it has without failures, so that a failure elsewhere does not
    // move it.
    const uint16_t *first, *own;
    uint32_t all = routes_from(fabric_first_routes(fabric), src, dst, dim, &first);
    bool has = side_by_side(fabric, src, dst, dim, first, all, stripe, &own) > 0;
    return has && is_among(*own, ports, n) ? own : NULL;
}

uint32_t fabric_stripe_port(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                            uint32_t stripe, const uint16_t **port, uint32_t n)
{
    const uint16_t *own = own_port(fabric, src, dst, dim, stripe, *port, n);
    if (!own)
        return side_by_side(fabric, src, dst, dim, *port, n, stripe, port) > 0;
    *port = own;
    return 1;
}

uint32_t fabric_way(const struct fabric *fabric, uint32_t port, uint32_t dst, uint32_t entropy,
                    uint32_t *ports, uint32_t most)
{
    const struct network *net = &fabric->net;
    for (uint32_t n = 0; n < most; n++) {
        ports[n] = port;
        uint32_t node = net->ports[port].peer_node;
        if (node == dst)
            return n + 1;
        if (node_is_rank(net, node))
            return 0; // its router forwards, beside its own packets
        uint32_t local = switch_way(switch_of(&fabric->switches, node), dst, entropy);
        if (local == SWITCH_WAYS)
            return 0;
        port = node_port(net, node, local);
    }
    return 0;
}

// The port of the receiver at which packets arrive; UINT32_MAX = it is not known.
static uint32_t end_of(const struct fabric *fabric, uint32_t port, uint32_t dst, uint32_t entropy)
{
    uint32_t ports[ROUTE_MAX_HOPS],
        n = fabric_way(fabric, port, dst, entropy, ports, ROUTE_MAX_HOPS);
    return n > 0 ? fabric->net.cold[ports[n - 1]].peer : UINT32_MAX;
}

bool fabric_arrives(void *ctx, const struct flow_id *id, uint32_t port, uint32_t entropy)
{
    const struct fabric *fabric = ctx;
    uint32_t src = id->src_node, dst = id->dst_node, dim = id->dim;
    const uint16_t *ports;
    if (src == dst || fabric->graph.dim_direct[dim])
        return true;
    uint32_t n = routes_from(fabric_first_routes(fabric), dst, src, dim, &ports);
    if (n < 2)
        return true;
    // The part's own port of the sender, counted among those that it is cut over, is also the
    // number of the receiver's port.
    const uint16_t *from;
    uint32_t m = routes_from(fabric_first_routes(fabric), src, dst, dim, &from), at = 0;
    while (at < m && node_port(&fabric->net, src, from[at]) != port)
        at++;
    uint32_t end = end_of(fabric, port, dst, entropy);
    if (at == m || end == UINT32_MAX)
        return true;
    // ACKs go back by the same ports, where they would else be in the way of other parts.
    return end == node_port(&fabric->net, dst, ports[at % n]) &&
           end_of(fabric, end, src, id->back_entropy) == port;
}

uint32_t fabric_stripes(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                        uint32_t transport)
{
    const uint16_t *ports;
    if (!fabric->spec->dims[dim].stacks[transport].transport.stripe)
        return 1;
    src = graph_owner(&fabric->graph, src, dim);
    dst = graph_owner(&fabric->graph, dst, dim);
    if (src == dst)
        return 1;
    uint32_t n = routes_from(fabric_first_routes(fabric), src, dst, dim, &ports);
    n = side_by_side(fabric, src, dst, dim, ports, n, 0, &ports);
    return n > 0 ? n : 1;
}

uint32_t fabric_planes_now(const struct fabric *fabric, const struct transfer_request *r,
                           uint32_t dim, uint32_t planes, uint8_t *stripes)
{
    const uint16_t *ports;
    uint32_t src = graph_owner(&fabric->graph, r->src, dim);
    uint32_t dst = graph_owner(&fabric->graph, r->dst, dim), found = 0;
    // As long as no link has failed, every plane leads to the destination.
    uint32_t n =
        fabric->rerouted && src != dst ? routes_from(&fabric->routes, src, dst, dim, &ports) : 0;
    for (uint32_t i = 0; i < planes && n > 0; i++)
        if (own_port(fabric, src, dst, dim, i, ports, n))
            stripes[found++] = (uint8_t)i;
    if (found > 0)
        return found;
    // Without any plane to the destination the message is cut as if there were no failure.
    for (uint32_t i = 0; i < planes; i++)
        stripes[i] = (uint8_t)i;
    return planes;
}

uint32_t fabric_parts(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                      uint32_t transport)
{
    uint32_t split = hosts_dim(&fabric->hosts, dim, transport)->parts_per_message;
    return fabric_stripes(fabric, src, dst, dim, transport) * (split > 1 ? split : 1);
}
