// SPDX-License-Identifier: MIT
// The collective scheduler's state: communicators, phases of chunks in groups, and the walks of ranks
// through their steps.
#pragma once

#include "collective/dim_queue.h"
#include "comm/communicator.h"
#include "comm/instance.h"
#include "comm/recorder.h"
#include "engine/timer.h"

// Of a token, below the job: walk, step.
#define TOKEN_STEP_BITS 20
#define TOKEN_WALK_BITS (COMM_TOKEN_BITS - TOKEN_STEP_BITS)

struct arrivals {          // of one step
    uint32_t messages;     // that have come
    uint64_t reduce_bytes; // that are to be added, whether they have arrived or are on their way
};

// One rank's way through the steps of a phase, with what arrives before its step.
struct walk {
    struct sim_timer timer; // delays: used where the communicator has any
    struct phase_run *run;
    uint32_t member; // of the run's group
    uint32_t step;
    bool begun;   // its rank has begun the phase
    bool delayed; // the timer runs: the step is not issued yet
    uint32_t early_base, n_early;
    struct arrivals now, *early; // of this step; of later ones: early[step - early_base]
};

// A phase of one chunk in one group: its program and its ranks' walks.
struct phase_run {
    /* config */
    struct communicator *comm;
    struct instance *instance;
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    uint32_t first_walk; // for tokens
    uint32_t chunk, index, dim, group;
    uint32_t n_members, steps;
    /* state */
    uint32_t n_ready, n_done;
    ps_sum_t ready_ps;      // sum over members that are ready, from the start of the collective
    struct sim_timer timer; // of a phase in closed form,
    ps_t ends_ps;           // which ends then; else PS_NEVER
    ps_t began_ps;          // admitted to its dimension; PS_NEVER = not
    struct phase_run *next_free, *next;
    struct walk walks[];
};

struct communicator {
    /* config */
    struct comm_job *job;
    const uint32_t *ranks; // [member] of the network, NULL = the same number
    struct coll_schedule schedule;
    comm_done *done;
    void *ctx;
    uint32_t index; // of the job's communicators
    uint32_t n_ranks;
    uint32_t first_group[COLL_MAX_DIMS + 2]; // [dim] of `queues`
    bool queued;               // phases wait for their whole group, and for their turn
    bool timed;                // walks have timers
    struct timeline *timeline; // records, NULL = none is wanted
    struct dim_use *use;
    /* state */
    uint32_t *issued;                                 // [member] collectives
    struct phase_run *runs, *free[COLL_MAX_DIMS + 1]; // all; [dim] those to be used again
    struct volume volumes[VOLUMES_KEPT];              // of phases in closed form
    /* state of admission.c */
    struct coll_planner planner;
    struct instance **open; // [number - first_open]
    size_t first_open, n_open, cap_open;
    struct dim_queue *queues; // [first_group of dim + group]
    ps_t *used_since;         // [queue] it holds something
};

// Member of the communicator, and the rank of the network that it is.
static inline uint32_t comm_rank(const struct communicator *c, uint32_t member)
{
    return c->ranks ? c->ranks[member] : member;
}

static inline uint32_t run_member(const struct phase_run *run, uint32_t member)
{
    return coll_rank_of(&run->comm->schedule, run->dim, run->group, member);
}

/* phase_run.c: memory, and the steps of its members */

// The run of a phase that has begun in a group, or a new one.
struct phase_run *phase_run_of(struct communicator *c, struct instance *in, uint32_t chunk,
                               uint32_t i, uint32_t group);
void phase_run_end(struct phase_run *run); // may be used again from now on
void phase_runs_free(struct communicator *c);

// A member begins; where the communicator has timers, at the end of its endpoint delay.
void walk_begin(struct walk *walk, ps_t now);

/* recorder.c */
void recorder_open(struct communicator *c, struct instance *in, const struct comm_request *request);
void recorder_start(struct phase_run *run, ps_t now); // the run's first member begins
void recorder_end(struct phase_run *run, ps_t now);
void recorder_slice(const struct phase_run *run, uint32_t rank, ps_t now); // a member has ended

static inline struct collective_record *record_of(const struct phase_run *run)
{
    return &run->comm->job->recorder->records[run->instance->record];
}

static inline struct phase_record *phase_record_of(const struct phase_run *run)
{
    const struct instance *in = run->instance;
    return &record_of(run)
                ->phases[in->record_phase[(size_t)run->chunk * in->n_phases + run->index]];
}

/* scheduler.c */

// All members begin: admitted to their dimension.
void scheduler_start(struct phase_run *run, ps_t now);

// A member has ended its part of a phase.
void scheduler_member_done(struct phase_run *run, uint32_t member, ps_t now);
