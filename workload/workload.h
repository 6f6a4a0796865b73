// SPDX-License-Identifier: MIT
// Runs the jobs of a scenario over any network: their ranks' programs, starts, ends.
#pragma once

#include "comm/recorder.h"
#include "engine/timer.h"
#include "workload/kind.h"
#include "workload/matching.h"

struct job_group;
struct rank_run;
struct notice;

// A job while it runs.
struct job_run {
    /* config */
    struct workload *workload;
    const struct job_spec *spec;
    uint32_t index, n_ranks;
    void *self; // of its program
    struct comm_job comm;
    struct job_group **groups;
    uint32_t n_groups;
    /* state */
    struct rank_run *ranks;
    uint64_t units_left; // ranks that have not ended, and detached messages on their way
    struct matching matching;
    struct notice *notices, **notice_blocks; // free ones; all
    size_t n_notice_blocks;
};

struct workload {
    /* config */
    struct engine *engine;
    struct transfer transfer;
    uint32_t n_ranks;
    const ps_t *start_jitter_ps; // [rank] lateness of starts, NULL = none
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

// Calls `each` with what a rank waits for that has not ended, at most `max` times; `each` takes the text.
void workload_waiting(const struct workload *w, unsigned max, void *ctx,
                      void (*each)(void *ctx, char *text));

/* For programs, before the run begins */

// Ranks of the job that run collectives together: of each member, its rank of the job (NULL = all in
// order), as many as the schedule's sizes multiply to. Steps name it by its number. The communicator is
// for watching.
uint32_t job_group_new(struct job_run *job, const uint32_t *ranks,
                       const struct coll_schedule *schedule);
struct communicator *job_group_comm(const struct job_run *job, uint32_t group);

// When a rank of the job starts: the job's start, and the rank's lateness.
ps_t job_start_ps(const struct job_run *job, uint32_t rank);
