// SPDX-License-Identifier: MIT
// Streams in the queues of their ranks, their messages and delays.
#include "collective/rank_streams.h"

#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/graph_collective.h"
#include "collective/algorithm/grid.h"
#include "collective/phase_admission.h"
#include "collective/rendezvous.h"
#include "collective/stream_internal.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/critical_path.h"

#define WAITS_BLOCK 256
#define TOKEN_GRAPH (UINT64_C(1) << 32) // of a message whose sender waits for its end

/* ---- memory ---- */

static struct rank_streams *streams_of(struct communicator *c)
{
    struct comm_job *job = c->job;
    if (job->streams == NULL) {
        job->streams = memory_zeroed(1, sizeof *job->streams);
        job->streams->job = job;
        job->streams->queues = c->schedule.streams.queues;
    }
    return job->streams;
}

static struct rank_state *rank_of(struct rank_streams *streams, uint32_t rank)
{
    if (rank >= streams->n_ranks) {
        uint32_t n = streams->n_ranks > rank / 2 ? 2 * streams->n_ranks : rank + 1;
        streams->ranks = memory_resize(streams->ranks, n, sizeof *streams->ranks);
        memset(streams->ranks + streams->n_ranks, 0,
               (n - streams->n_ranks) * sizeof *streams->ranks);
        streams->n_ranks = n;
    }
    struct rank_state *state = &streams->ranks[rank];
    if (state->queues == NULL)
        state->queues =
            memory_zeroed((size_t)COLL_MAX_DIMS * streams->queues, sizeof *state->queues);
    return state;
}

static void queues_free(const struct rank_streams *streams, struct rank_state *state)
{
    for (size_t q = 0; state->queues != NULL && q < (size_t)COLL_MAX_DIMS * streams->queues; q++)
        free(state->queues[q].waiting);
    free(state->queues);
}

void streams_free(struct comm_job *job)
{
    struct rank_streams *streams = job->streams;
    if (streams == NULL)
        return;
    for (uint32_t r = 0; r < streams->n_ranks; r++)
        queues_free(streams, &streams->ranks[r]);
    for (size_t b = 0; b < streams->n_blocks; b++) {
        for (size_t i = 0; i < WAITS_BLOCK; i++)
            sim_timer_end(job->engine, &streams->blocks[b][i].timer);
        free(streams->blocks[b]);
    }
    free(streams->blocks);
    free(streams->ranks);
    free(streams->messages);
    slots_free(&streams->numbers);
    free(streams);
    job->streams = NULL;
}

static struct stream_wait *wait_take(struct rank_streams *streams)
{
    struct stream_wait *wait = streams->free_waits;
    if (wait == NULL) {
        // Pending timers must not move, so entries are allocated in blocks that keep their place.
        struct stream_wait *block = memory_zeroed(WAITS_BLOCK, sizeof *block);
        streams->blocks =
            memory_resize(streams->blocks, streams->n_blocks + 1, sizeof(struct stream_wait *));
        streams->blocks[streams->n_blocks++] = block;
        for (uint32_t i = 0; i < WAITS_BLOCK; i++) {
            block[i].next_free = wait;
            wait = &block[i];
        }
    }
    streams->free_waits = wait->next_free;
    return wait;
}

/* ---- queues ---- */

static struct stream_queue *queue_of(const struct stream *s)
{
    struct rank_streams *streams = s->set->comm->job->streams;
    return &streams->ranks[stream_rank(s)].queues[stream_phase(s)->queue];
}

static struct phase_record *phase_record(const struct stream *s)
{
    struct collective_record *r = &s->set->comm->job->recorder->records[s->set->instance->record];
    const struct stream_phase *p = stream_phase(s);
    struct coll_phase phase = {p->dim, p->op, p->bytes};
    uint8_t i = record_phase(r, &phase, 0, p->choice->algorithm); // may move the phases
    return &r->phases[i];
}

static void run(struct stream *s, enum stream_event event, uint32_t node, ps_t now);

// Start streams of a queue while it has room.
static void queue_start(struct communicator *c, struct stream_queue *q, ps_t now)
{
    const struct coll_schedule *schedule = &c->schedule;
    uint64_t queues = schedule->streams.queues;
    // The chunks that may be active in a dimension are divided among its queues.
    uint64_t most = (schedule->active_chunks + queues - 1) / queues;
    while (q->running < most && q->n > 0) {
        struct stream *s = stream_queue_take(q);
        struct phase_record *record = phase_record(s);
        q->running++;
        record->waits++;
        record->queueing_ps += now - s->ready_ps;
        record->open++;
        if (record->start_ps > now)
            record->start_ps = now;
        stream_wait(s, STREAM_BEGIN, 0);
    }
}

static void queue_add(struct stream *s, ps_t now)
{
    s->ready_ps = now;
    stream_queue_add(queue_of(s), s);
}

/* ---- ends ---- */

static void set_end(struct stream_set *set, ps_t now)
{
    struct communicator *c = set->comm;
    struct instance *in = set->instance;
    uint32_t member = set->member;
    free(set);
    c->job->streams->rank_done(c, in, member, now);
}

