// SPDX-License-Identifier: MIT
// The state of the collective scheduler: communicators, phases of chunks in groups, and each rank's
// progress through the steps of a phase.
#pragma once

#include "collective/algorithm/dim_queue.h"
#include "collective/communicator.h"
#include "collective/executor/executor.h"
#include "collective/instance.h"
#include "collective/recorder.h"
#include "engine/timer.h"

// Lower bits of a message's token, below those of the job: the receiver's walk, the step that waits
// for the message, and whether the receiver adds the message to its vector.
#define TOKEN_STEP_BITS 20
#define TOKEN_REDUCE (UINT64_C(1) << TOKEN_STEP_BITS)
#define TOKEN_WALK_SHIFT (TOKEN_STEP_BITS + 1)
#define TOKEN_WALK_BITS (COMM_TOKEN_BITS - TOKEN_WALK_SHIFT)

struct arrivals { // messages of one step that have arrived
    uint32_t messages;
    uint64_t reduce_bytes; // bytes of the messages that are added
};

// One rank's progress through the steps of a phase, and messages that arrived before their step.
struct walk {
    struct sim_timer timer; // for delays of a rank, if the communicator has any
    struct phase_run *run;
    uint32_t member; // index in the run's group; from n_members on an aggregator
    uint32_t step, steps;
    uint32_t path; // critical path up to the start of the delay
    bool begun;    // the rank has begun the phase
    bool delayed;  // the timer is armed and the step not yet issued
    uint32_t early_base, n_early;
    struct arrivals now, *early; // of this step; of later steps: early[step - early_base]
    struct walk_sums {           // of the phase_record; added to it when the phase ends
        uint64_t bytes, messages;
        ps_sum_t network_ps;
        int64_t
            on_the_way; // messages posted minus messages received; the sum over ranks is in flight
    } sums;
};

// The walks of a job by token: the newest table, and earlier ones, which threads may be reading.
struct walk_table {
    struct walk_table *before;
    struct walk *walks[];
};
void walk_tables_free(struct comm_job *job);

// A message of a phase that reaches its receiver after the window, as collective/foresight.c has
// found it last. The search goes on there.
struct late_message {
    struct phase_run *run;
    uint32_t member, send;
    uint32_t receiver; // cannot end its part before
    uint64_t look_at;  // if there was none: the number of events from which the search begins anew
};

// A phase of one chunk in one group: the algorithm and the progress of its ranks.
struct phase_run {
    /* config */
    struct communicator *comm;
    struct instance *instance;
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    uint32_t first_walk; // index of the first walk, for tokens
    uint32_t chunk, index, dim, group;
    uint32_t n_members; // ranks
    uint32_t n_walks;   // members of the algorithm: ranks and aggregators
    /* state */
    uint32_t n_ready, n_done;
    ps_sum_t ready_ps;      // sum over ready members of the time when they were
    struct sim_timer timer; // end of a phase in closed form
    ps_t ends_ps;           // time of that end, PS_NEVER = not in closed form
    uint32_t path;          // critical path up to the start in closed form
    struct late_message late;
    ps_t began_ps; // time of the start in its dimension; PS_NEVER = not started
    struct phase_run *next_free, *next;
    struct walk *walks; // [n_members + extra of the dimension]; NULL = none has been needed
    bool walking;       // the walks are set up for this phase
};

struct communicator {
    /* config */
    struct comm_job *job;
    const uint32_t *ranks; // [member] rank of the network, NULL = the same number
    struct coll_schedule schedule;
    comm_done *done;
    void *ctx;
    uint32_t index; // among the job's communicators
    uint32_t n_ranks;
    uint32_t first_group[COLL_MAX_DIMS + 2];  // [dim] index into `queues`
    const struct coll_reduction **reductions; // those of the schedule, NULL = none
    uint32_t extra[COLL_MAX_DIMS + 1];        // [dim] limit of the aggregators' walks of a phase
    bool queued; // a phase waits for all ranks of its group and then in a queue
    struct communicator *next_queued; // the next communicator with queues
    bool timed;                       // walks have timers
    struct timeline *timeline;        // NULL = not recorded
    struct dim_use *use;
    /* state */
    uint32_t *issued; // [member] number of collectives issued
    enum coll_op ending_op;
    struct comm_ending ending;
    struct phase_run *runs, *free[COLL_MAX_DIMS + 1]; // all runs; [dim] runs that are free
    struct volume volumes[VOLUMES_KEPT];              // cached sizes of phases in closed form
    /* state of admission.c */
    struct coll_planner planner;
    struct open_slot *open; // [number - first_open]
    size_t first_open, n_open, cap_open;
    struct dim_queue *queues;  // [first_group of dim + group]
    struct late_message *late; // [queue] to a member of its group
    struct inboxes *inboxes;   // [member] of streams (collective/stream_internal.h)
    // [bit set of dimensions]: the groups of ranks that agree in all others; NULL = none yet
    struct executor_group ***libraries;
    ps_t *used_since; // [queue] time since which it has not been empty
    bool *spans;      // [queue] its group is in several shards; NULL = not known yet
    uint32_t
        held; // where foresight.c last found a member that issues no collective: looked at first
    uint32_t looked_at; // where foresight.c last found a phase that may end: looked at first
    uint32_t begins_dim, begins_group; // the same of one that may begin
};

