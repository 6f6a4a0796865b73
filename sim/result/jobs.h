// SPDX-License-Identifier: MIT
// Results of jobs: collectives, training jobs, programs, timelines. Times are in ps; -1 = null.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/units.h"
#include "sim/result/flow_record.h"
#include "sim/result/result_critical.h"
#include "workload/gpu_memory/footprint.h"

// All phases of one operation along one dimension, over all chunks.
struct phase_result {
    uint32_t dim; // among the collective's dimensions; n_dims = all ranks at once
    const char *op, *algorithm;
    uint64_t bytes, messages;
    ps_t start_ps, end_ps; // -1 = not reached
    // mean over ranks and chunks of the time for which a phase was ready and its dimension busy
    ps_t queueing_ps;
    ps_t network_ps; // mean over messages from post to last byte; -1 = there were none
    struct critical_stage critical; // its part of the collective's path; total_ps -1 = not known
};

// A dimension of a collective.
struct dim_result {
    uint64_t bytes;
    double busy; // share of the collective's time in which it was in use, mean over groups
};

// As in collective/recorder.h.
struct executor_result {
    const char *algorithm, *protocol; // NULL = by no algorithm
    uint32_t channels, threads;
    uint64_t chunk_bytes;
};

struct collective_result {
    uint32_t job, ranks;
    const char *name, *op;
    char *algorithm; // "ring", or "ring+halving_doubling" for several dimensions
    uint64_t bytes;
    ps_t start_ps, end_ps, ideal_ps; // -1 = unknown
    ps_t last_start_ps;              // of the rank that began last
    double algbw_bps, busbw_bps, efficiency;
    struct critical_result critical;
    struct executor_result library; // channels 0 = none
    struct phase_result *phases;
    struct dim_result *dims;
    uint32_t n_phases, n_dims;
};

// A part of a layer: times per rank, summed over all passes, mean over ranks.
struct training_part_result {
    ps_t compute_ps, exposed_ps;
    // Sum over the part's collectives of the time from first start to last end and the update
    // delay.
    ps_t comm_ps;
    ps_t queueing_ps, network_ps; // means over all phases, as in phase_result
    ps_t critical_ps;             // its communication on the job's critical path
    uint64_t collectives;
};

// Means of the phases that have the same place in their chunk's order, over all collectives of a
// layer. A collective whose chunks have fewer phases counts with 0.
struct training_delay {
    double queueing_ps, network_ps; // as in phase_result
};

struct training_layer_result {
    const char *name;
    struct training_part_result parts[3]; // fwd, ig, wg
    struct training_delay *delays;        // [place]
    size_t n_delays;                      // 0 = no collective has ended
};

// All phases of the collectives of one part of a layer, of one operation along one dimension.
struct training_phase_result {
    const char *layer, *part, *op, *algorithm;
    uint32_t dim; // n_dims of the job = all ranks at once
    uint64_t bytes, messages;
    ps_t queueing_ps, network_ps; // means as in phase_result
};

struct training_spread { // distribution over ranks
    ps_t p50, p99, max;
};

// An iteration; -1 = not finished.
struct training_pass_result {
    ps_t end_ps;      // end of its last rank, since the job's start
    ps_t duration_ps; // time since the end of the previous iteration
};

// Use of dimensions: for equal time steps the share of time in which the queues of a dimension were
// not empty, mean over groups.
struct training_use {
    uint32_t n_dims;
    bool spans_all; // the last dimension is a single group of all ranks
    ps_t step_ps;
    size_t n;      // number of steps from time 0
    double *share; // [step * n_dims + dim]
    double *mean;  // [dim] mean over the job's time
};

struct training_result {
    uint32_t job, ranks;
    const char *name, *parallelism;
    ps_t total_ps;   // from the job's start to the end of its last rank; -1 = not finished
    ps_t compute_ps; // mean over ranks
    ps_t input_ps;   // waiting for samples, mean over ranks
    struct training_pass_result *passes;
    uint64_t n_passes;
    struct training_layer_result *layers;
    size_t n_layers;
    struct training_phase_result *phases;
    size_t n_phases;
    struct training_spread rank_end; // end of each rank that has finished, since the job's start
    struct training_spread exposed;  // the same less the rank's compute time
    struct training_use use;
    double
        *chunk_ps; // [use.n_dims] mean time of a chunk's phase in a dimension; -1 = there were none
};

// Idle time of compute streams, by use of communication or by layer. Waiting: until the peers had
// done their part; exposed: from then on.
struct idle_result {
    const char *name;
    ps_t compute_ps; // of a layer
    ps_t exposed_ps, waiting_ps;
    uint64_t bytes; // sent; of a use
};

// A rank of a training job or a program.
struct rank_result {
    uint32_t job, rank; // rank: of the network
    ps_t finish_ps;     // since the job's start; -1 = it has not finished
    ps_t compute_ps;
    ps_t blamed_ps;           // waiting of other ranks that this rank ended; for programs
    struct idle_result *uses; // for programs
    uint32_t n_uses;
};

// What a training job moved between its GPUs and their hosts.
struct swap_result {
    bool any;
    bool weights;                       // weights, too
    uint32_t use;                       // index of its use
    uint32_t kept, swapped, recomputed; // layers whose outputs stayed, left, were computed again
    ps_t recomputed_ps;                 // computing again, of a rank
    ps_t faster_ps; // how much sooner the job ends, as planned, with links to hosts twice as fast
    uint64_t link_bps;
};

