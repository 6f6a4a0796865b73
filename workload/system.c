// SPDX-License-Identifier: MIT
// Collectives, their phases and the queues of dimensions.
//
// When a rank's part of a phase ends, it joins its next phase before the place is given to another:
// of two phases along one dimension, one behind the other, the second is among those to choose from.
#include "workload/system.h"

#include <stdlib.h>

#include "engine/assert.h"
#include "engine/memory.h"
#include "workload/system_state.h"

#define URGENT (INT64_C(1) << 40) // above all numbers

static void measure_dims(struct system *s)
{
    const struct workload *w = s->workload;
    for (uint32_t d = 0; d < s->schedule.n_dims; d++) {
        uint32_t a = job_rank(s->job->spec, coll_rank_of(&s->schedule, d, 0, 0));
        bool alone = s->schedule.dim_size[d] == 1;
        uint32_t b = alone ? a : job_rank(s->job->spec, coll_rank_of(&s->schedule, d, 0, 1));
        s->schedule.dim_bandwidth[d] = alone ? 1 : w->bandwidth(w->network_ctx, a, b);
    }
}

struct system *system_new(struct job_run *job, const struct coll_schedule *schedule,
                          system_done *done, void *ctx)
{
    struct system *s = memory_zeroed(1, sizeof *s);
    uint32_t groups = 0;
    s->job = job;
    s->workload = job->workload;
    s->schedule = *schedule;
    s->done = done;
    s->ctx = ctx;
    s->ranks = coll_ranks(schedule);
    while (UINT64_C(1) << s->member_bits < coll_largest_group(schedule))
        s->member_bits++;
    for (uint32_t d = 0; d <= schedule->n_dims; d++) {
        s->first_group[d] = groups;
        groups += coll_n_groups(schedule, d);
    }
    s->queues = memory_zeroed(groups, sizeof *s->queues);
    s->used_since = memory_zeroed(groups, sizeof *s->used_since);
    s->queued = schedule->active_chunks > 0 || s->workload->transfer.phase != NULL;
    s->timed = s->queued || schedule->endpoint_ps > 0 || schedule->reduce_bps > 0;
    s->issued = memory_zeroed(s->ranks, sizeof *s->issued);
    if (schedule->order == COLL_THEMIS)
        measure_dims(s);
    coll_planner_init(&s->planner, &s->schedule);
    return s;
}

void system_watch(struct system *s, struct timeline *timeline, struct dim_use *use)
{
    s->timeline = timeline;
    s->use = use;
}

static uint32_t count_queues(const struct system *s)
{
    return s->first_group[s->schedule.n_dims] + 1;
}

void system_free(struct system *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_open; i++)
        instance_free(s->open[i]);
    for (uint32_t q = 0; q < count_queues(s); q++)
        dim_queue_free(&s->queues[q]);
    phase_pool_free(&s->pool);
    free(s->open);
    free(s->issued);
    free(s->queues);
    free(s->used_since);
    free(s);
}

struct collective_record *system_record(const struct system *s, const struct instance *in)
{
    return &s->workload->records[in->record];
}

struct phase_record *system_phase_record(const struct phase_run *run)
{
    const struct instance *in = run->instance;
    return &system_record(run->system, in)
                ->phases[in->record_phase[(size_t)run->chunk * in->n_phases + run->index]];
}

/* ---- programs ---- */

uint64_t system_bytes(const struct system *s, const struct system_request *request)
{
    struct coll_planner planner;
    struct volume kept[VOLUMES_KEPT] = {{{0, 0, 0}, 0}};
    uint64_t sum = 0;
    coll_planner_init(&planner, &s->schedule);
    struct instance *in = instance_new(&planner, request, 0);
    for (uint32_t c = 0; c < in->n_chunks; c++)
        for (uint32_t i = 0; i < in->n_phases; i++) {
            const struct coll_phase *phase = instance_phase(in, c, i);
            for (uint32_t g = 0; g < coll_n_groups(&s->schedule, phase->dim); g++) {
                struct coll_shape shape = instance_shape(&s->schedule, in, c, i, g);
                sum += volume_of(&s->schedule, phase, &shape, kept);
            }
        }
    instance_free(in);
    return sum;
}

/* ---- phases ---- */

static void member_timers(struct phase_run *run, bool begin)
{
    struct engine *e = run->system->workload->engine;
    for (uint32_t m = 0; m < run->n_members && run->system->timed; m++) {
        if (begin)
            walk_timer_init(&run->walks[m]);
        else
            sim_timer_end(e, &run->walks[m].timer);
    }
}

static struct phase_run **run_slot(struct instance *in, uint32_t chunk, uint32_t i, uint32_t group)
{
    return &in->runs[in->first_run[(size_t)chunk * in->n_phases + i] + group];
}

