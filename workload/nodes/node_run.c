// SPDX-License-Identifier: MIT
// Each rank has a window of its nodes; a node that starts becomes a step of the runner, whose id is
// the node's slot in the window.
#include "workload/nodes/node_run.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/nodes/node_volume.h"
#include "workload/workload.h"

// Nodes of all ranks together that are read ahead by default: some 250 MB of windows.
#define WINDOW_NODES (UINT64_C(3) << 19)
#define WINDOW_LEAST 64

uint32_t node_label(const struct node_program *p, const struct node *node)
{
    uint32_t part = node->kind == NODE_COMPUTE ? 0 : 1 + node->use;
    return 1 + node->layer * (p->n_uses + 1) + part;
}

uint32_t node_label_read(const struct node_program *p, uint32_t label, uint32_t *use)
{
    uint32_t part = (label - 1) % (p->n_uses + 1);
    *use = part == 0 ? p->n_uses : part - 1;
    return (label - 1) / (p->n_uses + 1);
}

/* ---- begin and end ---- */

// Bytes that a rank has sent for a collective; `label` is that of its node.
static void on_sent_bytes(void *ctx, uint32_t rank, uint32_t label, uint64_t bytes)
{
    struct node_run *p = ctx;
    uint32_t use;
    node_label_read(p->program, label, &use);
    p->account.ranks[p->job_ranks[rank]].sent_bytes[use] += bytes;
}

static uint32_t window_limit(const struct node_program *p)
{
    uint64_t nodes = p->window > 0 ? p->window : WINDOW_NODES / p->n_ranks;
    nodes = nodes < WINDOW_LEAST && p->window == 0 ? WINDOW_LEAST : nodes;
    return nodes < UINT32_MAX / 2 ? (uint32_t)nodes : UINT32_MAX / 2;
}

void *node_run_new(struct job_run *job)
{
    struct node_run *p = memory_zeroed(1, sizeof *p);
    p->job = job;
    p->program = job->spec->kind->nodes(job->spec);
    p->cursor = p->program->source->open(p->program->self);
    for (uint32_t g = 0; g < p->program->n_groups; g++)
        job_group_new(job, p->program->groups[g].ranks, &p->program->groups[g].schedule);
    p->windows = memory_zeroed(job->n_ranks, sizeof *p->windows);
    p->measured = memory_zeroed(job->n_ranks, sizeof *p->measured);
    p->job_ranks = memory_zeroed(job->workload->n_ranks, sizeof *p->job_ranks);
    for (uint32_t r = 0; r < job->n_ranks; r++) {
        window_init(&p->windows[r], p->cursor, p->program, r, window_limit(p->program), &p->names);
        p->job_ranks[job_rank(job->spec, r)] = r;
    }
    account_init(&p->account, p->program);
    for (uint32_t r = 0; r < job->n_ranks; r++)
        account_begin(&p->account, r, job_start_ps(job, r));
    if (p->program->tiers != NULL)
        job_tiers(job, p->program->tiers);
    job->comm.sent = on_sent_bytes;
    job->comm.sent_ctx = p;
    p->timeline.n_ranks = job->workload->timeline_ranks;
    return p;
}

void node_run_watch(struct node_run *p, uint32_t rank, size_t passes)
{
    p->clock = (struct pass_clock){rank, memory_zeroed(passes, sizeof(ps_t)), passes};
    for (size_t i = 0; i < passes; i++)
        p->clock.end_ps[i] = PS_NEVER;
}

static void run_free(void *self)
{
    struct node_run *p = self;
    free(p->clock.end_ps);
    for (uint32_t r = 0; r < p->job->n_ranks; r++) {
        window_free(&p->windows[r]);
        free(p->measured[r].items);
    }
    free(p->measured);
    p->program->source->close(p->cursor);
    account_free(&p->account);
    names_free(&p->names);
    free(p->timeline.slices);
    free(p->job_ranks);
    free(p->windows);
    free(p);
}

/* ---- steps ---- */

static bool computes(const struct node *node)
{
    return node->kind == NODE_COMPUTE && node->stream == NODE_COMPUTE_STREAM;
}

static bool communicates(const struct node *node)
{
    return node->kind >= NODE_SEND || node->counts_as_use;
}