static void stream_next(struct stream *s, ps_t now)
{
    struct communicator *c = s->set->comm;
    struct stream_queue *left = queue_of(s);
    struct phase_record *record = phase_record(s);
    record->open--;
    record->end_ps = record->end_ps == PS_NEVER || record->end_ps < now ? now : record->end_ps;
    left->running--;
    if (++s->at < s->n_phases) {
        queue_add(s, now);
        queue_start(c, left, now);
        queue_start(c, queue_of(s), now);
        return;
    }
    queue_start(c, left, now);
    struct stream_set *set = s->set;
    inbox_end(c, set->member, s->number);
    free(s);
    if (--set->streams_left == 0)
        set_end(set, now);
}

/* ---- events ---- */

static bool phase_ends(struct stream *s, enum stream_event event, uint32_t node, ps_t now)
{
    const struct stream_phase *phase = stream_phase(s);
    if (phase->graph != NULL)
        return event == STREAM_BEGIN ? stream_graph_begin(s, now)
                                     : stream_graph_ended(s, node, now);
    if (event == STREAM_BEGIN)
        stream_steps_begin(s);
    bool tree = strcmp(phase->choice->algorithm->name, "double_binary_tree") == 0;
    return tree ? stream_tree_run(s, event, now) : stream_steps_run(s, event, now);
}

static void run(struct stream *s, enum stream_event event, uint32_t node, ps_t now)
{
    if (phase_ends(s, event, node, now))
        stream_next(s, now);
}

static void on_wait(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct stream_wait *wait = timer->data;
    struct stream *s = wait->stream;
    struct comm_job *job = s->set->comm->job;
    struct path_book *book = job->path_book;
    uint32_t path = path_own(book, wait->path);
    path_extend(book, path, PATH_SCHEDULED, e->now_ps);
    uint32_t before = path_enter(book, path);
    enum stream_event event = wait->event;
    uint32_t node = wait->node;
    // The entry is given back before run(), which may take it again.
    sim_timer_end(e, timer);
    wait->next_free = job->streams->free_waits;
    job->streams->free_waits = wait;
    tally_add(job->delays, -1);
    run(s, event, node, e->now_ps);
    path_leave(book, before);
}

static void wait_start(struct stream *s, enum stream_event event, uint32_t node, ps_t delay_ps)
{
    struct comm_job *job = s->set->comm->job;
    struct stream_wait *wait = wait_take(job->streams);
    wait->stream = s;
    wait->event = event;
    wait->node = node;
    ps_t now = engine_current(job->engine)->now_ps;
    wait->path = path_take(job->path_book, now);
    tally_add(job->delays, 1);
    sim_timer_init_locked(job->engine, &wait->timer, stream_rank(s), on_wait, wait);
    sim_timer_start(job->engine, &wait->timer, now + delay_ps);
}

void stream_wait(struct stream *s, enum stream_event event, ps_t delay_ps)
{
    wait_start(s, event, STREAM_NO_NODE, delay_ps);
}

void stream_wait_node(struct stream *s, uint32_t node, ps_t delay_ps)
{
    wait_start(s, STREAM_NODE_ENDED, node, delay_ps);
}

// Returns the delay that noise of the rank's host adds before its present step.
static ps_t noise_ps(const struct stream *s)
{
    const struct comm_job *job = s->set->comm->job;
    if (job->noise.mean_ps == 0)
        return 0;
    uint64_t key = hash_mix((uint64_t)s->set->instance->number << 32 | (uint64_t)s->number);
    key = hash_mix(key + ((uint64_t)s->at << 32) + s->step.sent);
    return noise_draw_ps(&job->noise, job->seed, stream_rank(s), key);
}

// The memory is written once and read twice, each rounded down to nanoseconds.
ps_t stream_delay_ps(const struct stream *s, uint64_t bytes, bool adds)
{
    const struct coll_schedule *schedule = &s->set->comm->schedule;
    double memory = schedule->streams.memory_bytes;
    ps_t delay = schedule->endpoint_ps + noise_ps(s);
    if (adds && memory > 0)
        delay += 3 * (ps_t)((double)bytes / memory * 1e9) * PS_PER_NS;
    return delay;
}

/* ---- messages ---- */

// The member of the communicator at a position of the stream's group.
static uint32_t member_at(const struct stream *s, uint32_t position)
{
    const struct coll_schedule *schedule = &s->set->comm->schedule;
    uint32_t dim = stream_phase(s)->dim;
    return coll_rank_of(schedule, dim, coll_group_of(schedule, dim, s->set->member), position);
}

