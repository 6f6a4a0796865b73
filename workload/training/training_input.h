// SPDX-License-Identifier: MIT
// Samples of a training job: before a pass computes, a rank reads those of the pass from a tier of
// memory, ahead of the passes as in workload/nodes/input.h.
#pragma once

#include "workload/program.h"
#include "workload/tiers/input_spec.h"

#define TRAINING_INPUT_ID (UINT32_MAX - 1) // step id of reads

struct input_rank {
    uint64_t begun, issued, read; // passes; reads of samples
    ps_t waits_since_ps;          // PS_NEVER = it does not wait
    ps_t waited_ps;
};

struct training_input {
    const struct input_spec *spec; // NULL = samples cost nothing
    uint64_t passes;
    struct input_rank *ranks;
};

void training_input_init(struct training_input *in, const struct input_spec *spec, uint32_t ranks,
                         uint64_t passes);
void training_input_free(struct training_input *in);

// Called before a rank's next action, in pass `pass`. Returns PROGRAM_STEP with a read that begins
// now; PROGRAM_WAIT if the pass cannot begin before a read has ended; PROGRAM_END if nothing is in
// the way of the action.
enum program_state training_input_next(struct training_input *in, uint32_t rank, uint64_t pass,
                                       ps_t now, struct step *step);

// A read has ended.
void training_input_done(struct training_input *in, uint32_t rank);
