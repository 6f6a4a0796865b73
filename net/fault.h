// SPDX-License-Identifier: MIT
// Faults of a link direction: random loss and corruption, and being down. What they hit is gone when it
// would arrive: the sender's port never knows.
#pragma once

#include "engine/rng.h"
#include "net/packet.h"

enum fault_reason { FAULT_LOSS, FAULT_CORRUPTION, FAULT_DOWN, FAULT_REASONS };

struct fault {
    /* config */
    double loss, corruption; // probability per packet
    bool hits_pfc;           // loss and corruption hit PFC frames too
    /* state */
    bool down;
    ps_t up_since_ps; // what started before it is lost
    struct rng rng;
    /* counters */
    uint64_t packets[FAULT_REASONS], bytes[FAULT_REASONS]; // frame bytes
    uint64_t pfc_frames;                                   // of the packets
};

// Does the packet, whose transmission started at `start_ps`, get lost? Counts it.
bool fault_takes(struct fault *fault, const struct packet *p, ps_t start_ps);
