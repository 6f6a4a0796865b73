// SPDX-License-Identifier: MIT
// Collectives by their number, and queues of groups along dimensions.
#include "collective/phase_admission.h"

#include <stdlib.h>

#include "collective/algorithm/reduction.h"
#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/shards.h"

#define PRIORITY (INT64_C(1) << 40) // larger than any number of a collective

// A collective that may be open: members may issue them in another order than that of their
// numbers.
struct open_slot {
    struct instance *instance; // NULL = not yet issued, or ended
    bool ended;
};

void admission_init(struct communicator *c)
{
    uint32_t groups = 0;
    for (uint32_t d = 0; d <= c->schedule.n_dims; d++) {
        c->first_group[d] = groups;
        groups += coll_n_groups(&c->schedule, d);
    }
    c->queues = memory_zeroed(groups, sizeof *c->queues);
    c->late = memory_zeroed(groups, sizeof *c->late);
    c->used_since = memory_zeroed(groups, sizeof *c->used_since);
    coll_planner_init(&c->planner, &c->schedule);
}

void admission_free(struct communicator *c)
{
    for (size_t i = 0; i < c->n_open; i++)
        instance_free(c->open[i].instance);
    for (uint32_t q = 0; q <= c->first_group[c->schedule.n_dims]; q++)
        dim_queue_free(&c->queues[q]);
    free(c->open);
    free(c->queues);
    free(c->late);
    free(c->used_since);
    free(c->spans);
}

/* ---- collectives ---- */

// The slot of collective `number`, which has not ended, in the list of open collectives.
static struct open_slot *open_slot(struct communicator *c, size_t number)
{
    while (number >= c->first_open + c->n_open) {
        if (c->n_open == c->cap_open)
            c->open = memory_grow(c->open, &c->cap_open, sizeof *c->open);
        c->open[c->n_open++] = (struct open_slot){NULL, false};
    }
    return &c->open[number - c->first_open];
}

bool comm_requests_equal(const struct comm_request *a, const struct comm_request *b)
{
    return a->op == b->op && a->bytes == b->bytes && a->dims == b->dims && a->root == b->root &&
           a->inner == b->inner && a->uneven == b->uneven && a->priority == b->priority;
}

static char *request_text(const struct comm_request *request)
{
    const char *name = request->name;
    return text_format("%s of %llu bytes%s, root %u, priority %d%s%s%s", coll_op_name(request->op),
                       (unsigned long long)request->bytes,
                       request->uneven != NULL ? " and vectors of its own" : "", request->root,
                       (int)request->priority, name != NULL ? " (\"" : "", name != NULL ? name : "",
                       name != NULL ? "\")" : "");
}

// Members that issue different collectives would wait forever for each other's messages, so the run
// ends.
static void mismatch(const struct communicator *c, const struct instance *in, uint32_t member,
                     const struct comm_request *request)
{
    if (*c->job->failure != NULL)
        return;
    char *first = request_text(&in->request), *other = request_text(request);
    *c->job->failure = text_format(
        "collective %u of communicator %u of job %u is %s for rank %u, but %s for rank %u: "
        "members must issue the same collectives in the same order",
        in->number, c->index, c->job->job, first, comm_rank(c, in->opener), other,
        comm_rank(c, member));
    free(first);
    free(other);
    engine_stop(c->job->engine);
}

struct instance *admission_open(struct communicator *c, uint32_t number, uint32_t member,
                                const struct comm_request *request, ps_t now)
{
    struct open_slot *slot = open_slot(c, number);
    struct instance *in = slot->instance;
    if (in != NULL && comm_requests_equal(&in->request, request))
        return in;
    if (in != NULL) {
        mismatch(c, in, member, request);
        return NULL;
    }
    in = slot->instance = instance_new(&c->planner, request, now);
    int64_t order = c->schedule.newest_first ? number : -(int64_t)number;
    in->number = number;
    in->opener = member;
    // A given priority outweighs the order of the collectives.
    in->priority = request->priority != 0 ? request->priority * PRIORITY : order;
    if (in->n_phases > 0)
        recorder_open(c, in, request);
    return in;
}

void admission_close(struct communicator *c, struct instance *in)
{
    if (in->ranks_left > 0 || in->runs_open > 0)
        return;
    c->open[in->number - c->first_open] = (struct open_slot){NULL, true};
    instance_free(in);
    size_t gone = 0;
    // Slots are removed from the front only, so that a number leads to its slot without a search.
    while (gone < c->n_open && c->open[gone].ended)
        gone++;
    if (gone < c->n_open && gone < c->cap_open / 2)
        return; // moving the rest of the list is not worthwhile yet
    c->n_open -= gone;
    c->first_open += gone;
    for (size_t i = 0; i < c->n_open; i++)
        c->open[i] = c->open[i + gone];
}

