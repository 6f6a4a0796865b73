// SPDX-License-Identifier: MIT
// The order in which a pipeline stage runs forward and backward passes of micro-batches.
//
//   gpipe        all forward passes, then all backward passes
//   1f1b         p - i - 1 forward passes of stage i, then one backward after each forward
//   interleaved  every stage has v parts of the model (chunks); micro-batches go in groups of p
//     through
//                chunk after chunk; needs micro-batches that are a multiple of p
// Bubble share of an iteration without communication: (p - 1)/(m + p - 1), interleaved (p - 1)/(vm
// + p - 1). Sources: Huang et al., NeurIPS 2019 (GPipe); Narayanan et al., SOSP 2019 and SC 2021
// (1F1B, interleaved).
#pragma once

#include "workload/llm/llm_spec.h"

struct llm_pass {
    uint32_t micro_batch, chunk;
    bool backward;
};

// Pass `k` of stage `stage`, k < llm_passes(). Computed without storing the schedule.
uint64_t llm_passes(const struct llm_spec *s);
struct llm_pass llm_pass_at(const struct llm_spec *s, uint32_t stage, uint64_t k);
