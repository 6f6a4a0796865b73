// SPDX-License-Identifier: MIT
#include "collective/executor_use.h"

#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "collective/phase_admission.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define BARRIER_BYTES 4 // a barrier is an all-reduce of one value

/* ---- requests ---- */

static enum nccl_function function_of(enum coll_op op)
{
    switch (op) {
    case COLL_REDUCE_SCATTER:
        return NCCL_REDUCE_SCATTER;
    case COLL_ALL_GATHER:
        return NCCL_ALL_GATHER;
    case COLL_BROADCAST:
        return NCCL_BROADCAST;
    case COLL_REDUCE:
        return NCCL_REDUCE;
    default:
        return NCCL_ALL_REDUCE;
    }
}

static struct executor_request request_of(const struct comm_request *r, uint64_t bytes,
                                          uint32_t number)
{
    struct executor_request request = {.function = function_of(r->op),
                                       .bytes = r->op == COLL_BARRIER ? BARRIER_BYTES : bytes,
                                       .root = r->root,
                                       .step = number,
                                       .op = coll_op_name(r->op),
                                       .name = r->name};
    request.barrier = r->op == COLL_BARRIER;
    request.exchanges = true;
    if (r->op == COLL_ALL_TO_ALL)
        request.exchange = EXECUTOR_ALL_TO_ALL;
    else if (r->op == COLL_GATHER)
        request.exchange = EXECUTOR_GATHER;
    else if (r->op == COLL_SCATTER)
        request.exchange = EXECUTOR_SCATTER;
    else if (r->op == COLL_SEND_RECV)
        request.exchange = EXECUTOR_SHIFT;
    else
        request.exchanges = false;
    return request;
}

/* ---- callbacks of the library ---- */

static struct run_place place_of(struct instance *in)
{
    // A library runs a collective as one phase, whatever the dimensions.
    return (struct run_place){.in = in, .dim = in->phases[0].dim};
}

static struct phase_record *phase_of(struct instance *in)
{
    struct run_place place = place_of(in);
    return phase_record_at(in->comm, &place);
}

static void on_ended(void *ctx, void *run_ctx, uint32_t member, ps_t now)
{
    struct instance *in = run_ctx;
    struct communicator *c = in->comm;
    struct run_place place = place_of(in);
    (void)ctx;
    in->chunks_left[member] = 0;
    scheduler_rank_done(c, in, member, now);
    scheduler_member_ends(c, &place, c->n_ranks);
}

static void on_posted(void *ctx, void *run_ctx, uint32_t rank, uint64_t bytes, ps_t now)
{
    const struct comm_job *job = ctx;
    struct instance *in = run_ctx;
    struct phase_record *record = phase_of(in);
    record->bytes += bytes;
    record->messages++;
    // The time of a message is its arrival less its post; each is added when it happens.
    record->network_ps -= now;
    record->on_the_way++;
    job->recorder->records[in->record].dims[in->phases[0].dim].bytes += bytes;
    if (job->sent != NULL)
        job->sent(job->sent_ctx, rank, in->request.label, bytes);
}

static void on_arrived(void *ctx, void *run_ctx, ps_t now)
{
    struct phase_record *record = phase_of(run_ctx);
    (void)ctx;
    record->network_ps += now;
    record->on_the_way--;
}

static void on_used(void *ctx, void *run_ctx, uint32_t member, uint32_t channel, ps_t since_ps,
                    ps_t now)
{
    const struct instance *in = run_ctx;
    const struct communicator *c = in->comm;
    (void)ctx;
    if (!timeline_wants(c->timeline, member))
        return;
    struct timeline_slice slice = {.begin_ps = since_ps,
                                   .end_ps = now,
                                   .layer = in->request.name,
                                   .rank = member,
                                   .kind = SLICE_PHASE,
                                   .dim = in->phases[0].dim,
                                   .op = in->phases[0].op,
                                   .chunk = channel};
    timeline_add(c->job->engine, c->timeline, &slice);
}

/* ---- life ---- */

static struct executor *executor_of(struct comm_job *job)
{
    if (job->library == NULL) {
        struct executor_env env = {.engine = job->engine,
                                   .cores = job->cores,
                                   .mpi = &executor_mpi,
                                   .path_book = job->path_book,
                                   .transfer = job->transfer,
                                   .job = job->job,
                                   .cls = job->cls,
                                   .transport = job->transport,
                                   .token = job->token,
                                   .messages = job->messages,
                                   .delays = job->delays,
                                   .noise = job->noise,
                                   .seed = job->seed,
                                   .ctx = job,
                                   .ended = on_ended,
                                   .posted = on_posted,
                                   .arrived = on_arrived,
                                   .used = on_used};
        job->library = executor_new(&env);
    }
    return job->library;
}

static void fail(const struct communicator *c, const char *why)
{
    if (*c->job->failure == NULL)
        *c->job->failure = text_format("job %u: library: %s", c->job->job, why);
    engine_stop(c->job->engine);
}

