// SPDX-License-Identifier: MIT
// Training loops as pure sequences: what a rank does next. No time, no network.
#pragma once

#include <stdbool.h>

#include "collective/schedule.h"
#include "workload/training_spec.h"

enum loop_verb {
    LOOP_COMPUTE, // a part of a layer
    LOOP_ISSUE,   // its collective, if it has one
    LOOP_WAIT,    // until no collective of it is on its way
    LOOP_STEP,    // to the next part or layer: 1 ns
    LOOP_END,     // the last pass is over; what is on its way is awaited
};

struct loop_action {
    enum loop_verb verb;
    uint32_t layer;
    enum training_part part;
    bool urgent; // LOOP_ISSUE: before all others
};

// Where a rank is in its loop; zeroed = at the beginning.
struct training_walk {
    uint32_t layer;
    uint64_t pass;
    uint8_t state, at;   // state: enum loop_state of training_loop.c
    uint32_t redo_until; // the layer that went back to a checkpoint
    bool redone;         // the forward pass up to this layer, since the loop came to it
};

// The next action of `passes` passes. Wait for it to be done before asking again.
struct loop_action training_next(const struct training_spec *spec, uint64_t passes,
                                 struct training_walk *walk);

// The dimensions of the schedule (bit set) that a layer's collective spans. Of HYBRID_TRANSFORMER
// some leading dimensions multiply to the model-parallel group.
uint32_t training_dims(const struct training_spec *spec, uint32_t layer, enum training_part part,
                       const struct coll_schedule *schedule);
