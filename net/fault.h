// SPDX-License-Identifier: MIT
// Faults of one direction of a link: random loss, random corruption, and link down. An affected
// packet is dropped at the time when it would arrive, so the sending port does not detect the
// fault.
#pragma once

#include "engine/rng.h"
#include "net/drop.h"
#include "net/packet.h"

struct fault {
    /* config */
    double loss, corruption; // probability per packet
    bool hits_pfc;           // loss and corruption also affect PFC frames
    /* state */
    bool down;
    ps_t up_since_ps; // packets whose transmission started earlier are lost
    struct rng rng;
    /* counters */
    uint64_t pfc_frames; // PFC frames among the affected packets
};

// Returns true and sets *reason if the fault hits the packet, whose transmission started at
// `start_ps`.
bool fault_hits(struct fault *fault, const struct packet *p, ps_t start_ps,
                enum drop_reason *reason);
