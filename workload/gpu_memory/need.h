// SPDX-License-Identifier: MIT
// The memory that the ranks of a job need: classes of ranks that need the same, and an iteration of
// the fullest class, pass by pass. Every kind of job that trains makes one (workload/kind.h).
#pragma once

#include <stddef.h>

#include "workload/gpu_memory/device.h"
#include "workload/gpu_memory/footprint.h"

#define MEMORY_WHEN 96
// Steps of an iteration that are kept; what comes later in longer ones repeats what is there.
#define MEMORY_STEPS_MAX 4096

struct memory_class {
    uint32_t rank, ranks;       // the first of the job's ranks, and how many there are
    struct footprint footprint; // when it is largest
    char when[MEMORY_WHEN];     // "backward pass of micro-batch 0"
};

struct memory_step { // the memory within a pass, or a part of one
    char what[MEMORY_WHEN];
    struct footprint within;
};

struct memory_need {
    struct memory_class *classes; // by place among experts and by stage
    size_t n_classes;
    size_t fullest; // index of the class that needs most, the first of equal ones
    struct memory_step *steps;
    size_t n_steps, cap_steps;
    bool steps_cut;              // the iteration has more than MEMORY_STEPS_MAX steps
    const struct device *device; // the GPU that the job names; NULL = none
    bool at_least;               // the job does not say all that its ranks hold
};

// Append a class, or enlarge the last one if it needs the same at the same step.
void memory_need_add(struct memory_need *need, const struct memory_class *one);

// Append a step unless there are MEMORY_STEPS_MAX; false = there are.
bool memory_need_step(struct memory_need *need, const char *what, const struct footprint *within);

const struct footprint *memory_need_most(const struct memory_need *need);

// "weights 350 GB, optimizer 2.10 TB": the kinds that are a hundredth of all at least; free() it.
char *memory_kinds_text(const struct footprint *f);

// A capacity as makers write it, without zeros: "80 GB". `buf` holds UNIT_TEXT bytes.
const char *memory_capacity_text(uint64_t bytes, char *buf);

void memory_need_free(struct memory_need *need);
