// SPDX-License-Identifier: MIT
// The routers of ranks in direct dimensions: packets that arrive at a rank but are for another rank
// pass a switch element, which shares the rank's ports with its NIC.
//
// There is no hop and no link between NIC and router. Transit packets are queued at the output
// port, where the NIC's own packets are pulled (net/network.c alternates between them). Packets
// that the NIC queues (ACKs, CNPs) do not pass the router: they use none of its buffer and are not
// marked.
#include "engine/base/memory.h"
#include "net/credit_balance.h"
#include "switch/switch.h"

// Returns the node number of the router of a rank's port.
static uint32_t router_node(const struct switches *sw, uint32_t port)
{
    return sw->net->n_ranks + sw->router_at[port] - 1;
}

// Returns the port's index among the ports of its router.
static uint32_t local_of(const struct switches *sw, uint32_t port)
{
    return port - switch_of(sw, router_node(sw, port))->first_port;
}

static inline const struct node_ops *nic(const struct switches *sw)
{
    return &sw->net->ops[NET_RANK];
}

static inline const struct node_ops *element(const struct switches *sw)
{
    return &sw->net->ops[NET_SWITCH];
}

static void arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct switches *sw = ctx;
    if (p->dst == node) {
        uint32_t sender = sw->net->cold[node_port(sw->net, node, local)].peer;
        if (port_has_credits(sw->net, sender, p->cls) && !sw->net->credits[sender].by_nic)
            credits_return(sw->net, sender, p->cls, p->frame_bytes, now);
        nic(sw)->arrive(nic(sw)->ctx, node, local, p, now);
        return;
    }
    uint32_t port = node_port(sw->net, node, local);
    SIM_ASSERT(sw->net->engine, node, sw->router_at[port] > 0);
    element(sw)->arrive(sw, router_node(sw, port), local_of(sw, port), p, now);
}

static void depart(void *ctx, uint32_t node, uint32_t port, struct packet *p, uint64_t queue_bytes,
                   ps_t now)
{
    struct switches *sw = ctx;
    (void)node;
    if (p->ingress == PACKET_OWN)
        return; // a packet of the NIC, which does not pass the router and is not marked
    sw->net->cold[port].own_turn |= p->kind == PACKET_DATA;
    element(sw)->depart(sw, router_node(sw, port), port, p, queue_bytes, now);
}

static bool pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    struct switches *sw = ctx;
    if (!nic(sw)->pull(nic(sw)->ctx, node, port, p, now))
        return false;
    sw->net->cold[port].own_turn = false;
    return true;
}

static ps_t next_pull(void *ctx, uint32_t port, ps_t now)
{
    const struct switches *sw = ctx;
    return nic(sw)->next_pull(nic(sw)->ctx, port, now);
}

static void pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    struct switches *sw = ctx;
    if (sw->watchdogs)
        watchdog_pause_changed(sw, port, cls, paused, now);
    nic(sw)->pause_changed(nic(sw)->ctx, port, cls, paused, now);
}

static uint32_t hint(void *ctx, uint32_t node, uint32_t local, struct packet *p)
{
    struct switches *sw = ctx;
    uint32_t port = node_port(sw->net, node, local);
    if (p->dst == node)
        return nic(sw)->hint(nic(sw)->ctx, node, local, p);
    if (sw->router_at[port] > 0)
        return element(sw)->hint(sw, router_node(sw, port), local_of(sw, port), p);
    return port;
}

void routers_attach(struct switches *sw)
{
    struct network *net = sw->net;
    sw->router_at = memory_zeroed(net->first_port[net->n_ranks], sizeof *sw->router_at);
    for (uint32_t n = sw->n_switches; n < sw->n_switches + sw->n_routers; n++)
        for (uint32_t i = 0; i < sw->nodes[n].n_ports; i++) {
            uint32_t port = sw->nodes[n].first_port + i;
            sw->router_at[port] = n + 1;
            net->ports[port].flags |= PORT_ROUTES;
            net->kinds[net->ports[port].node] = NET_ROUTER;
            net->arbitrates = true;
        }
    net->ops[NET_ROUTER] = (struct node_ops){.arrive = arrive,
                                             .depart = depart,
                                             .pull = pull,
                                             .next_pull = next_pull,
                                             .pause_changed = pause_changed,
                                             .hint = hint,
                                             .ctx = sw};
}