// Post a message; `tag`: of a send of a graph.
static void post(struct stream *s, struct stream_message message, uint32_t tag, ps_t now)
{
    struct communicator *c = s->set->comm;
    struct comm_job *job = c->job;
    const struct instance *in = s->set->instance;
    struct phase_record *record = phase_record(s);
    uint32_t at = slots_take(&job->streams->numbers, job->streams->messages);
    uint32_t src = comm_rank(c, message.src), dst = comm_rank(c, message.dst);
    uint64_t bytes = message.bytes;
    job->streams->messages[at] = message;
    record->bytes += bytes;
    record->messages++;
    job->recorder->records[in->record].dims[stream_phase(s)->dim].bytes += bytes;
    if (job->sent != NULL)
        job->sent(job->sent_ctx, src, in->request.label, bytes);
    struct transfer_request request = {
        .src = src,
        .dst = dst,
        .bytes = bytes,
        .job = job->job,
        .cls = job->cls,
        .transport = job->transport,
        .joined = true,
        .token = job->token | (message.graph != NULL ? TOKEN_GRAPH : 0) | at,
        .origin = {.op = coll_op_name(in->request.op),
                   .name = in->request.name,
                   .communicator = c->index,
                   .collective = in->number,
                   .chunk = (uint32_t)s->number,
                   .phase = s->at,
                   .step = message.graph != NULL ? message.node : s->step.sent},
    };
    struct rendezvous_key key = {
        .src = src, .dst = dst, .comm = c->index + 1, .tag = tag, .number = s->number};
    rendezvous_send(job, &key, &request, now);
}

void stream_send(struct stream *s, uint32_t peer, uint64_t bytes, ps_t now)
{
    struct stream_message message = {.comm = s->set->comm,
                                     .number = s->number,
                                     .bytes = bytes,
                                     .src = s->set->member,
                                     .dst = member_at(s, peer)};
    post(s, message, 0, now);
}

void stream_post(struct stream *s, uint32_t node, const struct coll_graph_node *send, ps_t now)
{
    struct stream_message message = {.comm = s->set->comm,
                                     .number = s->number,
                                     .bytes = send->bytes,
                                     .src = s->set->member,
                                     .dst = send->peer,
                                     .graph = stream_phase(s)->graph,
                                     .node = node,
                                     .key = send->key};
    post(s, message, send->tag, now);
}

void stream_ready(const struct stream *s, uint32_t src, uint32_t tag, ps_t now)
{
    const struct communicator *c = s->set->comm;
    struct rendezvous_key key = {.src = comm_rank(c, src),
                                 .dst = stream_rank(s),
                                 .comm = c->index + 1,
                                 .tag = tag,
                                 .number = s->number};
    rendezvous_receive(c->job, &key, now);
}

void stream_receive(struct stream *s, uint32_t peer, uint64_t bytes)
{
    struct inbox *box = inbox_of(s->set->comm, s->set->member, s->number);
    uint32_t src = member_at(s, peer);
    // The message has arrived before the stream expected it.
    if (inbox_expect(box, src, bytes))
        stream_wait(s, STREAM_RECEIVED, 0);
    stream_ready(s, src, 0, engine_current(s->set->comm->job->engine)->now_ps);
}

void streams_delivered(struct comm_job *job, uint64_t token, ps_t now)
{
    struct rank_streams *streams = job->streams;
    uint32_t at = (uint32_t)token;
    const struct stream_message m = streams->messages[at];
    struct inbox *box = inbox_of(m.comm, m.dst, m.number);
    if (m.graph != NULL) { // its number is free when it has been sent
        uint32_t node = stream_graph_arrived(box, m.graph, m.dst, m.key);
        if (node != STREAM_NO_NODE)
            run(box->stream, STREAM_NODE_ENDED, node, now);
        return;
    }
    slots_give(&streams->numbers, at);
    if (inbox_arrive(box, m.src, m.bytes))
        run(box->stream, STREAM_RECEIVED, STREAM_NO_NODE, now);
}

void streams_sent(struct comm_job *job, uint64_t token, ps_t now)
{
    struct rank_streams *streams = job->streams;
    uint32_t at = (uint32_t)token;
    if ((token & TOKEN_GRAPH) == 0)
        return;
    const struct stream_message m = streams->messages[at];
    slots_give(&streams->numbers, at);
    run(inbox_of(m.comm, m.src, m.number)->stream, STREAM_NODE_ENDED, m.node, now);
}

/* ---- the beginning ---- */

bool streams_issue(struct communicator *c, struct instance *in, uint32_t member, ps_t now,
                   stream_rank_done *rank_done)
{
    struct rank_streams *streams = streams_of(c);
    streams->rank_done = rank_done;
    uint32_t n;
    uint64_t bytes = stream_chunks(c, &in->request, &n);
    struct stream_set *set = memory_zeroed(1, sizeof *set);
    *set = (struct stream_set){c, in, member, 0};
    rank_of(streams, comm_rank(c, member));
    struct stream *first = NULL, **last = &first;
    for (uint32_t i = 0; i < n; i++) {
        struct stream *s = memory_zeroed(1, sizeof *s);
        s->set = set;
        s->priority = in->priority;
        stream_plan(s, streams, &in->request, bytes);
        if (s->n_phases == 0) {
            free(s);
            break;
        }
        *last = s;
        last = &s->next;
        set->streams_left++;
    }
    if (set->streams_left == 0) {
        free(set);
        return false;
    }
    for (struct stream *s = first, *next; s != NULL; s = next) {
        next = s->next;
        s->number = inboxes_of(c, member)->n_streams++;
        inbox_of(c, member, s->number)->stream = s;
        queue_add(s, now);
        queue_start(c, queue_of(s), now);
    }
    return true;
}
