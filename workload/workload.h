// SPDX-License-Identifier: MIT
// Runs the jobs of a scenario over any network: starts, dependencies, ends.
#pragma once

#include "comm/recorder.h"
#include "engine/timer.h"
#include "net/transfer.h"
#include "workload/job.h"
#include "workload/runner.h"

struct job_run {
    struct workload *workload;
    const struct job_spec *spec;
    uint32_t index;
    struct rank_start *starts; // one per rank that begins something
    uint32_t n_starts;
    uint32_t *flow_order;            // flows sorted by (src, start): what each start posts
    uint64_t units_left;             // flows, or ranks of the runner, that have not ended
    const struct job_runner *runner; // of jobs that are no flows, else NULL
    void *self;                      // the runner's
    struct comm_job comm;            // what its communicators have in common
};

struct workload {
    /* config */
    struct engine *engine;
    struct transfer transfer;
    uint32_t n_ranks;
    const ps_t *late_ps; // [rank] lateness of starts, NULL = none
    // What a rank can send to another by all its ports, in bytes/s or any other unit.
    double (*bandwidth)(void *ctx, uint32_t src, uint32_t dst);
    void *network_ctx;
    uint32_t timeline_ranks; // of a training job: recorded
    /* state */
    struct job_run *jobs;
    size_t n_jobs;
    uint64_t jobs_left, messages_open;
    uint32_t starts_pending; // starts, and delays of ranks, that are to come
    struct recorder recorder;
    /* counters */
    uint64_t total_bytes; // that all jobs will send
};

// Arms the starts of all jobs; `client` is to be given to the network. The engine is stopped when
// all is done.
void workload_init(struct workload *w, const struct job_spec *jobs, size_t n_jobs);
void workload_free(struct workload *w);
struct transfer_client workload_client(struct workload *w);

static inline bool workload_done(const struct workload *w)
{
    return w->jobs_left == 0 && w->messages_open == 0;
}

// Rank `i` of a job, as a rank of the network; how many it has.
uint32_t job_rank(const struct job_spec *job, uint32_t i);
uint32_t job_n_ranks(const struct job_spec *job, uint32_t n_ranks);

/* Between the files of this folder */
#define TOKEN_JOB_SHIFT 48 // tokens of messages: job in the upper 16 bits
void workload_post(struct workload *w, const struct transfer_request *request, ps_t now);
void workload_unit_ended(struct workload *w, struct job_run *job);
