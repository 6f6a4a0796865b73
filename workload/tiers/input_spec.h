// SPDX-License-Identifier: MIT
// Where the samples of a training are, and how its ranks read them: the key `input` of jobs.
#pragma once

#include "workload/tiers/tier.h"

enum input_shuffle { INPUT_LOCAL, INPUT_GLOBAL };

struct input_params {                         // as in a scenario
    const char *from;                         // "" = the job has no `input`
    uint64_t sample_bytes, samples, prefetch; // samples: PARAM_AUTO = they follow from the batch
    int shuffle;                              // enum input_shuffle
};

extern const struct param input_params[];
extern const size_t n_input_params;

struct input_spec {
    struct input_params p;
    struct tier_set tiers; // of the job
    uint32_t tier;         // that has the samples
};
