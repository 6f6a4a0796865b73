// SPDX-License-Identifier: MIT
// What a job of a scenario asks for: the plain description, per kind of workload.
#pragma once

#include "collective/schedule.h"
#include "engine/param.h"
#include "workload/training_spec.h"

enum job_kind { JOB_FLOWS, JOB_INCAST, JOB_PERMUTATION, JOB_COLLECTIVE, JOB_TRAINING, JOB_POISSON };

struct raw_flow {
    uint32_t src, dst; // indices into the job's ranks (all ranks when it lists none)
    uint64_t bytes;
    ps_t start_ps; // after the job's start
};

// A rank of a training job that computes slower, or faster.
struct straggler {
    uint32_t rank; // of the job
    double factor; // on its compute times
};

struct job_spec {
    enum job_kind kind;
    const char *name;
    ps_t start_ps;
    uint32_t cls;    // class of its data, 0..5
    uint32_t *ranks; // the job's ranks, NULL = all
    size_t n_ranks;
    /* flows, incast, permutation, poisson: expanded by config */
    struct raw_flow *flows;
    size_t n_flows;
    /* collective */
    int op; // enum coll_op
    uint64_t bytes, repeat;
    uint64_t root, pieces, ranks_per_server; // as in struct coll_shape
    uint64_t channels;                       // chunk c uses queue pairs of channel c modulo these
    struct coll_schedule *schedule;          // owned; of training too
    /* training */
    struct training_spec *training; // owned
    uint64_t iterations;
    double compute_scale, comm_scale, compute_jitter;
    struct straggler *stragglers;
    size_t n_stragglers;
};

// Keys of a job that tables describe; `flows`, `ranks`, `algorithm`, `senders` are config's.
struct job_kind_info {
    const char *name, *doc, *source;
    const struct param *params; // into struct job_params
    size_t n_params;
};

// Scalars that only build the flows of a job.
struct job_params {
    ps_t start_ps;
    const char *name, *file, *algorithm;
    uint64_t bytes, receiver, shift, cls;
    /* collective */
    int op, order, schedule, mapping;
    uint64_t chunks, active_chunks, repeat, ring_directions, in_flight, pieces, root;
    uint64_t ranks_per_server, channels, stride, reduce_bps;
    ps_t endpoint_ps;
    /* training */
    uint64_t iterations;
    double compute_scale, comm_scale, compute_jitter;
    /* poisson */
    const char *cdf;
    double load;
    ps_t duration_ps;
};

// How the ranks of a job lie on those of the network.
enum job_mapping { MAPPING_LOCAL, MAPPING_STRIDED, MAPPING_RANDOM };

// `schedule` of a collective: how phases are built, and in which order dimensions are visited.
enum job_schedule {
    SCHEDULE_BASELINE,
    SCHEDULE_BANDWIDTH_AWARE,
    SCHEDULE_ROUND_ROBIN,
    SCHEDULE_THEMIS
};

extern const struct job_kind_info job_kinds[]; // by enum job_kind
#define N_JOB_KINDS 6