static struct step step_of(struct node_run *p, uint32_t slot, const struct node *node)
{
    struct step step = {.id = slot,
                        .takes_ps = node->takes_ps,
                        .own_contention = node->own_contention,
                        .contention = node->contention,
                        .shared = node->shared,
                        .label = node_label(p->program, node),
                        .iteration = node->iteration,
                        .name = node->name,
                        .peer = node->peer,
                        .tag = node->tag,
                        .bytes = node->bytes,
                        .from = node->from,
                        .to = node->to,
                        .group = node->group,
                        .request = &p->request};
    if (node->order > 0) {
        step.numbered = true;
        step.number = node->order - 1;
    }
    switch ((enum node_kind)node->kind) {
    case NODE_COMPUTE:
        step.kind = STEP_COMPUTE;
        break;
    case NODE_SEND:
        step.kind = STEP_SEND;
        break;
    case NODE_RECV:
        step.kind = STEP_RECV;
        break;
    case NODE_COLLECTIVE:
        step.kind = STEP_COLLECTIVE;
        step.numbered = p->program->in_order;
        step.number = node->number;
        p->request =
            (struct comm_request){.op = node->op,
                                  .bytes = node->bytes,
                                  .dims = node->dims,
                                  .root = node->root,
                                  .inner = p->program->groups[node->group].inner,
                                  .uneven = node->uneven,
                                  .priority = node->priority,
                                  .label = step.label,
                                  .name = node->name != NULL ? node->name : p->job->spec->name};
        break;
    case NODE_COPY:
        step.kind = STEP_COPY;
        break;
    case NODE_WAIT:
    case NODE_EMPTY:
        step.kind = STEP_DELAY;
        break;
    }
    return step;
}

// The source could not be read to its end.
static void fail(struct node_run *p, struct err *err)
{
    struct workload *w = p->job->workload;
    if (w->failure == NULL)
        w->failure = text_format("job %s: %s", p->job->spec->name,
                                 err->n_items > 0 ? err->items[0].text : "its nodes end early");
    err_free(err);
    engine_stop(w->engine);
}

/* ---- the account, in the order of events ---- */

struct account_note {
    uint32_t rank, layer;
    uint64_t node; // that ended last
    ps_t takes_ps;
};

static void on_compute(void *ctx, const void *note, ps_t now)
{
    const struct account_note *n = note;
    account_compute(ctx, n->rank, n->node, now);
}

static void on_computed(void *ctx, const void *note, ps_t now)
{
    const struct account_note *n = note;
    account_computed(ctx, n->rank, n->layer, n->takes_ps, now);
}

static void on_finish(void *ctx, const void *note, ps_t now)
{
    const struct account_note *n = note;
    account_finish(ctx, n->rank, n->node, now);
}

struct ended_note {
    uint32_t rank;
    struct ended_node node; // without its peers
};

static void on_ended(void *ctx, const void *note, ps_t now)
{
    struct node_run *p = ctx;
    const struct ended_note *n = note;
    struct ended_node node = n->node;
    (void)now;
    node.peers_ps = p->job->peers.ready_ps;
    node.late_rank = p->job->peers.rank;
    account_ended(&p->account, n->rank, &node);
}

static void account_later(struct node_run *p, engine_deferred what, struct account_note note)
{
    engine_defer(p->job->workload->engine, what, &p->account, &note, sizeof note);
}

static enum program_state run_next(void *self, uint32_t rank, ps_t now, struct step *step)
{
    struct node_run *p = self;
    struct node_window *w = &p->windows[rank];
    struct err err = {0};
    for (;;) {
        if (window_fill(w, &err) != 0) {
            fail(p, &err);
            return PROGRAM_WAIT;
        }
        uint32_t slot = window_start(w, now);
        if (slot == 0)
            break;
        const struct window_node *n = window_at(w, slot);
        if (n->node.kind == NODE_EMPTY) {
            window_end(w, slot, now);
            continue;
        }
        if (computes(&n->node))
            account_later(p, on_compute, (struct account_note){.rank = rank, .node = n->cause});
        if (n->node.kind == NODE_SEND || n->node.kind == NODE_COPY || n->node.counts_as_use)
            p->account.ranks[rank].sent_bytes[n->node.use] += n->node.bytes;
        *step = step_of(p, slot, &n->node);
        return PROGRAM_STEP;
    }
    if (!w->source_ended || w->n_held > 0)
        return PROGRAM_WAIT;
    account_later(p, on_finish, (struct account_note){.rank = rank, .node = w->last_id});
    return PROGRAM_END;
}

// A receive waits from its beginning, but before its peers have posted nothing is sent to it.
static void note_received(void *ctx, const void *note, ps_t now)
{
    struct node_run *p = ctx;
    struct timeline_slice slice = *(const struct timeline_slice *)note;
    ps_t posted = p->job->peers.ready_ps;
    (void)now;
    slice.begin_ps = posted > slice.begin_ps ? posted : slice.begin_ps;
    timeline_keep(&p->timeline, &slice);
}

static void note(struct node_run *p, uint32_t rank, const struct window_node *n, ps_t now)
{
    const struct node *node = &n->node;
    struct engine *engine = p->job->workload->engine;
    if (!timeline_wants(&p->timeline, rank))
        return;
    bool communicating = communicates(node);
    struct timeline_slice slice = {
        .begin_ps = n->start_ps,
        .end_ps = now,
        .layer = node->name,
        .rank = rank,
        .kind = (uint8_t)(communicating ? SLICE_COMMUNICATION : SLICE_COMPUTE),
        .part = (uint8_t)(node->use < UINT8_MAX ? node->use : UINT8_MAX),
        .dim = (uint8_t)node->stream};
    if (node->kind == NODE_RECV)
        engine_defer(engine, note_received, p, &slice, sizeof slice);
    else
        timeline_add(engine, &p->timeline, &slice);
}

