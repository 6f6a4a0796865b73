// SPDX-License-Identifier: MIT
// A training job: its settings, and the state of the running job that reports read.
#pragma once

#include "collective/nccl/executor_spec.h"
#include "collective/recorder.h"
#include "workload/contention.h"
#include "workload/gpu_memory/need.h"
#include "workload/kind.h"
#include "workload/training/training_input.h"
#include "workload/training/training_loop.h"

// A rank whose compute times differ from those of the others.
struct straggler {
    uint32_t rank; // index in the job
    double factor; // multiplies the rank's compute times
};

struct training_params { // as in a scenario
    const char *file;    // "" = the scenario holds the layers
    uint64_t iterations;
    double compute_scale, comm_scale, compute_jitter;
    /* for the memory that it needs */
    int optimizer;
    uint64_t parameter_bytes, state_bytes;
    struct contention_params contention;
    struct mapping_params mapping;
};

struct training_settings {
    struct training_params params;
    struct training_spec training; // owned
    struct coll_schedule schedule;
    struct executor_spec library;
    struct straggler *stragglers; // owned
    size_t n_stragglers;
    struct memory_need memory;
    struct input_spec input;
};

extern const struct job_kind training_kind;

// Functions of job_kind, of the same names: what the job sends.
void training_traffic(const struct job_spec *job, struct comm_traffic *traffic);
double training_collectives(const struct job_spec *job);

// What a part of a layer (slot = layer * TRAINING_PARTS + part) computes in a pass, before jitter
// and the factors of stragglers; its collective, if it has one, but for `uneven`; and the sizes of
// its members in an all-to-all whose ranks differ ([n_ranks], to be freed), else NULL.
ps_t training_compute_ps(const struct training_settings *s, uint32_t slot);
struct comm_request training_request(const struct training_settings *s, uint32_t slot);
uint64_t *training_rank_bytes(const struct training_settings *s, uint32_t slot);

// Sums of times over all ranks.
struct training_slot {    // a part of a layer
    ps_t compute_ps;      // of one pass of one rank, without jitter and straggler factors
    ps_sum_t computed_ps; // sum over ranks and passes
    // sum over ranks and passes of the time that ranks waited for the part's collectives
    ps_sum_t exposed_ps;
};

struct training_job {
    /* config */
    struct job_run *job;
    const struct training_settings *settings;
    const struct training_spec *spec;
    uint64_t passes;
    uint32_t n_ranks, n_slots; // slot = layer * TRAINING_PARTS + part
    struct training_slot *slots;
    struct comm_request *requests; // [slot], see struct comm_request
    struct coll_uneven *uneven;    // [slot] vectors of all-to-alls whose ranks differ in size
    uint32_t group;                // number of the group of all ranks
    struct communicator *comm;
    /* state */
    struct training_rank *ranks;
    struct training_input input;
    uint16_t *open; // [rank * n_slots + slot] number of open collectives
    /* results */
    struct timeline timeline;
    struct dim_use use;    // for the schedule's dimensions, and for all ranks at once
    ps_t *pass_end_ps;     // [pass] end of the loop of the last rank, PS_NEVER = not ended
    ps_t end_ps;           // end of the last rank and its collectives; PS_NEVER = not ended
    ps_t *step_end_ps;     // [step of the memory] of rank 0 in pass 0; PS_NEVER = not ended
    ps_t *rank_compute_ps; // [rank]
    ps_t *rank_end_ps;     // [rank] PS_NEVER = not ended
};

// Returns the number of passes over the loop that all ranks have ended.
uint64_t training_passes_ended(const struct training_job *t);
