// SPDX-License-Identifier: MIT
// A phase: one chunk of a collective along one dimension, by one algorithm.
#pragma once

#include "collective/algorithm/collective.h"
#include "engine/base/units.h"

#define COLL_MAX_DIMS 8
#define COLL_MAX_PHASES (2 * COLL_MAX_DIMS)

// One phase of one chunk. `bytes` is the nominal size, by which schedulers compare phases: the part
// of the chunk that a rank holds when the phase begins. Every earlier dimension has divided it,
// without rounding. In an all-gather it is the rank's own part.
struct coll_phase {
    uint8_t dim; // index among the collective's dimensions; n_dims = all ranks at once
    uint8_t op;  // enum coll_op
    uint64_t bytes;
};

// Cost of a phase, as computed by a network in closed form.
struct coll_phase_cost {
    ps_t duration_ps;
    uint64_t messages;    // sum over all members
    ps_sum_t messages_ps; // sum of the times of these messages
};

// A phase whose members all begin at the same time, in the form that a network in closed form takes
// to compute its cost.
struct coll_phase_call {
    enum coll_op op;
    const struct coll_algorithm *algorithm;
    const void *params;      // settings of the algorithm, NULL = the defaults
    const uint32_t *members; // [n] ranks of the network, in the order of the algorithm
    uint32_t n;
    uint64_t bytes;                         // as in coll_phase
    const struct coll_reduction *reduction; // of the group, NULL = none
    ps_t endpoint_ps; // delay of a rank before each message and after its last one
    uint32_t chunk;   // as in coll_shape
};
