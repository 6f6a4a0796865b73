// SPDX-License-Identifier: MIT
// Between system.c and phase_walk.c: the state of a system layer.
#pragma once

#include "collective/dim_queue.h"
#include "workload/dim_use.h"
#include "workload/phase_run.h"
#include "workload/timeline.h"
#include "workload/volume.h"
#include "workload/workload.h"

// Of a token, below the job: run and member, step.
#define SYSTEM_RUN_BITS 28
#define SYSTEM_STEP_BITS 20

struct system {
    /* config */
    struct job_run *job;
    struct workload *workload;
    struct coll_schedule schedule;
    system_done *done;
    void *ctx;
    uint32_t ranks;
    uint32_t first_group[COLL_MAX_DIMS + 2]; // [dim] of `queues`
    unsigned member_bits;                    // of a token
    bool queued;               // phases wait for their whole group, and for their turn
    bool timed;                // walks have timers
    struct timeline *timeline; // records, NULL = none is wanted
    struct dim_use *use;
    /* state */
    struct coll_planner planner;
    struct instance **open; // [number - first_open]
    size_t first_open, n_open, cap_open;
    uint32_t *issued; // [rank] collectives
    struct dim_queue *queues;
    ps_t *used_since; // [queue] it holds something
    struct phase_pool pool;
    struct volume volumes[VOLUMES_KEPT]; // of phases in closed form
};

struct collective_record *system_record(const struct system *s, const struct instance *in);
struct phase_record *system_phase_record(const struct phase_run *run);

/* phase_walk.c */

// Member `member` begins; where the system has timers, at the end of its endpoint delay.
void walk_begin(struct walk *walk, ps_t now);

// A message has come for step `step` of a walk.
void walk_arrived(struct walk *walk, uint32_t step, ps_t now);

void walk_timer_init(struct walk *walk);

/* system_note.c */

void system_note_start(struct phase_run *run, ps_t now);
void system_note_end(struct phase_run *run, ps_t now);
void system_note_use(struct system *s, uint32_t dim, const struct dim_queue *queue, ps_t now);
void system_note_slice(const struct phase_run *run, uint32_t rank, ps_t now);

/* system.c */

// A rank has ended its part of a phase.
void system_member_done(struct phase_run *run, uint32_t member, ps_t now);

static inline uint32_t run_rank(const struct phase_run *run, uint32_t member)
{
    return coll_rank_of(&run->system->schedule, run->dim, run->group, member);
}
