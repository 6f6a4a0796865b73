// SPDX-License-Identifier: MIT
// One rank's way through the steps of a phase, with what arrives before its step.
#pragma once

#include "engine/timer.h"

struct arrivals {          // of one step
    uint32_t messages;     // that have come
    uint64_t reduce_bytes; // that are to be added, whether they have arrived or are on their way
};

struct walk {
    struct sim_timer timer; // delays: used where the system has any
    struct phase_run *run;
    uint32_t member;
    uint32_t step;
    bool begun;   // its rank has begun the phase
    bool delayed; // the timer runs: the step is not issued yet
    uint32_t early_base, n_early;
    struct arrivals now, *early; // of this step; of later ones: early[step - early_base]
};

// The arrivals of a step that is not past.
struct arrivals *walk_arrivals(struct walk *walk, uint32_t step);

// To the next step, with what has come for it.
void walk_next_step(struct walk *walk);

// Back to step 0 of another phase; nothing has arrived.
void walk_reset(struct walk *walk);
void walk_free(struct walk *walk);
