// SPDX-License-Identifier: MIT
// A collective job: the same operation `repeat` times over all ranks of the job.
#pragma once

#include "collective/nccl/executor_spec.h"
#include "workload/kind.h"

// `schedule` of a collective: how phases are built, and in which order dimensions are visited.
enum job_schedule {
    SCHEDULE_BASELINE,
    SCHEDULE_BANDWIDTH_AWARE,
    SCHEDULE_ROUND_ROBIN,
    SCHEDULE_THEMIS
};

struct collective_params {   // as in a scenario
    int op, order, schedule; // enum coll_op, coll_queueing, job_schedule
    uint64_t bytes, chunks, active_chunks, repeat, root, channels, reduce_bps;
    ps_t endpoint_ps;
    double wire_precision;   // bytes on the wire per byte of the vector
    uint64_t conversion_bps; // PARAM_AUTO = at once
    struct mapping_params mapping;
};

struct collective_settings {
    struct collective_params params;
    // All algorithms with their settings, in the order of the registry.
    struct coll_choice algorithms[COLL_ALGORITHMS_MAX];
    struct coll_schedule schedule; // made from params, algorithms and dimensions
    uint32_t inner;                // as in struct coll_shape
    struct executor_spec library;
};

extern const struct job_kind collective_kind;

struct timeline;

// The channels of a library on the first ranks of a job of this kind; a slice's `chunk` is the
// channel.
const struct timeline *collective_timeline(const void *self);
