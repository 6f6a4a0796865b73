// SPDX-License-Identifier: MIT
// The collective scheduler: each chunk runs through its phases, and each rank at its own speed.
//
// When a rank's part of a phase ends, the rank joins its next phase before another phase gets the
// freed place. If both phases use the same dimension, the next one is therefore among the
// candidates.
#include <stdlib.h>

#include "collective/executor_use.h"
#include "collective/phase_admission.h"
#include "collective/rank_streams.h"
#include "engine/base/memory.h"
#include "engine/critical_path.h"

/* ---- phases in closed form ---- */

static void closed_form_end(struct phase_run *run, ps_t now)
{
    uint32_t members = run->n_members; // `run` may be freed by the last member
    const struct comm_job *job = run->comm->job;
    uint32_t path = path_own(job->path_book, run->path);
    path_extend(job->path_book, path, PATH_NETWORK, now);
    uint32_t before = path_enter(job->path_book, path);
    tally_add(job->delays, -1);
    for (uint32_t m = 0; m < members; m++)
        scheduler_member_done(run, m, now);
    path_leave(job->path_book, before);
}

// If phases of one queue end at the same time, the one that began first must end first, which
// timers do not guarantee. So all of them are ended here in that order, and the timers of the
// others find nothing to do.
static void on_closed_form(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct dim_queue *queue = admission_queue(timer->data);
    for (size_t i = 0; i < queue->n_active;) {
        struct phase_run *run = queue->entries[i].run;
        if (run->ends_ps != e->now_ps) {
            i++;
            continue;
        }
        closed_form_end(run, e->now_ps);
        i = 0; // others may have begun: search again
    }
}

static bool closed_form_cost(const struct phase_run *run, struct coll_phase_cost *cost)
{
    const struct communicator *c = run->comm;
    const struct transfer *transfer = c->job->transfer;
    const struct coll_phase *phase = instance_phase(run->instance, run->chunk, run->index);
    // The closed form takes the vectors of all members to be equal, and has no single steps.
    if (!transfer->phase || c->schedule.stepwise || run->shape.uneven)
        return false;
    uint32_t *members = memory_zeroed(run->n_members, sizeof *members);
    for (uint32_t m = 0; m < run->n_members; m++)
        members[m] = comm_rank(c, run_member(run, m));
    struct coll_phase_call call = {.op = (enum coll_op)phase->op,
                                   .algorithm = run->algorithm,
                                   .params = run->shape.params,
                                   .members = members,
                                   .n = run->n_members,
                                   .bytes = phase->bytes,
                                   .reduction = run->shape.reduction,
                                   .endpoint_ps = c->schedule.endpoint_ps,
                                   .chunk = run->chunk};
    bool known = transfer->phase(transfer->net, &call, cost);
    free(members);
    return known;
}

// In closed form no message is posted that would count these bytes.
static void note_sent(const struct phase_run *run)
{
    const struct comm_job *job = run->comm->job;
    for (uint32_t m = 0; job->sent != NULL && m < run->n_members; m++)
        job->sent(job->sent_ctx, comm_rank(run->comm, run_member(run, m)),
                  run->instance->request.label, coll_bytes_sent(run->algorithm, &run->shape, m));
}

// If the network is in closed form, arm a timer for the end of the phase. Returns false if the
// phase must run as messages.
static bool closed_form(struct phase_run *run, ps_t now)
{
    struct communicator *c = run->comm;
    struct engine *e = c->job->engine;
    struct coll_phase_cost cost;
    if (!closed_form_cost(run, &cost))
        return false;
    sim_timer_init(e, &run->timer, comm_rank(c, run_member(run, 0)), on_closed_form, run);
    run->ends_ps = now + cost.duration_ps;
    run->path = path_take(c->job->path_book, now);
    sim_timer_start(e, &run->timer, run->ends_ps);
    tally_add(c->job->delays, 1);
    struct phase_record *record = phase_record_of(run);
    record->network_ps += cost.messages_ps;
    record->messages += cost.messages;
    uint64_t bytes =
        volume_of(run->algorithm, instance_phase(run->instance, run->chunk, run->index),
                  &run->shape, c->volumes);
    record->bytes += bytes;
    record_of(run)->dims[run->dim].bytes += bytes;
    note_sent(run);
    return true;
}

/* ---- phases ---- */

