// SPDX-License-Identifier: MIT
// The memory of runs of phases: runs are used again, with one list of free ones for each size of
// groups.
#include <stdlib.h>
#include <string.h>

#include "collective/comm_internal.h"
#include "engine/base/assert.h"
#include "engine/base/memory.h"

// Other threads may be reading the table while it grows, so earlier ones are kept.
static void token_add(struct comm_job *job, struct walk *walk)
{
    if (job->n_walks == job->cap_walks) {
        struct walk_table *table;
        job->cap_walks = job->cap_walks > 0 ? 2 * job->cap_walks : 64;
        table = memory_bytes(sizeof *table + job->cap_walks * sizeof *table->walks);
        table->before = job->walk_tables;
        if (job->n_walks > 0)
            memcpy(table->walks, job->walks, job->n_walks * sizeof *table->walks);
        job->walk_tables = table;
        __atomic_store_n(&job->walks, table->walks, __ATOMIC_RELEASE);
    }
    job->walks[job->n_walks++] = walk;
}

void walk_tables_free(struct comm_job *job)
{
    for (struct walk_table *table = job->walk_tables, *before; table != NULL; table = before) {
        before = table->before;
        free(table);
    }
}

static struct phase_run *run_take(struct communicator *c, uint32_t dim, uint32_t members)
{
    struct phase_run *run = c->free[dim];
    if (run != NULL) {
        c->free[dim] = run->next_free;
        return run;
    }
    run = memory_zeroed(1, sizeof *run);
    run->comm = c;
    run->dim = dim;
    run->n_members = members;
    run->next = c->runs;
    c->runs = run;
    return run;
}

static void walks_make(struct phase_run *run)
{
    struct comm_job *job = run->comm->job;
    uint32_t walks = run->n_members + run->comm->extra[run->dim];
    run->walks = memory_zeroed(walks, sizeof *run->walks);
    // The walks of a run have consecutive numbers, so the token of a message to any member follows
    // from the number of the first.
    run->first_walk = (uint32_t)job->n_walks;
    for (uint32_t m = 0; m < walks; m++) {
        run->walks[m].run = run;
        run->walks[m].member = m;
        token_add(job, &run->walks[m]);
    }
    SIM_ASSERT(job->engine, 0, job->n_walks >> TOKEN_WALK_BITS == 0);
}

void walks_prepare(struct phase_run *run)
{
    if (run->walking)
        return;
    run->walking = true;
    if (run->walks == NULL)
        walks_make(run);
    uint32_t steps = run->algorithm->steps(&run->shape);
    for (uint32_t m = 0; m < run->n_members; m++)
        run->walks[m].steps = steps;
    for (uint32_t m = run->n_members; m < run->n_walks; m++) { // aggregators are always ready
        run->walks[m].steps = coll_member_steps(run->algorithm, &run->shape, m);
        run->walks[m].begun = true;
    }
}

static struct phase_run **run_slot(struct instance *in, uint32_t chunk, uint32_t i, uint32_t group)
{
    return &in->runs[in->first_run[(size_t)chunk * in->n_phases + i] + group];
}

struct phase_run *phase_run_of(struct communicator *c, struct instance *in, uint32_t chunk,
                               uint32_t i, uint32_t group)
{
    struct phase_run **slot = run_slot(in, chunk, i, group), *run = *slot;
    if (run != NULL)
        return run;
    const struct coll_phase *phase = instance_phase(in, chunk, i);
    run = *slot = run_take(c, phase->dim, coll_group_size(&c->schedule, phase->dim));
    run->instance = in;
    run->chunk = chunk;
    run->index = i;
    run->group = group;
    run->algorithm = coll_choice_at(&c->schedule, in->request.op, phase)->algorithm;
    run->shape = instance_shape(&c->schedule, in, chunk, i, group);
    run->n_walks = coll_members(run->algorithm, &run->shape);
    SIM_ASSERT(c->job->engine, group, run->n_walks <= run->n_members + c->extra[run->dim]);
    run->ends_ps = run->began_ps = PS_NEVER;
    in->runs_open++;
    return run;
}

// The records may move, and belong to no rank: only under the lock, or after the run.
static void walk_settle(struct walk *walk)
{
    const struct phase_run *run = walk->run;
    struct phase_record *record = phase_record_of(run);
    record->bytes += walk->sums.bytes;
    record->messages += walk->sums.messages;
    record->network_ps += walk->sums.network_ps;
    record->on_the_way += (uint64_t)walk->sums.on_the_way;
    record_of(run)->dims[run->dim].bytes += walk->sums.bytes;
    walk->sums = (struct walk_sums){0};
}

void comm_settle(const struct communicator *c)
{
    for (struct phase_run *run = c->runs; run != NULL; run = run->next)
        for (uint32_t m = 0; run->walking && m < run->n_walks; m++)
            walk_settle(&run->walks[m]);
}

static void walk_reset(struct walk *walk)
{
    walk->step = walk->early_base = 0;
    walk->begun = walk->delayed = false;
    walk->now = (struct arrivals){0};
    // The window keeps its memory for the next phase.
    if (walk->early != NULL)
        memset(walk->early, 0, walk->n_early * sizeof *walk->early);
}

void phase_run_end(struct phase_run *run)
{
    struct communicator *c = run->comm;
    for (uint32_t m = 0; run->walking && m < run->n_walks; m++) {
        walk_settle(&run->walks[m]);
        walk_reset(&run->walks[m]);
    }
    *run_slot(run->instance, run->chunk, run->index, run->group) = NULL;
    sim_timer_end(c->job->engine, &run->timer);
    run->walking = false;
    run->n_ready = run->n_done = 0;
    run->late = (struct late_message){0};
    run->ready_ps = 0;
    run->next_free = c->free[run->dim];
    c->free[run->dim] = run;
}

void phase_runs_free(struct communicator *c)
{
    for (struct phase_run *run = c->runs, *next; run != NULL; run = next) {
        next = run->next;
        for (uint32_t m = 0; run->walks && m < run->n_members + c->extra[run->dim]; m++)
            free(run->walks[m].early);
        free(run->walks);
        free(run);
    }
}
