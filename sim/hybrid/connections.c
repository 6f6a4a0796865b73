// SPDX-License-Identifier: MIT
// The connections, with the ways of their packets and ACKs by the switches' own tables and hashes.
#include "sim/hybrid/hybrid_internal.h"

#include <string.h>

#include "engine/base/memory.h"
#include "switch/switch.h"

struct quiet_connection *hybrid_connection(struct hybrid *h, uint32_t flow)
{
    while (flow >= h->cap) {
        size_t cap = h->cap;
        h->connections = memory_grow(h->connections, &cap, sizeof(struct quiet_connection *));
        memset(h->connections + h->cap, 0, (cap - h->cap) * sizeof(struct quiet_connection *));
        h->cap = cap;
    }
    if (!h->connections[flow])
        h->connections[flow] = memory_zeroed(1, sizeof(struct quiet_connection));
    return h->connections[flow];
}

static void describe(const struct network *net, struct way *way)
{
    for (uint32_t i = 0; i < way->n; i++) {
        const struct link *link = port_link(net, way->ports[i]);
        way->hops[i] = (struct train_hop){(double)link->byte_time.num / (double)link->byte_time.den,
                                          link->delay_ps, link->header_bytes};
    }
}

// Why the packets of a port must be there: somebody captures them, a fault may change the link in
// either direction, they pass a meter, or their credits are counted. IS_QUIET = nothing needs them.
static enum not_quiet port_needs(const struct switches *sw, uint32_t port)
{
    const struct network *net = sw->net;
    const struct port_cold *cold = &net->cold[port];
    if ((net->ports[port].flags | net->ports[cold->peer].flags) & PORT_FAULTY)
        return NOT_QUIET_CHANGES;
    if (sw->meter_at && (sw->meter_at[port].out > 0 || sw->meter_at[cold->peer].in > 0))
        return NOT_QUIET_METERED;
    return cold->special & SPECIAL_TAPPED    ? NOT_QUIET_WATCHED
           : cold->special & SPECIAL_CREDITS ? NOT_QUIET_CREDITS
                                             : IS_QUIET;
}

static void note_needs(const struct switches *sw, const struct way *way, enum not_quiet *needs)
{
    for (uint32_t i = 0; i < way->n && *needs == IS_QUIET; i++)
        *needs = port_needs(sw, way->ports[i]);
}

void connection_walk(const struct hybrid *h, struct quiet_connection *c, const struct sender *s)
{
    const struct fabric *fabric = h->fabric;
    const struct network *net = &fabric->net;
    const struct flow_id *id = sender_id(s);
    c->out.n = fabric_way(fabric, s->port, s->dst_node, s->entropy, c->out.ports, HYBRID_HOPS);
    // The receiver answers by the port that the packets arrive at.
    if (c->out.n > 0)
        c->in.n = fabric_way(fabric, net->cold[c->out.ports[c->out.n - 1]].peer,
                             net->ports[s->port].node, id->back_entropy, c->in.ports, HYBRID_HOPS);
    c->known = true;
    c->special = IS_QUIET;
    c->slowest_ps = 0;
    c->never = c->out.n == 0 || c->in.n == 0 || s->dim->sprays || s->dim->numbers_paths;
    describe(net, &c->out);
    describe(net, &c->in);
    note_needs(&fabric->switches, &c->out, &c->special);
    note_needs(&fabric->switches, &c->in, &c->special);
    for (uint32_t i = 0; i < c->out.n; i++)
        if (c->out.hops[i].byte_ps > c->slowest_ps)
            c->slowest_ps = c->out.hops[i].byte_ps;
}
