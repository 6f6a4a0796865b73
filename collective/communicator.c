// SPDX-License-Identifier: MIT
// Communicators: construction, aggregators of the network, and quantities known before the run.
#include "collective/communicator.h"

#include <stdlib.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/reduction.h"
#include "collective/executor_use.h"
#include "collective/phase_admission.h"
#include "collective/rank_streams.h"
#include "collective/rendezvous.h"
#include "engine/base/memory.h"

// Measure the bandwidths of dimensions, which Themis uses: from the first member to its neighbour.
static void measure_dims(struct communicator *c)
{
    const struct comm_job *job = c->job;
    for (uint32_t d = 0; d < c->schedule.n_dims; d++) {
        uint32_t a = comm_rank(c, coll_rank_of(&c->schedule, d, 0, 0));
        bool alone = c->schedule.dim_size[d] == 1;
        uint32_t b = alone ? a : comm_rank(c, coll_rank_of(&c->schedule, d, 0, 1));
        c->schedule.dim_bandwidth[d] = alone ? 1 : job->bandwidth(job->bandwidth_ctx, a, b);
    }
}

/* ---- reductions in the network ---- */

static bool runs_along(const struct coll_schedule *s, uint32_t op, uint32_t dim)
{
    const struct coll_algorithm *a = s->choice[op][dim].algorithm;
    return a && a->fallback && s->flat[op] == (dim == s->n_dims);
}

// Collect the settings of the operations that are to be reduced in a dimension; returns false if
// there are none.
static bool wants_reduction(const struct coll_schedule *s, uint32_t dim,
                            struct comm_reduce_request *request)
{
    bool any = false;
    for (uint32_t op = 0; op < COLL_OPS; op++) {
        const struct coll_in_network_params *p =
            (const struct coll_in_network_params *)(const void *)s->choice[op][dim].params;
        if (!runs_along(s, op, dim))
            continue;
        // The buffers of the aggregators must hold the largest segment of all operations.
        if (!any || p->segment_bytes > request->segment_bytes)
            request->segment_bytes = p->segment_bytes;
        request->trees = any ? request->trees : p->trees;
        any = true;
    }
    return any && coll_group_size(s, dim) > 1;
}

static bool reserve_group(struct communicator *c, uint32_t dim, uint32_t group, uint32_t at,
                          struct comm_reduce_request *request)
{
    uint32_t *ranks = memory_zeroed(request->n, sizeof *ranks);
    for (uint32_t m = 0; m < request->n; m++)
        ranks[m] = comm_rank(c, coll_rank_of(&c->schedule, dim, group, m));
    request->ranks = ranks;
    const struct coll_reduction *r =
        c->job->reduce ? c->job->reduce(c->job->bandwidth_ctx, request) : NULL;
    free(ranks);
    if (!r)
        return false;
    uint32_t extra = r->n_members - r->n_ranks;
    c->reductions[at] = r;
    c->extra[dim] = extra > c->extra[dim] ? extra : c->extra[dim];
    return true;
}

static void use_fallback(struct coll_schedule *s, uint32_t dim)
{
    for (uint32_t op = 0; op < COLL_OPS; op++)
        if (runs_along(s, op, dim))
            s->choice[op][dim] = coll_choice_of(coll_find(s->choice[op][dim].algorithm->fallback));
}

// Reserve aggregators for the dimensions whose algorithm needs them. Phases without room in the
// reserved buffers wait in the queue of the dimension.
static void reserve_reductions(struct communicator *c)
{
    struct coll_schedule *s = &c->schedule;
    uint32_t at = 0, groups = 0;
    bool any = false;
    for (uint32_t d = 0; d <= s->n_dims; d++)
        groups += coll_n_groups(s, d);
    for (uint32_t d = 0; d <= s->n_dims; at += coll_n_groups(s, d++)) {
        struct comm_reduce_request request = {.job = c->job->job,
                                              .n = coll_group_size(s, d),
                                              .phases = s->active_chunks > 0 ? s->active_chunks
                                                                             : s->chunks};
        if (!wants_reduction(s, d, &request))
            continue;
        if (!c->reductions)
            c->reductions = memory_zeroed(groups, sizeof(struct coll_reduction *));
        bool reserved = true;
        for (uint32_t g = 0; g < coll_n_groups(s, d) && reserved; g++)
            reserved = reserve_group(c, d, g, at + g, &request);
        // All groups of a dimension use one algorithm, so a single group without aggregators is
        // enough to replace it.
        if (!reserved)
            use_fallback(s, d);
        for (uint32_t g = 0; g < coll_n_groups(s, d) && !reserved; g++)
            c->reductions[at + g] = NULL;
        any |= reserved;
    }
    s->reductions = c->reductions;
    // Buffers are reserved for as many phases at a time, so no more of them may run.
    if (any && s->active_chunks == 0)
        s->active_chunks = s->chunks;
}