// The event that starts a phase may belong to another collective, whose phase has made room in the
// dimension. Then the collective's path begins here. Returns true if it does; path_leave() ends it.
static bool enter_path(const struct phase_run *run, ps_t now, uint32_t *before)
{
    struct path_book *book = run->comm->job->path_book;
    uint32_t owner = (uint32_t)run->instance->record + 1, current = path_take(book, now);
    if (path_at(book, current)->owner == owner) {
        path_drop(book, current);
        return false;
    }
    uint32_t rank = path_at(book, current)->rank, whole = path_join(book, current);
    *before =
        path_enter(book, path_fork(book, whole, rank, owner, run->instance->request.label, now));
    return true;
}

// If the current path belongs to the run's collective, its time counts for the run's phase from now
// on.
static void path_enters_phase(const struct phase_run *run, ps_t now)
{
    struct path_book *book = run->comm->job->path_book;
    const struct run_place place = run_place(run);
    uint32_t owner = (uint32_t)run->instance->record + 1;
    if (path_thread(book)->current != 0 &&
        path_at(book, path_thread(book)->current)->owner == owner)
        path_stage_current(book, PHASE_STAGE(run->instance->record_phase[place.phase]), now);
}

// All members begin a phase.
static void phase_begun(void *ctx, const void *note, ps_t now) { recorder_start(ctx, note, now); }

void scheduler_start(struct phase_run *run, ps_t now)
{
    struct path_book *book = run->comm->job->path_book;
    struct phase_record *record = phase_record_of(run);
    uint32_t before;
    bool entered = enter_path(run, now, &before);
    path_enters_phase(run, now);
    run->began_ps = now;
    struct run_place place = run_place(run);
    engine_defer(run->comm->job->engine, phase_begun, run->comm, &place, sizeof place);
    record->waits += run->n_members;
    // ready_ps is the sum of the times at which the members became ready.
    record->queueing_ps += (ps_sum_t)now * run->n_members - run->ready_ps;
    // In closed form a timer ends the phase, and no member walks through its steps.
    uint32_t members = closed_form(run, now) ? 0 : run->n_members;
    if (members > 0)
        walks_prepare(run);
    for (uint32_t m = 0; m < members; m++)
        walk_begin(&run->walks[m], now);
    if (entered)
        path_leave(book, before);
}

// A member begins a phase that waits for no others.
static void member_begun(void *ctx, const void *note, ps_t now)
{
    const struct run_place *place = note;
    if (place->in->members_begun[place->slot]++ == 0)
        recorder_start(ctx, place, now);
}

void scheduler_member_begins(struct communicator *c, const struct run_place *place)
{
    engine_defer(c->job->engine, member_begun, c, place, sizeof *place);
}

// A rank is ready for its current phase.
static void enter(struct communicator *c, struct instance *in, uint32_t chunk, uint32_t rank,
                  ps_t now)
{
    uint32_t i = in->at[(size_t)chunk * c->n_ranks + rank];
    uint32_t dim = instance_phase(in, chunk, i)->dim;
    struct phase_run *run = phase_run_of(c, in, chunk, i, coll_group_of(&c->schedule, dim, rank));
    admission_ready(run, now);
    if (c->queued)
        return; // the rank begins when the phase gets a place, possibly in this call
    struct run_place place = run_place(run);
    scheduler_member_begins(c, &place);
    walks_prepare(run);
    path_enters_phase(run, now);
    walk_begin(&run->walks[coll_member_of(&c->schedule, dim, rank)], now);
}

// A member has ended its part of a collective.
struct rank_over {
    struct instance *in;
    uint32_t path;
};

static void rank_over(void *ctx, const void *note, ps_t now)
{
    struct communicator *c = ctx;
    const struct rank_over *over = note;
    struct collective_record *record = &c->job->recorder->records[over->in->record];
    record->ranks_done++;
    if (--over->in->ranks_left == 0) {
        record->end_ps = now;
        recorder_path(record, c->job->path_book, path_at(c->job->path_book, over->path));
    }
    path_drop(c->job->path_book, over->path);
    c->ending = (struct comm_ending){over->in->last_member, over->in->last_issue_ps};
    admission_close(c, over->in);
}

void scheduler_rank_done(struct communicator *c, struct instance *in, uint32_t rank, ps_t now)
{
    struct path_book *book = c->job->path_book;
    uint32_t ticket = in->tickets[rank], path = path_take(book, now);
    enum coll_op op = in->request.op;
    struct rank_over over = {in, path_hold(book, path)};
    engine_defer(c->job->engine, rank_over, c, &over, sizeof over);
    uint32_t before = path_enter(book, path_join(book, path));
    c->ending_op = op;
    c->done(c->ctx, rank, ticket, now);
    path_leave(book, before);
}

