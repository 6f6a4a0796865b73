// SPDX-License-Identifier: MIT
// A block goes through its primitives. One begins when its messages have come (of LL and LL128
// inside a server, their first lines), when its receivers have room, and when another block of the
// rank has done what it depends on; after the time of the copy, and when it has copied the last
// lines that came, it frees the steps of the buffers that it has read, and sends.
#include "collective/executor/executor_internal.h"

// What a block does next: a primitive, which can begin when another block of the rank has ended
// `length` of its own.
struct task {
    struct nccl_primitive p;
    struct block *after; // NULL = none
    uint64_t length;
    bool idle; // moves nothing: waits, or computes for `takes_ps`
    ps_t takes_ps;
    bool joined; // follows the primitive before without waiting for the threads
};

static struct task file_task(const struct block *b)
{
    struct executor_run *run = b->run;
    uint32_t rank = b->plan.rank, first = run->members[rank].first_block;
    struct xml_primitive p = xml_primitive(&run->xml, (uint32_t)(b - run->blocks), b->at);
    return (struct task){.p = p.primitive,
                         .after = p.after != XML_NONE ? &run->blocks[first + p.after] : NULL,
                         .length = p.after_length,
                         .idle = p.idle,
                         .takes_ps = p.takes_ps,
                         .joined = p.joined};
}

static struct task exchange_task(const struct block *b)
{
    uint64_t left = b->bytes - b->at * b->chunk_bytes;
    return (struct task){.p = {.receives = b->plan.n_from,
                               .sends = b->plan.n_to,
                               .bytes = left < b->chunk_bytes ? left : b->chunk_bytes,
                               .slots = 1,
                               .step = (uint32_t)b->at}};
}

// The task at `b->at`, below the block's length.
static struct task task_of(struct block *b)
{
    if (b->run->source == RUN_XML)
        return file_task(b);
    if (b->run->source == RUN_EXCHANGES)
        return exchange_task(b);
    return (struct task){.p = nccl_primitive(&b->run->operation, &b->plan, b->at),
                         .after = b->plan.after ? b - 1 : NULL,
                         .length = b->at + 1};
}

// Wait at the end of the list of the block that has to do something before.
static void wait_for(struct block *b, struct block *after, uint64_t length)
{
    struct block **end = &after->waiting;
    if (b->waits)
        return;
    while (*end != NULL)
        end = &(*end)->next_waiting;
    b->waits = true;
    b->awaited = length;
    b->next_waiting = NULL;
    *end = b;
}

static bool has_room(const struct block *b, const struct nccl_primitive *p)
{
    for (uint32_t i = 0; i < b->plan.n_to; i++)
        if (p->sends >> i & 1 && !connection_has_room(b->to[i]))
            return false;
    return true;
}

// Returns when the task can begin: PS_NEVER = something must happen before.
static ps_t ready_ps(struct block *b, const struct task *t)
{
    const struct nccl_primitive *p = &t->p;
    ps_t ready = 0;
    if (t->after != NULL && t->after->at < t->length) {
        wait_for(b, t->after, t->length);
        return PS_NEVER;
    }
    for (uint32_t i = 0; i < b->plan.n_from; i++)
        if (p->receives >> i & 1)
            ready = ps_longer(ready, connection_first_ps(b->from[i]));
    // The connection wakes the block when it has room again.
    return has_room(b, p) ? ready : PS_NEVER;
}

// The rate at which the switch reduces or spreads a head's part: what the search finds for all
// heads of one server (among several it takes no more than the NICs carry), less what NCCL 2.30
// counts as lost (tuning.cc, nvlsEfficiency), in equal shares of the heads that have data. An
// operation of few bytes leaves heads without any.
static uint64_t local_bps(const struct block *b)
{
    static const double efficiency[NCCL_GPUS] = {1, 1, 0.85, 0.74};
    const struct nccl_operation *o = &b->run->operation;
    const struct nccl_layout *l = &b->run->group->comm->layout;
    uint64_t parts = (nccl_operation_bytes(o, 0) + o->first.chunk_bytes - 1) / o->first.chunk_bytes,
             heads = nccl_layout_nvls_heads(l), active = parts < heads ? parts : heads;
    double all = l->cluster.nvlinks * 8e9 * efficiency[l->cluster.gpu];
    return (uint64_t)all / active / o->choice.split.channels;
}

