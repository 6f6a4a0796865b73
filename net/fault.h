// SPDX-License-Identifier: MIT
// Faults of one direction of a link: listed losses, random loss, random corruption, and link down.
// An affected packet is dropped at the time when it would arrive, so the sending port does not
// detect the fault.
#pragma once

#include "engine/base/rng.h"
#include "net/drop.h"
#include "net/loss_list.h"

struct fault {
    /* config */
    double loss, corruption; // probability per packet
    bool hits_pfc;           // loss and corruption also affect PFC frames
    struct loss_list *list;  // listed losses; NULL = none
    bool retries;            // the link resends packets that it loses
    /* state */
    bool down;
    ps_t up_since_ps; // packets whose transmission started earlier are lost; 0 = it was never down
    struct rng rng;
    /* counters */
    struct link_retry {
        uint64_t packets, attempts; // packets that were lost at least once; all lost attempts
        ps_t waited_ps;             // time that retries added to transmissions
    } retry;
    uint64_t pfc_frames; // PFC frames among the affected packets
};

// Add a rule to the listed losses.
void fault_list(struct fault *fault, const struct loss_rule *rule);
void fault_free(struct fault *fault);

// Link-level retry (Ultra Ethernet 1.0, LLR): loss and corruption are decided when a transmission
// starts, for one attempt after the other. The first attempt of a packet arrives at arrives_ps, and
// each of the others `round_ps` after the one before it. Returns for how long the link sends the
// packet again. After FAULT_ATTEMPTS_MAX attempts the packet is given up: p->given_up is then set,
// and the far end counts the loss. Call once for every packet, in order.
#define FAULT_ATTEMPTS_MAX 1000
ps_t fault_retry(struct fault *fault, struct packet *p, const struct packet_meta *meta,
                 ps_t arrives_ps, ps_t round_ps);

// Returns true and sets *reason if the fault hits the packet, whose transmission started at
// `start_ps`. Call once for every packet of the link, in order of arrival.
bool fault_hits(struct fault *fault, const struct packet *p, const struct packet_meta *meta,
                ps_t start_ps, enum drop_reason *reason);
