// SPDX-License-Identifier: MIT
// A phase: one chunk of a collective along one dimension, by one algorithm.
#pragma once

#include "collective/collective.h"
#include "engine/units.h"

#define COLL_MAX_DIMS 8
#define COLL_MAX_PHASES (2 * COLL_MAX_DIMS)

// `bytes` is nominal, as schedulers reckon: what a rank holds of the chunk when the phase begins,
// divided without remainder at every dimension (of an all-gather: the rank's own part).
struct coll_phase {
    uint8_t dim; // of the collective's dimensions; n_dims = all ranks at once
    uint8_t op;  // enum coll_op
    uint64_t bytes;
};

// A phase that all its members begin at once, as a network in closed form is asked about it.
struct coll_phase_call {
    enum coll_op op;
    const struct coll_algorithm *algorithm;
    const void *params;      // its settings, NULL = the defaults
    const uint32_t *members; // [n] ranks of the network, in the order of the algorithm
    uint32_t n;
    uint64_t bytes;   // as in coll_phase
    ps_t endpoint_ps; // delay of a rank before each message, and after its last
};
