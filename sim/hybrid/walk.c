// SPDX-License-Identifier: MIT
// The way of a connection's packets and of their ACKs, by the switches' own tables and hashes.
#include "sim/hybrid/hybrid_internal.h"

#include "switch/switch.h"

// Writes the ports from `port` of a rank to the node `dst`, and returns their number; 0 = there is
// no single way, or it is too long.
static uint32_t walk(const struct fabric *fabric, uint32_t port, uint32_t dst, uint32_t entropy,
                     uint32_t ports[TRAIN_HOPS])
{
    const struct network *net = &fabric->net;
    for (uint32_t n = 0; n < TRAIN_HOPS; n++) {
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

static void describe(const struct network *net, const uint32_t *ports, uint32_t n,
                     struct train_path *path)
{
    path->n = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct link *link = port_link(net, ports[i]);
        path->hops[i] =
            (struct train_hop){(double)link->byte_time.num / (double)link->byte_time.den,
                               link->delay_ps, link->header_bytes};
    }
}

void connection_walk(const struct hybrid *h, struct quiet_connection *c, const struct sender *s)
{
    const struct fabric *fabric = h->fabric;
    const struct network *net = &fabric->net;
    const struct flow_id *id = sender_id(s);
    uint32_t n = walk(fabric, s->port, s->dst_node, s->entropy, c->there), m = 0;
    // The receiver answers by the port that the packets arrive at.
    if (n > 0)
        m = walk(fabric, net->cold[c->there[n - 1]].peer, net->ports[s->port].node,
                 id->back_entropy, c->back);
    c->known = true;
    c->never = n == 0 || m == 0 || s->dim->sprays || s->dim->numbers_paths;
    if (c->never)
        return;
    describe(net, c->there, n, &c->out);
    describe(net, c->back, m, &c->in);
    for (uint32_t i = 0; i < n; i++)
        if (c->out.hops[i].byte_ps > c->slowest_ps)
            c->slowest_ps = c->out.hops[i].byte_ps;
}
