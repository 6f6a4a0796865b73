// SPDX-License-Identifier: MIT
// Faults of a link direction: random loss and corruption, and being down. A packet that is hit is dropped where it
// would arrive: the sender's port does not notice.
#pragma once

#include "engine/rng.h"
#include "net/drop.h"
#include "net/packet.h"

struct fault {
    /* config */
    double loss, corruption; // probability per packet
    bool hits_pfc;           // loss and corruption hit PFC frames too
    /* state */
    bool down;
    ps_t up_since_ps; // what started before it is lost
    struct rng rng;
    /* counters */
    uint64_t pfc_frames; // of the packets hit
};

// Does the fault hit the packet, whose transmission started at `start_ps`? *reason is set where it does.
bool fault_hits(struct fault *fault, const struct packet *p, ps_t start_ps,
                enum drop_reason *reason);