static struct phase_run *run_of(struct system *s, struct instance *in, uint32_t chunk, uint32_t i,
                                uint32_t group)
{
    struct phase_run **slot = run_slot(in, chunk, i, group), *run = *slot;
    if (run)
        return run;
    const struct coll_phase *phase = instance_phase(in, chunk, i);
    uint32_t members = coll_group_size(&s->schedule, phase->dim);
    run = *slot = phase_run_take(&s->pool, phase->dim, members);
    SIM_ASSERT(s->workload->engine, 0, run->id >> (SYSTEM_RUN_BITS - s->member_bits) == 0);
    run->system = s;
    run->instance = in;
    run->chunk = chunk;
    run->index = i;
    run->group = group;
    run->algorithm = s->schedule.choice[phase->op][phase->dim].algorithm;
    run->shape = instance_shape(&s->schedule, in, chunk, i, group);
    run->steps = run->algorithm->steps(&run->shape);
    run->ends_ps = run->began_ps = PS_NEVER;
    member_timers(run, true);
    in->runs_open++;
    return run;
}

static struct dim_queue *queue_of(const struct phase_run *run)
{
    return &run->system->queues[run->system->first_group[run->dim] + run->group];
}

static void closed_form_end(struct phase_run *run, ps_t now)
{
    uint32_t members = run->n_members; // the last one may end the run
    run->system->workload->starts_pending--;
    for (uint32_t m = 0; m < members; m++)
        system_member_done(run, m, now);
}

// Of phases of a queue that end at once, the one that began first is the first to end: timers know
// no such order. The timers of the others find nothing to do.
static void on_closed_form(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct dim_queue *queue = queue_of(timer->data);
    for (size_t i = 0; i < queue->n_active;) {
        struct phase_run *run = queue->entries[i].run;
        if (run->ends_ps != e->now_ps) {
            i++;
            continue;
        }
        closed_form_end(run, e->now_ps);
        i = 0; // others may have begun
    }
}

// Does the network know how long it takes? Then the run ends after that.
static bool closed_form(struct phase_run *run, ps_t now)
{
    struct system *s = run->system;
    struct workload *w = s->workload;
    const struct coll_phase *phase = instance_phase(run->instance, run->chunk, run->index);
    ps_t duration;
    if (!w->transfer.phase || run->shape.uneven)
        return false;
    uint32_t *members = memory_zeroed(run->n_members, sizeof *members);
    for (uint32_t m = 0; m < run->n_members; m++)
        members[m] = job_rank(s->job->spec, run_rank(run, m));
    struct coll_phase_call call = {.op = (enum coll_op)phase->op,
                                   .algorithm = run->algorithm,
                                   .window = run->shape.window,
                                   .members = members,
                                   .n = run->n_members,
                                   .bytes = phase->bytes,
                                   .endpoint_ps = s->schedule.endpoint_ps};
    bool known = w->transfer.phase(w->transfer.net, &call, &duration);
    free(members);
    if (!known)
        return false;
    sim_timer_init(w->engine, &run->timer, job_rank(s->job->spec, run_rank(run, 0)), on_closed_form,
                   run);
    run->ends_ps = now + duration;
    sim_timer_start(w->engine, &run->timer, run->ends_ps);
    w->starts_pending++;
    struct phase_record *record = system_phase_record(run);
    record->network_ps += (double)duration * run->n_members;
    record->messages += run->n_members;
    uint64_t bytes = volume_of(&s->schedule, phase, &run->shape, s->volumes);
    record->bytes += bytes;
    system_record(s, run->instance)->dims[run->dim].bytes += bytes;
    return true;
}

static void run_start(struct phase_run *run, ps_t now)
{
    struct phase_record *record = system_phase_record(run);
    run->began_ps = now;
    system_note_start(run, now);
    record->waits += run->n_members;
    record->queueing_ps += (double)(now - run->instance->start_ps) * run->n_members - run->ready_ps;
    if (closed_form(run, now))
        return;
    for (uint32_t m = 0; m < run->n_members; m++)
        walk_begin(&run->walks[m], now);
}

static void dispatch(struct system *s, struct dim_queue *queue, ps_t now)
{
    struct phase_run *run;
    while ((run = dim_queue_next(queue, s->schedule.active_chunks)) != NULL)
        run_start(run, now);
}

// A rank is ready for the phase it has come to.
static void enter(struct system *s, struct instance *in, uint32_t chunk, uint32_t rank, ps_t now)
{
    uint32_t i = in->at[(size_t)chunk * s->ranks + rank];
    const struct coll_phase *phase = instance_phase(in, chunk, i);
    struct phase_run *run = run_of(s, in, chunk, i, coll_group_of(&s->schedule, phase->dim, rank));
    run->n_ready++;
    run->ready_ps += (double)(now - in->start_ps);
    if (!s->queued) {
        if (run->n_ready == 1)
            system_note_start(run, now);
        walk_begin(&run->walks[coll_member_of(&s->schedule, phase->dim, rank)], now);
    } else if (run->n_ready == run->n_members) {
        if (queue_of(run)->n == 0)
            s->used_since[queue_of(run) - s->queues] = now;
        dim_queue_insert(queue_of(run), s->schedule.queueing, run, in->priority, phase);
        dispatch(s, queue_of(run), now);
    }
}

/* ---- collectives ---- */