// Whether a library runs the collectives by its own blocks.
static inline bool comm_by_library(const struct coll_schedule *s)
{
    return s->library != NULL && !s->library->by_switches;
}

// The rank of the network that a member of the communicator is.
static inline uint32_t comm_rank(const struct communicator *c, uint32_t member)
{
    return c->ranks ? c->ranks[member] : member;
}

static inline uint32_t run_member(const struct phase_run *run, uint32_t member)
{
    return coll_rank_of(&run->comm->schedule, run->dim, run->group, member);
}

/* phase_memory.c, and phase_run.c: the steps of members */

// Return the run of a phase in `group`, or make one if the phase has not begun there.
struct phase_run *phase_run_of(struct communicator *c, struct instance *in, uint32_t chunk,
                               uint32_t i, uint32_t group);
void phase_run_end(struct phase_run *run); // the run is free for another phase
void phase_runs_free(struct communicator *c);

// Set up the walks of a run, unless that has been done. A phase in closed form needs none.
void walks_prepare(struct phase_run *run);

// A member begins its steps, after the endpoint delay if the communicator has timers.
void walk_begin(struct walk *walk, ps_t now);

// The message of a member's step, without hint and origin.
struct transfer_request walk_request(const struct walk *walk, const struct coll_send *send);

static inline struct collective_record *record_of(const struct phase_run *run)
{
    return &run->comm->job->recorder->records[run->instance->record];
}

// A run's place in its collective; it remains valid after the run has ended.
struct run_place {
    struct instance *in;
    size_t phase;  // chunk * n_phases + index
    uint32_t slot; // in `runs`
    uint32_t dim, group;
};

static inline struct run_place run_place(const struct phase_run *run)
{
    size_t phase = (size_t)run->chunk * run->instance->n_phases + run->index;
    return (struct run_place){.in = run->instance,
                              .phase = phase,
                              .slot = run->instance->first_run[phase] + run->group,
                              .dim = run->dim,
                              .group = run->group};
}

static inline struct phase_record *phase_record_at(const struct communicator *c,
                                                   const struct run_place *place)
{
    const struct instance *in = place->in;
    return &c->job->recorder->records[in->record].phases[in->record_phase[place->phase]];
}

static inline struct phase_record *phase_record_of(const struct phase_run *run)
{
    struct run_place place = run_place(run);
    return phase_record_at(run->comm, &place);
}

/* recorder.c; records that need the order of events are deferred if shards run in parallel */
void recorder_open(struct communicator *c, struct instance *in, const struct comm_request *request);
void recorder_issued(const struct communicator *c, const struct instance *in); // by a member
// the library has chosen
void recorder_library(const struct communicator *c, const struct instance *in,
                      const struct executor_run *run);
// the first member of the run begins; the last one has ended its part
void recorder_start(struct communicator *c, const struct run_place *place, ps_t now);
void recorder_end(struct communicator *c, const struct run_place *place, ps_t now);
// the last member has ended its part, at the end of `path`
void recorder_path(struct collective_record *record, const struct path_book *book,
                   const struct path *path);
// The stage of critical paths in a phase: its index among the record's phases.
#define PHASE_STAGE(phase) ((uint32_t)(phase) + 1)
// a member has ended its part
void recorder_slice(const struct phase_run *run, uint32_t rank, ps_t now);

/* scheduler.c */

// Start all members of a phase that admission has let into its dimension.
void scheduler_start(struct phase_run *run, ps_t now);

// A member has ended its part of a collective.
// A member begins, or ends, its part of a phase that has `n_members`; the first one to begin and
// the last one to end count. runs_open holds the collective until the last has ended.
void scheduler_member_begins(struct communicator *c, const struct run_place *place);
void scheduler_member_ends(struct communicator *c, const struct run_place *place,
                           uint32_t n_members);
void scheduler_rank_done(struct communicator *c, struct instance *in, uint32_t rank, ps_t now);

// A member has ended its part of a phase.
void scheduler_member_done(struct phase_run *run, uint32_t member, ps_t now);