static bool is_of_tree(const struct block *b)
{
    return run_is_by(b->run, NCCL_TREE) &&
           (b->plan.role == NCCL_ROLE_UP || b->plan.role == NCCL_ROLE_DOWN);
}

// The rate at which the block copies. A rate of the table is that of a primitive of a ring, which
// loads what comes and what is there, and stores. In the middle of a tree, one part of a channel's
// threads does such primitives up and another one down (device/all_reduce.h, runTreeSplit); the way
// up loads more and has more threads, so both have half the rate. At the end of a tree one way only
// sends and the other one only receives: together they load and store as much as one of a ring. The
// root uses all threads for both ways. Trees have 640 threads under every protocol, rings at most
// 512 under LL and Simple (graph/tuning.cc); RCCL has 256 for both.
static uint64_t copy_bps(const struct block *b)
{
    static const uint64_t tree_threads = 640, ring_threads[NCCL_PROTOCOLS] = {512, 640, 512};
    const struct executor_spec *spec = run_spec(b->run);
    uint64_t bps = spec->cost.block_bps[b->run->protocol];
    if (!is_of_tree(b) || b->plan.n_from == 0 || b->plan.n_to == 0)
        return bps;
    return spec->settings.rccl ? bps / 2 : bps * tree_threads / ring_threads[b->run->protocol] / 2;
}

// Under LL each thread takes 8 bytes of data, then those that are further by as many threads as the
// block has (prims_ll.h), and a round takes its time however few of them have data. Measurements of
// ATLAHS with NPKit on two machines (spcl/atlahs, npkit_data_summary_LL.json) show it: from 256 to
// 4096 bytes, where the threads grow with the bytes, a recvReduceSend takes the same time, and from
// there as much more for every further 4096. The first round is part of the table's latency of a
// hop, so it counts by its bytes alone; later ones count whole. In the middle of a tree each way
// has half the threads. RCCL's rate of LL is an estimate, and its rounds have not been measured.
static uint64_t with_whole_rounds(const struct block *b, uint64_t bytes)
{
    enum { THREAD_BYTES = 8 };
    uint64_t round = UINT64_C(1) * b->run->operation.choice.threads * THREAD_BYTES;
    if (b->run->protocol != NCCL_LL || b->run->source != RUN_OPERATION ||
        run_spec(b->run)->settings.rccl)
        return bytes;
    if (is_of_tree(b) && b->plan.n_from > 0 && b->plan.n_to > 0)
        round /= 2;
    return round > 0 && bytes > round ? (bytes + round - 1) / round * round : bytes;
}

// The time of the copy, without what the threads wait for each other.
static ps_t copy_ps(const struct block *b, uint64_t bytes)
{
    uint64_t bps = copy_bps(b);
    return bps > 0 ? serialization_ps(bytes, bps) : 0;
}

static ps_t duration_ps(const struct block *b, const struct task *t)
{
    const struct nccl_host_cost *cost = &run_spec(b->run)->cost;
    enum nccl_protocol protocol = b->run->protocol;
    const struct nccl_primitive *p = &t->p;
    if (t->idle)
        return t->takes_ps;
    // The root of a tree adds and sends down in one primitive.
    if (is_of_tree(b) && b->plan.after)
        return 0;
    ps_t takes = t->joined ? 0 : cost->primitive_ps[protocol];
    takes += copy_ps(b, with_whole_rounds(b, p->bytes));
    if (p->local_bytes > 0)
        takes += serialization_ps(p->local_bytes, local_bps(b));
    return takes;
}