static void forget(struct system *s, struct instance *in)
{
    if (in->ranks_left > 0 || in->runs_open > 0)
        return;
    s->open[in->number - s->first_open] = NULL;
    instance_free(in);
    size_t gone = 0;
    while (gone < s->n_open && s->open[gone] == NULL)
        gone++;
    if (gone < s->n_open && gone < s->cap_open / 2)
        return; // moved later, when it is worth it
    s->n_open -= gone;
    s->first_open += gone;
    for (size_t i = 0; i < s->n_open; i++)
        s->open[i] = s->open[i + gone];
}

static void rank_done(struct system *s, struct instance *in, uint32_t rank, ps_t now)
{
    struct collective_record *record = system_record(s, in);
    uint32_t number = in->number;
    record->ranks_done++;
    if (--in->ranks_left == 0)
        record->end_ps = now;
    s->done(s->ctx, rank, number, now);
}

static void run_end(struct phase_run *run, ps_t now)
{
    struct system *s = run->system;
    struct instance *in = run->instance;
    struct dim_queue *queue = queue_of(run);
    system_note_end(run, now);
    if (s->queued) {
        dim_queue_remove(queue, run);
        if (queue->n == 0)
            system_note_use(s, run->dim, queue, now);
    }
    *run_slot(in, run->chunk, run->index, run->group) = NULL;
    sim_timer_end(s->workload->engine, &run->timer);
    member_timers(run, false);
    phase_run_give(&s->pool, run);
    in->runs_open--;
    if (s->queued)
        dispatch(s, queue, now);
    forget(s, in);
}

void system_member_done(struct phase_run *run, uint32_t member, ps_t now)
{
    struct system *s = run->system;
    struct instance *in = run->instance;
    uint32_t rank = run_rank(run, member), chunk = run->chunk;
    bool last = ++run->n_done == run->n_members;
    if (timeline_wants(s->timeline, rank) && run->began_ps != PS_NEVER)
        system_note_slice(run, rank, now);
    if (++in->at[(size_t)chunk * s->ranks + rank] < in->n_phases)
        enter(s, in, chunk, rank, now);
    else if (--in->chunks_left[rank] == 0)
        rank_done(s, in, rank, now);
    if (last)
        run_end(run, now);
}

// The place of collective `number`, which has not ended, among those that are open.
static struct instance **open_slot(struct system *s, size_t number)
{
    while (number >= s->first_open + s->n_open) {
        if (s->n_open == s->cap_open)
            s->open = memory_grow(s->open, &s->cap_open, sizeof(struct instance *));
        s->open[s->n_open++] = NULL;
    }
    return &s->open[number - s->first_open];
}

static void add_record(struct system *s, struct instance *in, const struct system_request *request)
{
    struct workload *w = s->workload;
    if (w->n_records == w->cap_records)
        w->records = memory_grow(w->records, &w->cap_records, sizeof *w->records);
    in->record = w->n_records++;
    struct collective_record *r = &w->records[in->record];
    *r = (struct collective_record){.job = s->job->index,
                                    .number = in->number,
                                    .request = request,
                                    .schedule = &s->schedule,
                                    .start_ps = in->start_ps,
                                    .end_ps = PS_NEVER,
                                    .n_dims = s->schedule.n_dims + 1};
    r->dims = memory_zeroed(r->n_dims, sizeof *r->dims);
    for (size_t i = 0; i < (size_t)in->n_chunks * in->n_phases; i++) {
        const struct coll_phase *phase = &in->phases[i];
        in->record_phase[i] =
            record_phase(r, phase, s->schedule.choice[phase->op][phase->dim].algorithm);
    }
}

// The first rank that issues it makes it.
static struct instance *instance_of(struct system *s, uint32_t number,
                                    const struct system_request *request, ps_t now)
{
    struct instance **slot = open_slot(s, number);
    if (*slot)
        return *slot;
    struct instance *in = *slot = instance_new(&s->planner, request, now);
    int64_t order = s->schedule.newest_first ? number : -(int64_t)number;
    in->number = number;
    in->priority = request->urgent ? URGENT : order;
    if (in->n_phases > 0)
        add_record(s, in, request);
    return in;
}

bool system_issue(struct system *s, uint32_t rank, const struct system_request *request, ps_t now)
{
    struct instance *in = instance_of(s, s->issued[rank]++, request, now);
    if (in->n_phases == 0) {
        in->ranks_left--;
        forget(s, in);
        return false;
    }
    in->runs_open++; // it stays while chunks begin
    for (uint32_t c = 0; c < in->n_chunks; c++)
        enter(s, in, c, rank, now);
    in->runs_open--;
    forget(s, in);
    return true;
}

void system_delivered(struct system *s, uint64_t token, ps_t now)
{
    uint64_t index = token >> SYSTEM_STEP_BITS & ((UINT64_C(1) << SYSTEM_RUN_BITS) - 1);
    uint64_t member = index & ((UINT64_C(1) << s->member_bits) - 1);
    walk_arrived(&s->pool.runs[index >> s->member_bits]->walks[member],
                 (uint32_t)(token & ((UINT64_C(1) << SYSTEM_STEP_BITS) - 1)), now);
}
