// SPDX-License-Identifier: MIT
// The training loop as a pure sequence of a rank's actions, without time and network.
#pragma once

#include <stdbool.h>

#include "collective/algorithm/schedule.h"
#include "workload/training/training_spec.h"

enum loop_verb {
    LOOP_COMPUTE, // compute a part of a layer
    LOOP_ISSUE,   // issue the part's collective, if it has one
    LOOP_WAIT,    // wait until none of the part's collectives is open
    LOOP_STEP,    // go on to the next part or layer, after 1 ns
    LOOP_END,     // the last pass has ended; wait for all open collectives
};

struct loop_action {
    enum loop_verb verb;
    uint32_t layer;
    enum training_part part;
    bool urgent; // LOOP_ISSUE: has priority over all others
};

// Position of a rank in its loop; zeroed = at the beginning.
struct training_walk {
    uint32_t layer;
    uint64_t pass;
    uint8_t state, at;   // state: enum loop_state of training_loop.c
    uint32_t redo_until; // the layer that initiated the recomputation from a checkpoint
    bool redone;         // the forward pass has been recomputed since the loop reached this layer
};

// The next action in a loop of `passes` passes. The caller must complete an action before it calls
// again.
struct loop_action training_next(const struct training_spec *spec, uint64_t passes,
                                 struct training_walk *walk);

// Bit set of the schedule's dimensions that a layer's collective spans. For HYBRID_TRANSFORMER the
// sizes of some leading dimensions must multiply to the size of the model-parallel group.
// Dimensions that the schedule has no algorithm for are left out.
uint32_t training_dims(const struct training_spec *spec, uint32_t layer, enum training_part part,
                       const struct coll_schedule *schedule);