static void arm(struct block *b, ps_t at, ps_t now)
{
    const struct executor_env *env = run_env(b->run);
    if (b->armed)
        path_drop(env->path_book, b->path);
    else
        tally_add(env->delays, 1);
    b->armed = true;
    b->path = path_take(env->path_book, now);
    sim_timer_start(env->engine, &b->timer, at);
}

static void disarm(struct block *b)
{
    const struct executor_env *env = run_env(b->run);
    if (!b->armed)
        return;
    path_drop(env->path_book, b->path);
    tally_add(env->delays, -1);
    b->armed = false;
}

static void end_block(struct block *b, ps_t now)
{
    const struct executor_env *env = run_env(b->run);
    b->ended = true;
    disarm(b);
    sim_timer_end(env->engine, &b->timer); // in an event of its rank
    env->used(env->ctx, b->run->ctx, b->run->members[b->plan.rank].tag, b->plan.channel,
              b->began_ps, now);
    run_block_ended(b, now);
}

// Continues the blocks that wait for what this block has done.
static void wake_waiting(struct block *b, ps_t now)
{
    for (struct block **at = &b->waiting; *at != NULL;) {
        struct block *waiting = *at;
        if (b->at < waiting->awaited) {
            at = &waiting->next_waiting;
            continue;
        }
        *at = waiting->next_waiting;
        waiting->waits = false;
        block_go_on(waiting, now); // may add to the list
        at = &b->waiting;
    }
}

static void finish(struct block *b, const struct nccl_primitive *p, ps_t now)
{
    b->at++;
    for (uint32_t i = 0; i < b->plan.n_from; i++)
        if (p->receives >> i & 1)
            connection_consume(b->from[i], now);
    for (uint32_t i = 0; i < b->plan.n_to; i++)
        if (p->sends >> i & 1)
            connection_send(b->to[i], p->bytes, p->step, now);
    wake_waiting(b, now);
}

/* ---- the phases of a primitive ---- */

static bool opens(const struct block *b, const struct nccl_primitive *p)
{
    for (uint32_t i = 0; i < b->plan.n_to; i++)
        if (p->sends >> i & 1 && connection_flows(b->to[i], p->bytes))
            return true;
    return false;
}

// Returns since when the primitive has been under way: a message from another server is known here
// by its end, and its lines have been there before.
static ps_t start_ps(const struct block *b, const struct nccl_primitive *p, ps_t now)
{
    ps_t start = b->idle_ps;
    for (uint32_t i = 0; i < b->plan.n_from; i++)
        if (p->receives >> i & 1)
            start = ps_longer(start, connection_began_ps(b->from[i]));
    return b->run->protocol == NCCL_SIMPLE || p->receives == 0 || start > now ? now : start;
}

static void begin_task(struct block *b, const struct task *t, ps_t now)
{
    bool opening = !t->idle && opens(b, &t->p);
    uint64_t line = b->plan.n_from > 0 ? connection_line_bytes(b->from[0]) : 0;
    b->copied_ps = now + duration_ps(b, t);
    if (!t->idle && b->copied_ps > now)
        b->copied_ps = ps_longer(b->copied_ps - now + start_ps(b, &t->p, now),
                                 now + copy_ps(b, t->p.bytes < line ? t->p.bytes : line));
    b->phase = opening ? BLOCK_OPENS : BLOCK_COPIES;
    if (!opening)
        return;
    ps_t rest = copy_ps(b, with_whole_rounds(b, t->p.bytes) - connection_line_bytes(b->to[0]));
    b->opened_ps = b->copied_ps - now > rest ? b->copied_ps - rest : now;
}

static void open_messages(struct block *b, const struct nccl_primitive *p, ps_t now)
{
    for (uint32_t i = 0; i < b->plan.n_to; i++)
        if (p->sends >> i & 1 && connection_flows(b->to[i], p->bytes))
            connection_begin(b->to[i], p->bytes, p->step, now);
}

