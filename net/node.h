// SPDX-License-Identifier: MIT
// What a node of the network does with packets: a table of functions for each kind of node.
#pragma once

#include "net/packet.h"

enum net_node_kind {
    NET_RANK,   // an endpoint: transport/host.h
    NET_SWITCH, // switch/switch.h
    NET_ROUTER, // a rank that also forwards for others: switch/router.c
    NET_NODE_KINDS
};

// `now` is passed, never read from the clock. Ports are global indices but for `local`, which counts from
// the node's first port.
struct node_ops {
    // A packet (not PFC) has wholly arrived by port `local`; it is the node's until this returns.
    void (*arrive)(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now);
    // A packet leaves a queue: transmission starts. `queue_bytes` includes it. May mark it. May be
    // NULL.
    void (*depart)(void *ctx, uint32_t node, uint32_t port, struct packet *p, uint64_t queue_bytes,
                   ps_t now);
    // PORT_PULLS: fill `p` with the next packet to send on the port, false when there is none.
    bool (*pull)(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now);
    // The earliest time at which pull() may give a packet: <= now = at once, PS_NEVER = not before
    // something else happens.
    ps_t (*next_pull)(void *ctx, uint32_t port, ps_t now);
    // A class of the port was paused or resumed by PFC.
    void (*pause_changed)(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now);
    // A packet (not PFC) will arrive soon, or the port will pull: fetch the memory that will need. May
    // be NULL. hint() may decide where the packet goes (packet.onward), and returns the port by which
    // it, or the answer to it, leaves.
    uint32_t (*hint)(void *ctx, uint32_t node, uint32_t local, struct packet *p);
    void (*hint_pull)(void *ctx, uint32_t port);
    void *ctx;
};
