// SPDX-License-Identifier: MIT
// Runs the jobs of a scenario over any network: programs of ranks, starts and ends.
#pragma once

#include "collective/recorder.h"
#include "engine/tally.h"
#include "engine/timer.h"
#include "workload/contention.h"
#include "workload/kind.h"
#include "workload/matching.h"

struct copies;
struct job_group;
struct rank_run;
struct tier_set;

// A running job.
struct job_run {
    /* config */
    struct workload *workload;
    const struct job_spec *spec;
    uint32_t index, n_ranks;
    void *self; // state of its program
    struct comm_job comm;
    struct job_group **groups;
    uint32_t n_groups;
    /* state */
    struct rank_run *ranks;
    uint64_t units_left; // ranks that have not ended, and detached messages in flight
    struct peers {     // of the receive or collective that ends in this event; for deferred actions
        ps_t ready_ps; // time when its peers had done their part
        uint32_t rank; // the last one of them, of the job; UINT32_MAX = none
    } peers;
    struct contention_params contention;
    uint32_t path;     // critical path of the rank or message that ended last; 0 = none has
    uint32_t end_rank; // of the job; UINT32_MAX = a message ended last
    ps_t end_ps;
    struct matching matching;
    ps_t *shared_free_ps; // [step.shared - 1] end of the steps that have started
    uint32_t n_shared;
    struct copies *copies; // between tiers of memory; NULL = there are none
};

struct workload {
    /* config */
    struct engine *engine;
    struct latest over; // the end of a message or a rank, which may be known later
    struct path_book *path_book;
    struct transfer transfer;
    struct cores *cores;         // of the ranks' hosts
    bool computes;               // computations use them
    struct rank_run **rank_runs; // [rank of the network], where they do: its runs in all jobs
    uint32_t n_ranks;
    const ps_t *start_jitter_ps; // [rank] delay of the rank's start, NULL = none
    const ps_t *start_noise_ps;  // [rank] the same by `noise`, NULL = none
    struct noise_delay noise;    // of each step and computation of those jobs
    uint64_t seed;
    // Bandwidth from one rank to another over all its ports, in bytes/s or any other fixed unit.
    double (*bandwidth)(void *ctx, uint32_t src, uint32_t dst);
    const struct coll_reduction *(*reduce)(void *ctx, const struct comm_reduce_request *request);
    void *network_ctx;
    uint32_t timeline_ranks; // ranks of each training job whose timeline is recorded
    /* state */
    struct job_run *jobs;
    size_t n_jobs;
    uint64_t jobs_left;
    struct tally messages_open;
    char *failure;               // why the programs cannot go on; NULL = they can
    struct sim_timer dry;        // fires when nothing is left to happen at this instant
    bool reads_ahead;            // a program may read further ahead
    struct tally starts_pending; // armed timers that start ranks or end delays
    ps_t busy_until_ps;          // a step of a rank, or the wait for its start, ends not before
    bool takes_order;            // ranks decide together: plans of collectives, shared resources
    uint32_t server_ranks;       // ranks of a server that share the state of libraries; 0 = none
    struct communicator *queued; // list of communicators whose ranks queue for dimensions
    struct recorder recorder;
    /* counters */
    uint64_t total_bytes; // sum over all jobs of the bytes they will send
};

// Arm the starts of all jobs. The network must be given workload_client(). The engine is stopped
// when all jobs have ended.
void workload_init(struct workload *w, const struct job_spec *jobs, size_t n_jobs);
void workload_free(struct workload *w);
struct transfer_client workload_client(struct workload *w);

static inline bool workload_done(const struct workload *w)
{
    return w->jobs_left == 0 && tally_sum(&w->messages_open) == 0;
}

// Let several threads handle the messages of their ranks at the same time, where that needs no
// state of other ranks.
void workload_share(struct workload *w, uint32_t n_threads);
// Complete the records of collectives that are running when the run ends.
void workload_settle(const struct workload *w);

// Call `each`, at most `max` times, with a text for every unfinished rank that says what it waits
// for; `each` owns the text.
void workload_waiting(const struct workload *w, unsigned max, void *ctx,
                      void (*each)(void *ctx, char *text));

/* For programs, to be called before the run begins */

// Make a group of the job's ranks for collectives: `ranks` is the job's rank of each member
// (NULL = all in order), as many as the product of the schedule's sizes. Returns the group's number
// for steps (step.group). job_group_comm() returns the communicator of a group.
uint32_t job_group_new(struct job_run *job, const uint32_t *ranks,
                       const struct coll_schedule *schedule);
struct communicator *job_group_comm(const struct job_run *job, uint32_t group);

// The job's ranks copy between these tiers (STEP_COPY), which must stay as long as the job.
void job_tiers(struct job_run *job, const struct tier_set *tiers);

// The start time of a rank of the job: the job's start plus the rank's jitter.
ps_t job_start_ps(const struct job_run *job, uint32_t rank);
