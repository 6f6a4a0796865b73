// SPDX-License-Identifier: MIT
// The order in which a pipeline stage runs forward and backward passes of micro-batches.
//
//   gpipe        all forward passes, then all backward passes
//   1f1b         p - i - 1 forward passes of stage i, then one backward after each forward
//   interleaved  every stage has v parts of the model (chunks); micro-batches go in groups of p
//     through chunk after chunk; needs micro-batches that are a multiple of p
// Bubble share of an iteration without communication: (p - 1)/(m + p - 1), interleaved (p - 1)/(vm
// + p - 1). Sources: Huang et al., NeurIPS 2019 (GPipe); Narayanan et al., SOSP 2019 and SC 2021
// (1F1B, interleaved).
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum pipeline_schedule { PIPELINE_1F1B, PIPELINE_GPIPE, PIPELINE_INTERLEAVED };
extern const char *const pipeline_schedules[]; // their names, NULL-terminated

struct pipeline {
    int schedule;           // enum pipeline_schedule
    uint32_t stages;        // 1 = no pipeline
    uint32_t chunks;        // parts of the model on a stage; 1 unless interleaved
    uint32_t micro_batches; // of an iteration
};

struct pipeline_pass {
    uint32_t micro_batch, chunk;
    bool backward;
};

// Number of passes of a stage in an iteration, and pass `k` of stage `stage`, k < their number.
// Computed without storing the schedule.
uint64_t pipeline_passes(const struct pipeline *p);
struct pipeline_pass pipeline_pass_at(const struct pipeline *p, uint32_t stage, uint64_t k);

// Forward passes of a stage before its first backward pass: the most for which it keeps activations
// at one time.
uint64_t pipeline_in_flight(const struct pipeline *p, uint32_t stage);
