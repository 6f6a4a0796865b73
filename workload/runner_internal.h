// SPDX-License-Identifier: MIT
// The state of a job's ranks and groups, which the runner shares with its groups.
#pragma once

#include "workload/timed_steps.h"
#include "workload/workload.h"

// Tokens of messages: the job in the bits from 48 up (JOBS_MAX); a flag for messages that are not a
// communicator's.
#define TOKEN_JOB_SHIFT 48
#define TOKEN_OWN (UINT64_C(1) << COMM_TOKEN_BITS)
#define TOKEN_DETACHED (UINT64_C(1) << (COMM_TOKEN_BITS - 1))
#define TOKEN_COPY (UINT64_C(1) << (COMM_TOKEN_BITS - 2)) // with TOKEN_OWN

struct rank_run {
    struct sim_timer timer; // for the rank's start
    struct job_run *job;
    uint32_t rank;
    uint32_t blocking_step; // the step that `blocked` waits for
    enum step_kind blocking_kind;
    uint32_t blocking_group; // of a collective
    uint32_t open;           // number of steps started and not ended
    bool blocked, pulling, ended;
    struct rank_run *next_of_rank; // of the same rank of the network, where computations use cores
    struct timed_steps timed;
    uint32_t n_computed;         // computations that it has started, for their noise
    uint32_t kernels, offloaded; // open collectives that the GPU runs, and that switches reduce
};

struct group_member {
    uint32_t rank, member;
};

struct job_group {
    struct job_run *job;
    struct communicator *comm;
    uint32_t *network_ranks;      // [member] rank of the network, NULL = those of the job
    uint32_t *ranks;              // [member] rank of the job, NULL = all in order
    struct group_member *members; // sorted by rank; only if there is a list of ranks
    uint32_t n;
};

// A step of a rank has ended: calls done() of its program, and continues.
void runner_step_ended(struct rank_run *r, uint32_t id, ps_t now);
/* runner_ends.c */
// A rank, or a detached message (`rank` UINT32_MAX), has ended.
void runner_unit_ended(struct job_run *job, uint32_t rank, ps_t now);
// Note, in the order of events, the peers of the step that ends in this event.
void runner_set_peers(struct job_run *job, struct peers peers);
/* dry.c */
void runner_dry_init(struct workload *w);
// Look whether programs that read ahead wait for each other.
void runner_check_dry(struct workload *w, ps_t now);

// A collective of the rank begins or ends: see workload/contention.h.
void runner_contention(struct rank_run *r, bool offloaded, int change, ps_t now);

/* rank_cores.c: computations on the cores of hosts, where workload.computes is set */

// The member of a group that a rank of the job is.
uint32_t job_group_member(const struct job_group *group, uint32_t rank);
// The function comm_job.issuer.
enum comm_issuer job_group_issuer(const void *group, uint32_t member, ps_t until_ps,
                                  uint32_t *ticket);
void job_group_free(struct job_group *group);
