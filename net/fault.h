// SPDX-License-Identifier: MIT
// Faults of one direction of a link: listed losses, random loss, random corruption, and link down. An
// affected packet is dropped at the time when it would arrive, so the sending port does not detect
// the fault.
#pragma once

#include "engine/rng.h"
#include "net/drop.h"
#include "net/loss_list.h"

struct fault {
    /* config */
    double loss, corruption; // probability per packet
    bool hits_pfc;           // loss and corruption also affect PFC frames
    struct loss_list *list;  // listed losses; NULL = none
    /* state */
    bool down;
    ps_t up_since_ps; // packets whose transmission started earlier are lost
    struct rng rng;
    /* counters */
    uint64_t pfc_frames; // PFC frames among the affected packets
};

// Add a rule to the listed losses.
void fault_list(struct fault *fault, const struct loss_rule *rule);
void fault_free(struct fault *fault);

// Returns true and sets *reason if the fault hits the packet, whose transmission started at
// `start_ps`. Call once for every packet of the link, in order of arrival.
bool fault_hits(struct fault *fault, const struct packet *p, const struct packet_meta *meta,
                ps_t start_ps, enum drop_reason *reason);
