// SPDX-License-Identifier: MIT
// The planes of a dimension, or the parallel links to a neighbour, over which messages are striped.
#include "engine/base/rng.h"
#include "sim/fabric/fabric_internal.h"

// Find the parallel ports among the `n` ports: equal next hops on different planes or links.
// Returns their number, and the port of stripe `stripe` in *chosen.
static uint32_t side_by_side(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                             const uint16_t *ports, uint32_t n, uint32_t stripe,
                             const uint16_t **chosen)
{
    const struct graph *g = &fabric->graph;
    const uint16_t *lanes[STRIPES_MAX];
    uint64_t planes = 0; // bit set of the planes below 64
    uint32_t count = 0, first = g->nodes[src].first_port;
    // The first stripe may be a byte longer; different pairs start with different planes.
    uint32_t pair = (uint32_t)hash_mix((uint64_t)src << 32 | dst) >> 1, turn = n > 1 ? pair % n : 0;
    uint32_t neighbour = n > 0 ? g->ports[g->ports[first + ports[turn]].peer].node : 0;
    for (uint32_t i = 0; i < n && count < STRIPES_MAX; i++) {
        uint32_t peer = g->ports[g->ports[first + ports[i]].peer].node;
        // In a switched dimension each plane counts once, however many ports lead to it. In a
        // direct dimension the links to one neighbour are the parallel ones.
        uint64_t plane = UINT64_C(1) << (g->nodes[peer].plane & 63);
        bool another = g->dim_direct[dim] ? peer == neighbour : !(planes & plane);
        planes |= plane;
        if (another)
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