/* ---- phases that enter and leave a dimension ---- */

struct dim_queue *admission_queue(const struct phase_run *run)
{
    return &run->comm->queues[run->comm->first_group[run->dim] + run->group];
}

void admission_next(struct communicator *c, struct dim_queue *queue, ps_t now)
{
    struct phase_run *run;
    while ((run = dim_queue_next(queue, c->schedule.active_chunks)) != NULL)
        scheduler_start(run, now);
}

// Returns true if the nodes of a group are in several shards of the simulation.
static bool group_spans(const struct communicator *c, uint32_t dim, uint32_t group)
{
    const struct shards *p = c->job->engine->shards;
    uint32_t first = comm_rank(c, coll_rank_of(&c->schedule, dim, group, 0));
    bool spans = false;
    for (uint32_t m = 1; m < coll_group_size(&c->schedule, dim); m++)
        spans |= shards_separate(p, first, comm_rank(c, coll_rank_of(&c->schedule, dim, group, m)));
    const struct coll_reduction *r =
        c->reductions ? c->reductions[c->first_group[dim] + group] : NULL;
    for (uint32_t a = 0; r && a < r->n_members - r->n_ranks; a++)
        spans |= shards_separate(p, first, r->places[a].endpoint);
    return spans;
}

bool admission_spans(struct communicator *c, const struct dim_queue *queue)
{
    if (c->job->engine->shards == NULL)
        return false;
    if (c->job->engine->shards->processes) // whatever tiles each of them has
        return true;
    if (c->spans == NULL) {
        uint32_t n_dims = c->schedule.n_dims;
        c->spans = memory_zeroed(c->first_group[n_dims] + 1, sizeof *c->spans);
        for (uint32_t d = 0; d <= n_dims; d++)
            for (uint32_t g = 0; g < coll_n_groups(&c->schedule, d); g++)
                c->spans[c->first_group[d] + g] = group_spans(c, d, g);
    }
    return c->spans[queue - c->queues];
}

bool admission_phases_left(const struct communicator *c, uint32_t dim, uint32_t group)
{
    for (size_t i = 0; i < c->n_open; i++) {
        const struct instance *in = c->open[i].instance;
        if (in && in->n_phases > 0 &&
            in->busy[c->first_group[dim] + group].begun < in->phases_of[dim])
            return true;
    }
    return false;
}

// A member has become ready at `now`.
static void on_ready(void *ctx, const void *note, ps_t now)
{
    struct communicator *c = ctx;
    struct phase_run *run = *(struct phase_run *const *)note;
    struct dim_queue *queue = admission_queue(run);
    run->ready_ps += now;
    if (++run->n_ready < run->n_members)
        return;
    // A dimension is in use from the first phase in its queue on.
    if (queue->n == 0)
        c->used_since[queue - c->queues] = now;
    dim_queue_insert(queue, c->schedule.queueing, run, run->instance->priority,
                     instance_phase(run->instance, run->chunk, run->index),
                     run->instance->n_phases - run->index - 1);
    admission_next(c, queue, now);
}

void admission_ready(struct phase_run *run, ps_t now)
{
    struct communicator *c = run->comm;
    if (!c->queued)
        return;
    if (admission_spans(c, admission_queue(run)))
        engine_defer(c->job->engine, on_ready, c, &run, sizeof run);
    else
        on_ready(c, &run, now);
}

static void note_use(struct communicator *c, uint32_t dim, const struct dim_queue *queue, ps_t now)
{
    if (c->use != NULL)
        dim_use_add(c->use, dim, c->used_since[queue - c->queues], now);
}

void admission_leave(struct phase_run *run, ps_t now)
{
    struct dim_queue *queue = admission_queue(run);
    dim_queue_remove(queue, run);
    if (queue->n == 0)
        note_use(run->comm, run->dim, queue, now);
}

void admission_use_flush(struct communicator *c, ps_t now)
{
    for (uint32_t d = 0; d <= c->schedule.n_dims; d++) {
        struct dim_queue *first = &c->queues[c->first_group[d]];
        for (struct dim_queue *queue = first; queue < first + coll_n_groups(&c->schedule, d);
             queue++)
            if (queue->n > 0) {
                note_use(c, d, queue, now);
                // From here on, so that the next call does not count the same time again.
                c->used_since[queue - c->queues] = now;
            }
    }
}
