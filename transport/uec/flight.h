// SPDX-License-Identifier: MIT
// The packets that a sender has sent and that are not acknowledged in order: when each was sent
// last, which have arrived, and which are known to be lost.
#pragma once

#include "engine/base/units.h"
#include "transport/sender/psn_set.h"

struct uec_flight {
    ps_t *sent_ps;       // ring by packet number
    uint16_t *entropies; // ring by packet number: entropy of each packet
    size_t n_sent;       // a power of two, or 0
    struct psn_set arrived;
    struct psn_set lost; // to be sent again
};

void flight_free(struct uec_flight *f);
void flight_clear(struct uec_flight *f);

// Packet `psn` is sent with an entropy; `una` is the oldest one in flight.
void flight_sent(struct uec_flight *f, uint64_t una, uint64_t psn, uint32_t entropy, ps_t now);

// Packets in [una, cumulative) are acknowledged in order.
void flight_advance(struct uec_flight *f, uint64_t una, uint64_t cumulative);

// The packets base + i, for each bit i of `bits`, have arrived; all are at or after `una`.
void flight_arrived(struct uec_flight *f, uint64_t una, uint64_t base, uint64_t bits);

// True if a packet at or after una is neither known to have arrived nor known to be lost.
static inline bool flight_is_open(const struct uec_flight *f, uint64_t psn)
{
    return !psn_set_has(&f->arrived, psn) && !psn_set_has(&f->lost, psn);
}

static inline ps_t flight_sent_ps(const struct uec_flight *f, uint64_t psn)
{
    return f->sent_ps[psn & (f->n_sent - 1)];
}
static inline uint32_t flight_entropy(const struct uec_flight *f, uint64_t psn)
{
    return f->entropies[psn & (f->n_sent - 1)];
}