struct program_result {
    uint32_t job, ranks;
    const char *name, *shrunk; // shrunk: what the job leaves out of a larger one; "" = nothing
    ps_t total_ps;   // from the job's start to the end of its last rank; -1 = not finished
    ps_t compute_ps; // mean over ranks
    ps_t early_ps;   // from the end of a rank to that of the last one, mean over ranks
    double tokens_per_s, samples_per_s, mfu; // -1 = not known
    // by a closed form, for jobs that have one; projected_ps -1 = none
    ps_t projected_ps, projected_compute_ps;
    double projected_bytes, projected_ranks; // memory of a rank; the most ranks that can be used
    double bubble;              // share of ranks' time that a pipeline left idle; -1 = not known
    struct idle_result *uses;   // means over ranks; bytes are sums
    struct idle_result *layers; // means over ranks
    struct rank_result *late;   // copies of the ranks that others waited for most, without uses
    uint32_t n_uses, n_layers, n_late;
    struct swap_result swap;
};

// A collective that was measured in a real run: from the beginning of the member that began last to
// the end, there and here.
struct measured_collective {
    uint32_t job, number, ranks; // number: in its group
    const char *group, *op;
    uint64_t bytes;
    ps_t measured_ps, simulated_ps;
};

// Those of one operation, size and number of ranks.
struct measured_size {
    const char *op;
    uint64_t bytes, count;
    uint32_t ranks;
    struct stats measured_ns, simulated_ns, ratio; // ratio: simulated / measured of each
};

struct measured_collectives {
    struct measured_collective *list; // by job, group and number
    size_t n;                         // 0 = none was measured
    double measured_ns, simulated_ns; // sums
    struct stats ratio;               // of single collectives
    struct measured_size *sizes;      // by operation, ranks and bytes
    size_t n_sizes;
};

// What of a run stands beside a file (`run --against`): the time of a collective; of a message to
// its last byte at the receiver, or to the sender's last ACK; or the goodput of a pair of ranks, in
// one direction or both together.
enum against_what {
    AGAINST_COLLECTIVES,
    AGAINST_DELIVERY,
    AGAINST_COMPLETION,
    AGAINST_GOODPUT,
    AGAINST_GOODPUT_BOTH
};

// Times that a file has for collectives or messages of this run. Beside each stands the mean of
// those of the same operation, size and number of ranks; of a goodput the size by it.
struct against_row {
    const char *op;
    uint64_t bytes, count; // count: collectives or messages that have ended
    uint32_t ranks;
    bool goodput;
    double measured_ns, simulated_ns;
};

// A rank of a recording, which is scaled to the iterations of the job.
struct against_rank {
    uint32_t rank; // of the job
    double measured_ns, measured_compute_ns, simulated_ns, simulated_compute_ns;
};

struct against_result {
    char *file;
    const char *kind; // of the file; NULL = nothing stands beside
    enum against_what what;
    struct against_row *rows;
    size_t n;
    struct against_rank *ranks; // that have ended
    size_t n_ranks;
    uint64_t missing; // times of the file without a collective here
};

// An interval of a rank's timeline. Slices of one lane do not overlap.
struct slice_result {
    uint32_t job, rank; // rank: of the network
    uint32_t lane;      // 0 = compute and wait; phases: (1 + dim) << SLICE_LANE_BITS and up
    ps_t begin_ps, end_ps;
    const char *layer, *part; // part: NULL for a phase
    const char *op;           // NULL except for a phase
    bool wait;
    uint32_t dim, chunk; // for a phase
    bool
        // on the critical path and in programs: the part communicated, else it computed
        communicates;
    const char *stream; // of a program's rank: "compute", "comm0"; else NULL
    uint32_t track;     // of a program's rank: number of the stream
    uint32_t channel;   // 1 + number of a library's channel; 0 = none
};
#define SLICE_PATH UINT32_MAX // in place of a rank: the job's critical path
#define SLICE_COLLECTIVES                                                                          \
    (UINT32_MAX - 1) // in place of a rank: the collectives of a job without programs
#define SLICE_LANE_BITS 20

// Ranks of a job that need the same memory.
struct memory_class_result {
    uint32_t job, rank, ranks; // rank: the first of them, of the network
    uint64_t bytes;
    struct footprint by_kind;
    const char *when; // of the job
};

struct memory_step_result {
    const char *what;
    uint64_t bytes;
    struct footprint within;
    ps_t end_ps; // since the job's start; -1 = not known
};

// The memory that the jobs' ranks need; borrows from the jobs.
struct memory_result {
    struct memory_class_result *classes; // by job and first rank
    size_t n_classes;                    // 0 = not known of any job
    struct memory_class_result fullest;
    uint64_t capacity_bytes;          // of the fullest's GPU; 0 = not known
    bool at_least;                    // the fullest's job does not say all that its ranks hold
    struct memory_step_result *steps; // of the fullest class's first iteration
    size_t n_steps;
};

struct server_result { // of the servers of a job
    uint64_t updates;
    struct stats staleness;
    uint64_t *counts; // [staleness] updates; the last has all beyond
    size_t n_counts;
};

// Messages and end of one job. With one job the summary is that of the run.
struct job_result {
    uint32_t job;
    const char *name, *kind;
    unsigned status;                  // index of job_words (report/metric_jobs.c)
    ps_t start_ps, end_ps;            // end_ps: -1 = it has not ended
    uint64_t messages, failed, bytes; // posted
    struct stats fct_ns, slowdown;    // of completed messages
    bool any_completed;
    /* means over its collectives that have ended; said of jobs that have completed only */
    uint64_t collectives;
    double collective_ns, busbw_bps, efficiency;
    const struct training_result *training; // if several jobs train, else NULL; borrowed
    struct server_result *servers;          // of a job with parameter servers, else NULL
};
enum job_status { JOB_RUNNING, JOB_COMPLETED, JOB_FAILED };
