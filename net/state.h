// SPDX-License-Identifier: MIT
// The state of a network: packets, ports, links, pauses (engine/state.h).
#pragma once

#include "engine/state.h"
#include "net/network.h"

// Visits the meta-data of a packet, which the transport interprets. p->meta is not 0.
struct packet_visit {
    void (*meta)(void *ctx, struct state *st, struct packet *p, struct packet_meta *meta);
    void *ctx;
};

// Visit all state of a network of one shard. All ports must have caught up.
void network_visit(struct network *net, struct state *st, const struct packet_visit *visit);

// The waits of a packet that keeps them.
void meta_visit_waits(struct network *net, struct state *st, uint32_t slot);
