// SPDX-License-Identifier: MIT
// A collective job: the same operation `repeat` times over all ranks of the job.
#pragma once

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
    uint64_t bytes, chunks, active_chunks, repeat, ring_directions, in_flight, pieces, root;
    uint64_t ranks_per_server, channels, reduce_bps;
    ps_t endpoint_ps;
    struct mapping_params mapping;
};

struct collective_settings {
    struct collective_params params;
    struct coll_schedule schedule;     // of params, algorithms and dimensions
    uint32_t pieces, ranks_per_server; // as in struct coll_shape
};

extern const struct job_kind collective_kind;
