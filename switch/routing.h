// SPDX-License-Identifier: MIT
// The choice among several equal-cost output ports, for all kinds of routing except ECMP.
#pragma once

#include "engine/base/rng.h"
#include "net/network.h"
#include "switch/switch_spec.h"

// One entry of a flowlet table: the port of the burst, and the time of its last packet.
struct flowlet {
    ps_t last_ps;
    uint32_t choice;
    bool used;
};

struct link_quality;

struct routing {
    /* config */
    const struct link_quality *quality; // NULL = the queues at this instant; borrowed
    bool remote;
    uint8_t kind;    // enum routing_kind
    uint8_t spray;   // enum spray_order
    bool by_quality; // flowlet: a new burst takes the best port
    uint8_t source;  // enum source_choice
    ps_t flowlet_gap_ps;
    /* state */
    uint32_t *paths; // source: [flow] number of the next path; allocated at first use
    size_t n_paths;
    uint32_t turn[2];         // round robin: turn of data, and of all other packets
    struct rng rng;           // for random choices
    struct flowlet *flowlets; // [ROUTING_FLOWLETS]; allocated at first use
};

#define ROUTING_FLOWLETS 4096 // entries per switch; flows with the same entry share its choice

// Returns the index of the chosen port in `ports`, an array of `count` ports counted from
// `first_port`. `hash` is the hash of the packet's 5-tuple; from_source: the packet comes from a
// rank. Kind source uses up part of the packet's entropy. Implements all kinds of routing except
// ECMP.
uint32_t routing_pick(struct routing *r, struct network *net, uint32_t first_port,
                      const uint16_t *ports, uint32_t count, struct packet *p, bool from_source,
                      uint32_t hash, ps_t now);

// Returns the entry of the burst to which a packet belongs. Sets *fresh if it begins one.
struct flowlet *routing_flowlet(struct routing *r, uint32_t hash, bool *fresh, ps_t now);
void routing_free(struct routing *r);
