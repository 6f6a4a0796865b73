// SPDX-License-Identifier: MIT
// ECN marking of an egress queue: RED on the instantaneous length (a step where kmin = kmax).
#pragma once

#include "engine/rng.h"

struct marking {
    bool enabled;
    uint64_t kmin_bytes, kmax_bytes;
    double pmax;
};

// Probability of a mark at a queue of `bytes`, the departing packet included: 0 below kmin,
// pmax (q - kmin) / (kmax - kmin) up to kmax, 1 above (Floyd & Jacobson 1993 without averaging, as
// in Zhu et al., SIGCOMM 2015).
double marking_probability(const struct marking *m, uint64_t bytes);

// Draw the mark; a random number is taken only between kmin and kmax.
static inline bool marking_draw(const struct marking *m, uint64_t bytes, struct rng *rng)
{
    if (!m->enabled || bytes < m->kmin_bytes)
        return false;
    if (bytes > m->kmax_bytes || (bytes == m->kmax_bytes && m->kmin_bytes == m->kmax_bytes))
        return true;
    return rng_unit(rng) < marking_probability(m, bytes);
}