// Returns when the last lines of what the primitive receives can have been copied; PS_NEVER = they
// have not all come.
static ps_t rest_ps(const struct block *b, const struct nccl_primitive *p)
{
    ps_t rest = 0;
    for (uint32_t i = 0; i < b->plan.n_from; i++) {
        const struct connection *c = b->from[i];
        if (!(p->receives >> i & 1) || c->remote || b->run->protocol == NCCL_SIMPLE)
            continue;
        ps_t seen = connection_seen_ps(c);
        if (seen == PS_NEVER)
            return PS_NEVER;
        uint64_t line = connection_line_bytes(c);
        rest = ps_longer(rest, seen + copy_ps(b, p->bytes < line ? p->bytes : line));
    }
    return rest;
}

// Goes on with the primitive that runs. Returns true if it has ended; otherwise the timer runs, or
// messages are awaited.
static bool run_task(struct block *b, const struct task *t, ps_t now)
{
    if (b->phase == BLOCK_OPENS) {
        if (b->opened_ps > now) {
            arm(b, b->opened_ps, now);
            return false;
        }
        open_messages(b, &t->p, now);
        b->phase = BLOCK_COPIES;
    }
    ps_t ends = b->copied_ps;
    if (b->phase == BLOCK_RESTS || ends <= now) {
        b->phase = BLOCK_RESTS;
        ends = t->idle ? now : rest_ps(b, &t->p);
    }
    if (ends > now && ends != PS_NEVER)
        arm(b, ends, now);
    return ends <= now;
}

void block_go_on(struct block *b, ps_t now)
{
    if (!b->begun || b->ended || (b->phase != BLOCK_WAITS && b->armed))
        return;
    while (b->at < b->plan.length) {
        struct task t = task_of(b);
        if (b->phase == BLOCK_WAITS) {
            ps_t ready = ready_ps(b, &t);
            if (ready > now) {
                if (t.after != NULL || !has_room(b, &t.p))
                    b->idle_ps = now;
                if (ready != PS_NEVER)
                    block_wake(b, ready);
                return;
            }
            begin_task(b, &t, now);
        }
        if (!run_task(b, &t, now))
            return;
        b->phase = BLOCK_WAITS;
        b->idle_ps = now;
        finish(b, &t.p, now);
    }
    end_block(b, now);
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct block *b = timer->data;
    const struct executor_env *env = run_env(b->run);
    uint32_t path = path_own(env->path_book, b->path);
    path_extend(env->path_book, path, PATH_LIBRARY, e->now_ps);
    uint32_t before = path_enter(env->path_book, path);
    tally_add(env->delays, -1);
    b->armed = false;
    block_go_on(b, e->now_ps);
    path_leave(env->path_book, before);
}

// A block in a primitive looks for new messages when its phase ends, so it needs no timer. Of
// several calls the one with the earliest time counts: the block then handles all that has arrived
// and sets its timer for the next message.
void block_wake(struct block *b, ps_t at)
{
    bool looks = b->phase == BLOCK_WAITS || (b->phase == BLOCK_RESTS && !b->armed);
    if (b->begun && looks && !b->ended && (!b->armed || at < b->timer.at_ps))
        arm(b, at, engine_current(run_env(b->run)->engine)->now_ps);
}

void block_begin(struct block *b, ps_t now)
{
    const struct executor_env *env = run_env(b->run);
    sim_timer_init_locked(env->engine, &b->timer, run_node(b->run, b->plan.rank), on_timer, b);
    b->begun = true;
    b->began_ps = b->idle_ps = now;
    for (uint32_t i = 0; i < b->plan.n_to; i++)
        b->to[i]->sender = b;
    for (uint32_t i = 0; i < b->plan.n_from; i++) {
        b->from[i]->receiver = b;
        connection_open(b->from[i], now);
    }
    block_go_on(b, now);
}

void block_free(struct block *b)
{
    if (b->begun)
        sim_timer_end(run_env(b->run)->engine, &b->timer);
}