/* ---- groups ---- */

// A collective over `dims` divides the ranks into groups that agree in all other dimensions: the
// group of a rank, and its place in the group.
struct place_in_group {
    uint32_t group, member;
};

static struct place_in_group place_in(const struct coll_schedule *s, uint32_t dims, uint32_t rank)
{
    struct place_in_group p = {0, 0};
    uint32_t groups = 1, members = 1;
    for (uint32_t d = 0; d < s->n_dims; rank /= s->dim_size[d++]) {
        uint32_t at = rank % s->dim_size[d];
        if (dims >> d & 1) {
            p.member += at * members;
            members *= s->dim_size[d];
        } else {
            p.group += at * groups;
            groups *= s->dim_size[d];
        }
    }
    return p;
}

static uint32_t groups_of(const struct communicator *c, uint32_t dims)
{
    return c->n_ranks / coll_span(&c->schedule, dims);
}

static struct executor_group *make_group(struct communicator *c, const uint32_t *ranks, uint32_t n,
                                         uint32_t index)
{
    char error[200] = "";
    struct executor_group *g = executor_group_new(executor_of(c->job), c->schedule.library, ranks,
                                                  n, index, error, sizeof error);
    if (g == NULL)
        fail(c, error);
    return g;
}

// The groups of a bit set of dimensions; some may be NULL after a failure.
static struct executor_group **groups_along(struct communicator *c, uint32_t dims)
{
    dims &= (UINT32_C(1) << c->schedule.n_dims) - 1;
    if (c->libraries == NULL)
        c->libraries =
            memory_zeroed((size_t)1 << c->schedule.n_dims, sizeof(struct executor_group **));
    if (c->libraries[dims] != NULL)
        return c->libraries[dims];
    uint32_t n = groups_of(c, dims), size = coll_span(&c->schedule, dims),
             index = c->index << c->schedule.n_dims | dims;
    struct executor_group **groups = memory_zeroed(n, sizeof(struct executor_group *));
    uint32_t *ranks = memory_zeroed(c->n_ranks, sizeof *ranks); // group by group
    for (uint32_t r = 0; r < c->n_ranks; r++) {
        struct place_in_group p = place_in(&c->schedule, dims, r);
        ranks[(size_t)p.group * size + p.member] = comm_rank(c, r);
    }
    for (uint32_t g = 0; g < n; g++)
        groups[g] = make_group(c, &ranks[(size_t)g * size], size, index);
    free(ranks);
    return c->libraries[dims] = groups;
}

void executor_use_free(struct communicator *c)
{
    for (uint32_t dims = 0; c->libraries != NULL && dims < UINT32_C(1) << c->schedule.n_dims;
         dims++) {
        for (uint32_t g = 0; c->libraries[dims] != NULL && g < groups_of(c, dims); g++)
            executor_group_free(c->libraries[dims][g]);
        free(c->libraries[dims]);
    }
    free(c->libraries);
}

/* ---- collectives ---- */

static struct executor_run *begin_run(struct communicator *c, struct instance *in, uint32_t group)
{
    struct executor_request request = request_of(&in->request, in->bytes, in->number);
    struct executor_group *g = groups_along(c, in->request.dims)[group];
    if (g == NULL)
        return NULL;
    struct executor_run *run = executor_run_new(g, &request, in);
    if (run == NULL)
        fail(c, "no algorithm and protocol that the settings allow is possible");
    else
        // The record shows what the library has chosen, which is known only now.
        recorder_library(c, in, run);
    return run;
}

void executor_use_issue(struct communicator *c, struct instance *in, uint32_t member, ps_t now)
{
    struct path_book *book = c->job->path_book;
    struct run_place place = place_of(in);
    struct place_in_group p = place_in(&c->schedule, in->request.dims, member);
    if (in->libraries == NULL) {
        in->runs_open++; // until its members have ended
        in->comm = c;
        in->libraries =
            memory_zeroed(groups_of(c, in->request.dims), sizeof(struct executor_run *));
    }
    // The first member that begins makes the run of its group; the choice of the library is the
    // same for all members.
    if (in->libraries[p.group] == NULL)
        in->libraries[p.group] = begin_run(c, in, p.group);
    // begin_run() has reported the failure and stopped the engine.
    if (in->libraries[p.group] == NULL)
        return; // the run is over
    scheduler_member_begins(c, &place);
    path_stage_current(book, PHASE_STAGE(in->record_phase[0]), now);
    executor_begin(in->libraries[p.group], p.member, member, now);
}

uint64_t executor_use_bytes(struct communicator *c, const struct comm_request *request)
{
    struct executor_request r = request_of(request, request->bytes, 0);
    struct executor_group **groups = groups_along(c, request->dims);
    // The groups have equal sizes, so the bytes of the first hold for all.
    return groups[0] != NULL ? executor_bytes(groups[0], &r) * groups_of(c, request->dims) : 0;
}