// The least number of ranks whose servers contain those of both numbers; 0 = no servers yet.
static uint32_t joint_servers(uint32_t a, uint32_t b)
{
    return a == 0 || b == 0 ? a + b : (uint32_t)(a / common_divisor(a, b) * b);
}

struct communicator *comm_new(struct comm_job *job, const uint32_t *ranks,
                              const struct coll_schedule *schedule, comm_done *done, void *ctx)
{
    struct communicator *c = memory_zeroed(1, sizeof *c);
    c->job = job;
    c->ranks = ranks;
    c->schedule = *schedule;
    c->done = done;
    c->ctx = ctx;
    c->index = job->n_communicators++;
    c->n_ranks = coll_ranks(schedule);
    reserve_reductions(c);
    c->queued =
        !comm_by_library(&c->schedule) &&
        (c->schedule.active_chunks > 0 || (job->transfer->phase != NULL && !c->schedule.stepwise));
    c->timed = c->queued || schedule->endpoint_ps > 0 || schedule->reduce_bps > 0 ||
               job->noise.mean_ps > 0;
    bool mpi = comm_by_library(schedule) && schedule->library->mpi != NULL;
    if (job->takes_order != NULL && (schedule->order == COLL_THEMIS || mpi))
        *job->takes_order = true;
    if (job->server_ranks != NULL && comm_by_library(schedule))
        *job->server_ranks = joint_servers(*job->server_ranks, schedule->library->gpus);
    if (job->queued != NULL && c->queued) {
        c->next_queued = *job->queued;
        *job->queued = c;
    }
    c->issued = memory_zeroed(c->n_ranks, sizeof *c->issued);
    if (schedule->order == COLL_THEMIS)
        measure_dims(c);
    admission_init(c);
    return c;
}

void comm_free(struct communicator *c)
{
    if (c == NULL)
        return;
    inboxes_free(c);
    executor_use_free(c);
    admission_free(c);
    phase_runs_free(c);
    free(c->issued);
    free(c->reductions);
    free(c);
}

void comm_job_free(struct comm_job *job)
{
    streams_free(job);
    rendezvous_free(job->rendezvous);
    executor_free(job->library);
    walk_tables_free(job);
}

void comm_watch(struct communicator *c, struct timeline *timeline, struct dim_use *use)
{
    c->timeline = timeline;
    c->use = use;
}

enum coll_op comm_ending_op(const struct communicator *c) { return c->ending_op; }

const struct comm_ending *comm_ending(const struct communicator *c) { return &c->ending; }

bool comm_offloaded(const struct communicator *c, enum coll_op op)
{
    return c->schedule.choice[op][0].algorithm->offloaded;
}

void comm_use_flush(struct communicator *c, ps_t now) { admission_use_flush(c, now); }

uint64_t comm_bytes(struct communicator *c, const struct comm_request *request)
{
    struct coll_planner planner;
    struct volume kept[VOLUMES_KEPT] = {{.bytes = 0}};
    uint64_t sum = 0;
    if (comm_by_library(&c->schedule) && c->n_ranks > 1)
        return executor_use_bytes(c, request);
    coll_planner_init(&planner, &c->schedule);
    struct instance *in = instance_new(&planner, request, 0);
    for (uint32_t chunk = 0; chunk < in->n_chunks; chunk++)
        for (uint32_t i = 0; i < in->n_phases; i++) {
            const struct coll_phase *phase = instance_phase(in, chunk, i);
            for (uint32_t g = 0; g < coll_n_groups(&c->schedule, phase->dim); g++) {
                struct coll_shape shape = instance_shape(&c->schedule, in, chunk, i, g);
                sum += volume_of(coll_choice_at(&c->schedule, request->op, phase)->algorithm, phase,
                                 &shape, kept);
            }
        }
    instance_free(in);
    return sum;
}
