// SPDX-License-Identifier: MIT
// ECN marking of an egress queue: RED on the instantaneous queue length (a step if kmin = kmax), or
// a PI controller that holds the queue at a reference length for any number of flows.
#pragma once

#include "engine/base/rng.h"

enum marking_kind { MARKING_RED, MARKING_PI };

// The PI controller: p += a (q - qref) - b (q_old - qref) in each interval, limited to [0, 1]
// (Hollot et al., INFOCOM 2001; for DCQCN Zhu et al., CoNEXT 2016, section 6).
struct marking_pi {
    /* config */
    double a, b; // per byte
    uint64_t qref_bytes;
    ps_t interval_ps;
    /* state */
    ps_t next_ps; // time of the next update
    uint64_t q_old_bytes;
    double p;
};

struct marking {
    bool enabled;
    uint8_t kind; // enum marking_kind
    uint64_t kmin_bytes, kmax_bytes;
    uint64_t packet_bytes; // not 0: the queue is counted in packets, of this many bytes each
    double pmax;
    struct marking_pi pi;
};

// Returns the marking probability at a queue of `bytes`, the departing packet included. RED: 0
// below kmin, pmax (q - kmin) / (kmax - kmin) up to kmax, 1 above (Floyd & Jacobson 1993 without
// averaging, as in Zhu et al., SIGCOMM 2015). PI: the controller's current p.
double marking_probability(const struct marking *m, uint64_t bytes);

// Make the controller's updates that are due by `now`. Call before the queue changes from `bytes`,
// the length that it has had since the previous call.
void marking_advance(struct marking *m, uint64_t bytes, ps_t now);

// Decide whether to mark a packet. No random number is drawn below kmin or if the probability is 1.
static inline bool marking_draw(const struct marking *m, uint64_t bytes, struct rng *rng)
{
    if (!m->enabled || bytes < m->kmin_bytes)
        return false;
    double p = marking_probability(m, bytes);
    return p >= 1 || rng_unit(rng) < p;
}