// A member has ended its part of a phase.
struct member_over {
    struct run_place place;
    uint32_t n_members;
};

static void member_over(void *ctx, const void *note, ps_t now)
{
    struct communicator *c = ctx;
    const struct member_over *over = note;
    struct instance *in = over->place.in;
    if (++in->members_over[over->place.slot] == over->n_members) {
        recorder_end(c, &over->place, now);
        in->runs_open--;
    }
    admission_close(c, in);
}

void scheduler_member_ends(struct communicator *c, const struct run_place *place,
                           uint32_t n_members)
{
    struct member_over over = {*place, n_members};
    engine_defer(c->job->engine, member_over, c, &over, sizeof over);
}

static void run_end(struct phase_run *run, ps_t now)
{
    struct communicator *c = run->comm;
    struct dim_queue *queue = admission_queue(run);
    if (c->queued)
        admission_leave(run, now);
    phase_run_end(run);
    if (c->queued)
        admission_next(c, queue, now);
}

void scheduler_member_done(struct phase_run *run, uint32_t member, ps_t now)
{
    struct communicator *c = run->comm;
    struct instance *in = run->instance;
    uint32_t rank = run_member(run, member), chunk = run->chunk;
    // Copied first: the run may end below and be used again for another phase.
    struct run_place place = run_place(run);
    uint32_t members = run->n_members;
    bool last = ++run->n_done == run->n_members;
    if (timeline_wants(c->timeline, rank) && run->began_ps != PS_NEVER)
        recorder_slice(run, rank, now);
    if (++in->at[(size_t)chunk * c->n_ranks + rank] < in->n_phases)
        enter(c, in, chunk, rank, now);
    else if (--in->chunks_left[rank] == 0)
        scheduler_rank_done(c, in, rank, now);
    if (last)
        run_end(run, now);
    scheduler_member_ends(c, &place, members);
}

// A rank's part of a collective has no phases.
static void rank_without_part(struct communicator *c, struct instance *in, ps_t now)
{
    struct collective_record *record = &c->job->recorder->records[in->record];
    record->ranks_done++;
    if (--in->ranks_left == 0)
        record->end_ps = now;
}

bool comm_issue(struct communicator *c, uint32_t member, const struct comm_request *request,
                uint32_t ticket, ps_t now)
{
    return comm_issue_numbered(c, c->issued[member]++, member, request, ticket, now);
}

// A member has issued a collective. If shards run at the same time, members may do so in another
// order than that of their events.
struct issue {
    struct instance *in;
    uint32_t member;
};

static void issued(void *ctx, const void *note, ps_t now)
{
    const struct communicator *c = ctx;
    const struct issue *issue = note;
    struct instance *in = issue->in;
    in->last_issue_ps = now;
    in->last_member = issue->member;
    if (in->n_issued++ == 0) {
        in->start_ps = now;
        in->opener = issue->member;
    }
    recorder_issued(c, in);
}

bool comm_issue_numbered(struct communicator *c, uint32_t number, uint32_t member,
                         const struct comm_request *request, uint32_t ticket, ps_t now)
{
    struct instance *in = admission_open(c, number, member, request, now);
    if (in == NULL)
        return true; // the run is over
    // Without phases the collective has ended for the member at once, and has no record.
    if (in->n_phases == 0) {
        in->ranks_left--;
        admission_close(c, in);
        return false;
    }
    struct path_book *book = c->job->path_book;
    uint32_t path = path_fork(book, path_take(book, now), comm_rank(c, member),
                              (uint32_t)in->record + 1, in->request.label, now);
    uint32_t before = path_enter(book, path);
    in->tickets[member] = ticket;
    struct issue issue = {in, member};
    engine_defer(c->job->engine, issued, c, &issue, sizeof issue);
    in->runs_open++; // keeps the collective alive while chunks begin
    bool begun = true;
    if (comm_by_library(&c->schedule))
        executor_use_issue(c, in, member, now);
    else if (c->schedule.streams.enabled)
        begun = streams_issue(c, in, member, now, scheduler_rank_done);
    else
        for (uint32_t chunk = 0; chunk < in->n_chunks; chunk++)
            enter(c, in, chunk, member, now);
    in->runs_open--;
    path_leave(book, before);
    if (!begun)
        rank_without_part(c, in, now);
    admission_close(c, in);
    return begun;
}
