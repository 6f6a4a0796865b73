// SPDX-License-Identifier: MIT
// A training job: its settings, and the job while it runs, as reports read it.
#pragma once

#include "comm/recorder.h"
#include "workload/kind.h"
#include "workload/training_loop.h"

// A rank of a training job that computes slower, or faster.
struct straggler {
    uint32_t rank; // of the job
    double factor; // on its compute times
};

struct training_params { // as in a scenario
    const char *file;    // "" = the layers are in the scenario
    uint64_t iterations;
    double compute_scale, comm_scale, compute_jitter;
    struct mapping_params mapping;
};

struct training_settings {
    struct training_params params;
    struct training_spec training; // owned
    struct coll_schedule schedule;
    struct straggler *stragglers; // owned
    size_t n_stragglers;
};

extern const struct job_kind training_kind;

// Times of all ranks together.
struct training_slot {    // a part of a layer
    ps_t compute_ps;      // of one rank, one pass; without jitter, of no straggler
    ps_sum_t computed_ps; // sum over ranks and passes
    ps_sum_t exposed_ps;  // sum over ranks and passes of the time that ranks waited for it
};

struct training_job {
    /* config */
    struct job_run *job;
    const struct training_settings *settings;
    const struct training_spec *spec;
    uint64_t passes;
    uint32_t n_ranks, n_slots; // slot = layer * TRAINING_PARTS + part
    struct training_slot *slots;
    struct comm_request *requests; // [slot]
    struct coll_uneven *uneven;    // [slot] of those that are
    uint32_t group;                // all ranks
    struct communicator *comm;
    /* state */
    struct training_rank *ranks;
    uint16_t *open; // [rank * n_slots + slot] collectives on their way
    /* results */
    struct timeline timeline;
    struct dim_use use;    // of the schedule's dimensions, and one for all ranks at once
    ps_t *pass_end_ps;     // [pass] last rank's end of its loop, PS_NEVER = not yet
    ps_t end_ps;           // last rank's end, collectives awaited; PS_NEVER = not yet
    ps_t *rank_compute_ps; // [rank]
    ps_t *rank_end_ps;     // [rank] PS_NEVER = not yet
};
