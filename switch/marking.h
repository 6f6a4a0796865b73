// SPDX-License-Identifier: MIT
// ECN marking of an egress queue: RED on the instantaneous length (a step where kmin = kmax), or a PI
// controller that holds the queue at a reference whatever the number of flows.
#pragma once

#include "engine/rng.h"

enum marking_kind { MARKING_RED, MARKING_PI };

// The controller: p += a (q - qref) - b (q_old - qref) each interval, within [0, 1] (Hollot et al.,
// INFOCOM 2001; for DCQCN Zhu et al., CoNEXT 2016, section 6).
struct marking_pi {
    /* config */
    double a, b; // per byte
    uint64_t qref_bytes;
    ps_t interval_ps;
    /* state */
    ps_t next_ps; // of the next update
    uint64_t q_old_bytes;
    double p;
};

struct marking {
    bool enabled;
    uint8_t kind; // enum marking_kind
    uint64_t kmin_bytes, kmax_bytes;
    double pmax;
    struct marking_pi pi;
};

// Probability of a mark at a queue of `bytes`, the departing packet included: for RED 0 below kmin,
// pmax (q - kmin) / (kmax - kmin) up to kmax, 1 above (Floyd & Jacobson 1993 without averaging, as
// in Zhu et al., SIGCOMM 2015); for PI what the controller has come to.
double marking_probability(const struct marking *m, uint64_t bytes);

// The queue is about to change from `bytes`, which it has had since the call before: make the
// controller's updates that fell due.
void marking_advance(struct marking *m, uint64_t bytes, ps_t now);

// Draw the mark; no random number is taken below kmin and where the probability is 1.
static inline bool marking_draw(const struct marking *m, uint64_t bytes, struct rng *rng)
{
    if (!m->enabled || bytes < m->kmin_bytes)
        return false;
    double p = marking_probability(m, bytes);
    return p >= 1 || rng_unit(rng) < p;
}