// Only the events of the watched rank write here.
static void note_pass(struct node_run *p, uint32_t rank, const struct node *node, ps_t now)
{
    if (rank == p->clock.rank && node->iteration == 1 && node->pass > 0 &&
        node->pass <= p->clock.n_passes)
        p->clock.end_ps[node->pass - 1] = now;
}

// Only the rank's own events write here.
static void note_measured(struct node_run *p, uint32_t rank, const struct window_node *n, ps_t now)
{
    struct measured_calls *calls = &p->measured[rank];
    if (n->node.measured_ps == 0)
        return;
    if (calls->n == calls->cap)
        calls->items = memory_grow(calls->items, &calls->cap, sizeof *calls->items);
    calls->items[calls->n++] = (struct measured_call){.group = n->node.group,
                                                      .number = n->node.number,
                                                      .op = n->node.op,
                                                      .bytes = n->node.bytes,
                                                      .measured_ps = n->node.measured_ps,
                                                      .begin_ps = n->start_ps,
                                                      .end_ps = now};
}

static void run_done(void *self, uint32_t rank, uint32_t id, ps_t now)
{
    struct node_run *p = self;
    struct node_window *w = &p->windows[rank];
    const struct window_node *n = window_at(w, id);
    note(p, rank, n, now);
    note_measured(p, rank, n, now);
    if (computes(&n->node)) {
        note_pass(p, rank, &n->node, now);
        account_later(p, on_computed,
                      (struct account_note){
                          .rank = rank, .layer = n->node.layer, .takes_ps = now - n->start_ps});
    } else {
        struct ended_note ended = {.rank = rank};
        ended.node = (struct ended_node){.id = n->node.id,
                                         .cause = n->cause,
                                         .start_ps = n->start_ps,
                                         .end_ps = now,
                                         .layer = n->node.layer,
                                         .use = n->node.use,
                                         .communicates = communicates(&n->node)};
        engine_defer(p->job->workload->engine, on_ended, p, &ended, sizeof ended);
    }
    window_end(w, id, now);
}

static bool run_read_on(void *self, uint32_t rank)
{
    struct node_run *p = self;
    struct node_window *w = &p->windows[rank];
    if (w->source_ended)
        return false;
    w->limit = w->limit < UINT32_MAX / 4 ? 2 * w->limit + 1 : w->limit;
    return true;
}

/* ---- operations that a rank waits for ---- */

static char *node_text(const struct node_run *p, const struct node *node)
{
    switch ((enum node_kind)node->kind) {
    case NODE_SEND:
        return text_format("its message to rank %u with tag %u to be acknowledged", node->peer,
                           node->tag);
    case NODE_RECV:
        return text_format("a message from rank %u with tag %u", node->peer, node->tag);
    case NODE_COPY:
        return text_format("its copy from tier %s to %s", p->program->tiers->items[node->from].name,
                           p->program->tiers->items[node->to].name);
    case NODE_COLLECTIVE:
        return text_format("%s of group %s", coll_op_name(node->op),
                           p->program->groups[node->group].name);
    default:
        return memory_text("the end of a computation");
    }
}

static char *named(const struct node *node)
{
    return node->name != NULL
               ? text_format("node %llu (%s)", (unsigned long long)node->id, node->name)
               : text_format("node %llu", (unsigned long long)node->id);
}

// The slot of the node in `state` with the smallest id, or 0.
static uint32_t first_in(const struct node_window *w, unsigned state)
{
    uint32_t first = 0;
    for (uint32_t slot = 1; slot <= w->n_nodes; slot++) {
        const struct window_node *n = window_at(w, slot);
        if (n->state == state && (first == 0 || n->node.id < window_at(w, first)->node.id))
            first = slot;
    }
    return first;
}

static char *run_waits(const void *self, uint32_t rank)
{
    const struct node_run *p = self;
    const struct node_window *w = &p->windows[rank];
    uint32_t running = first_in(w, WINDOW_RUNNING), waiting = first_in(w, WINDOW_WAITING);
    if (running == 0 && waiting == 0)
        return NULL;
    char *name = named(&window_at(w, running > 0 ? running : waiting)->node), *text;
    if (running > 0) {
        char *what = node_text(p, &window_at(w, running)->node);
        text =
            text_format("job %s: rank %u waits in %s for %s", p->job->spec->name, rank, name, what);
        free(what);
    } else {
        char *before = named(window_awaited(w, waiting));
        text = text_format("job %s: rank %u never begins %s: it is after %s, which has not ended",
                           p->job->spec->name, rank, name, before);
        free(before);
    }
    free(name);
    return text;
}

const struct program_ops node_run_ops = {
    .next = run_next,
    .done = run_done,
    .read_on = run_read_on,
    .bytes = node_run_bytes,
    .sample = node_run_sample,
    .waits = run_waits,
    .free = run_free,
};
