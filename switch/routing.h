// SPDX-License-Identifier: MIT
// Which of several equal output ports a packet takes.
#pragma once

#include "engine/rng.h"
#include "net/network.h"
#include "switch/switch_spec.h"

// One entry of a flowlet table: where the burst goes, and when its last packet came.
struct flowlet {
    ps_t last_ps;
    uint32_t choice;
    bool used;
};

struct routing {
    /* config */
    uint8_t kind;  // enum routing_kind
    uint8_t spray; // enum spray_order
    ps_t flowlet_gap_ps;
    /* state */
    uint32_t turn[2];         // round robin: of data, of all else
    struct rng rng;           // of random choices
    struct flowlet *flowlets; // [ROUTING_FLOWLETS], made when first needed
};

#define ROUTING_FLOWLETS 4096 // entries of a switch; flows that share one share its choice

// The index of one of `count` `ports`, which count from `first_port`, for a packet whose 5-tuple hashes to `hash`, by
// any kind but ECMP.
uint32_t routing_pick(struct routing *r, struct network *net, uint32_t first_port,
                      const uint16_t *ports, uint32_t count, const struct packet *p, uint32_t hash,
                      ps_t now);
void routing_free(struct routing *r);
