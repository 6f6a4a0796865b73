// SPDX-License-Identifier: MIT
// The operations of a node on packets: a table of functions for each kind of node.
#pragma once

#include "net/packet.h"

enum net_node_kind {
    NET_RANK,   // an endpoint: transport/host.h
    NET_SWITCH, // switch/switch.h
    NET_ROUTER, // a rank that also forwards for others: switch/router.c
    NET_NODE_KINDS
};

// The current time is passed as `now`; functions must not read the clock. `port` is a global index;
// `local` counts from the node's first port.
struct node_ops {
    // A packet (not PFC) has completely arrived by port `local`. The node may use *p until the
    // function returns.
    void (*arrive)(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now);
    // A packet leaves a queue and its transmission starts. `queue_bytes` includes it. The function
    // may set CE. May be NULL.
    void (*depart)(void *ctx, uint32_t node, uint32_t port, struct packet *p, uint64_t queue_bytes,
                   ps_t now);
    // PORT_PULLS: writes the next packet to send by the port to *p. Returns false if there is none.
    bool (*pull)(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now);
    // Returns the earliest time at which pull() may return a packet: <= now = at once, PS_NEVER =
    // not before another event.
    ps_t (*next_pull)(void *ctx, uint32_t port, ps_t now);
    // PFC has paused or resumed a class of the port.
    void (*pause_changed)(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now);
    // A packet (not PFC) will arrive soon, or the port will pull soon: prefetch the memory needed.
    // May be NULL. hint() may choose the output port early (packet.onward). It returns the port by
    // which the packet, or its ACK, will leave.
    uint32_t (*hint)(void *ctx, uint32_t node, uint32_t local, struct packet *p);
    void (*hint_pull)(void *ctx, uint32_t port);
    void *ctx;
};
