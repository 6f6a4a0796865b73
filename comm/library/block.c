// SPDX-License-Identifier: MIT
// A block goes through its primitives. One begins when its messages have come, when its receivers
// have room, and when the block before has done its part; after the time of the copy it frees the
// steps of the buffers that it has read, and sends.
#include "comm/library/library_internal.h"

// Returns when the primitive can begin: PS_NEVER = something must happen before.
static ps_t ready_ps(const struct block *b, const struct nccl_primitive *p)
{
    ps_t ready = 0;
    for (uint32_t i = 0; i < b->plan.n_from; i++)
        if (p->receives >> i & 1)
            ready = ps_longer(ready, connection_seen_ps(b->from[i]));
    for (uint32_t i = 0; i < b->plan.n_to; i++)
        if (p->sends >> i & 1 && !connection_has_room(b->to[i]))
            return PS_NEVER;
    return b->plan.after && b->before->at <= b->at ? PS_NEVER : ready;
}

struct nccl_primitive block_primitive(const struct block *b, uint64_t i)
{
    if (!b->run->request.exchanges)
        return nccl_primitive(&b->run->operation, &b->plan, i);
    uint64_t left = b->bytes - i * b->chunk_bytes;
    return (struct nccl_primitive){.receives = b->plan.n_from,
                                   .sends = b->plan.n_to,
                                   .bytes = left < b->chunk_bytes ? left : b->chunk_bytes,
                                   .slots = 1,
                                   .step = (uint32_t)i};
}

// The rate at which the switch reduces or spreads a head's part: what the search has found for all
// channels, in equal shares of the heads that have data. An operation of few bytes leaves heads
// without any.
static uint64_t local_bps(const struct block *b)
{
    const struct nccl_operation *o = &b->run->operation;
    const struct nccl_layout *l = &b->run->group->comm.layout;
    const struct nccl_graph *nvls = &l->cluster.nvls;
    uint64_t parts = (nccl_operation_bytes(o, 0) + o->first.chunk_bytes - 1) / o->first.chunk_bytes,
             heads = nccl_layout_nvls_heads(l), active = parts < heads ? parts : heads;
    return (uint64_t)(nvls->bw_intra * 8e9 * nvls->channels) / active / o->choice.split.channels;
}

static ps_t duration_ps(const struct block *b, const struct nccl_primitive *p)
{
    const struct nccl_host_cost *cost = &run_spec(b->run)->cost;
    enum nccl_protocol protocol = b->run->protocol;
    ps_t takes = cost->primitive_ps[protocol];
    if (cost->block_bps[protocol] > 0)
        takes += serialization_ps(p->bytes, cost->block_bps[protocol]);
    if (p->local_bytes > 0)
        takes += serialization_ps(p->local_bytes, local_bps(b));
    return takes;
}

static void arm(struct block *b, ps_t at, ps_t now)
{
    const struct library_env *env = run_env(b->run);
    if (b->armed)
        path_drop(env->path_book, b->path);
    else
        (*env->delays)++;
    b->armed = true;
    b->path = path_take(env->path_book, now);
    sim_timer_start(env->engine, &b->timer, at);
}

static void end_block(struct block *b, ps_t now)
{
    const struct library_env *env = run_env(b->run);
    b->ended = true;
    env->used(env->ctx, b->run->ctx, b->run->members[b->plan.rank].tag, b->plan.channel,
              b->began_ps, now);
    run_block_ended(b, now);
}

static void finish(struct block *b, const struct nccl_primitive *p, ps_t now)
{
    b->at++;
    for (uint32_t i = 0; i < b->plan.n_from; i++)
        if (p->receives >> i & 1)
            connection_consume(b->from[i], now);
    for (uint32_t i = 0; i < b->plan.n_to; i++)
        if (p->sends >> i & 1)
            connection_send(b->to[i], nccl_message_bytes(&b->plan, p, i), p->step, now);
    if (b->follower != NULL)
        block_go_on(b->follower, now);
}

void block_go_on(struct block *b, ps_t now)
{
    if (!b->begun || b->busy || b->ended)
        return;
    for (; b->at < b->plan.length;) {
        struct nccl_primitive p = block_primitive(b, b->at);
        ps_t ready = ready_ps(b, &p);
        if (ready > now) {
            if (ready != PS_NEVER)
                block_wake(b, ready);
            return;
        }
        ps_t takes = duration_ps(b, &p);
        if (takes > 0) {
            b->busy = true;
            arm(b, now + takes, now);
            return;
        }
        finish(b, &p, now);
    }
    end_block(b, now);
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct block *b = timer->data;
    const struct library_env *env = run_env(b->run);
    uint32_t path = path_own(env->path_book, b->path);
    path_extend(env->path_book, path, PATH_LIBRARY, e->now_ps);
    uint32_t before = path_enter(env->path_book, path);
    (*env->delays)--;
    b->armed = false;
    if (b->busy) {
        b->busy = false;
        struct nccl_primitive p = block_primitive(b, b->at);
        finish(b, &p, e->now_ps);
    }
    block_go_on(b, e->now_ps);
    path_leave(env->path_book, before);
}

// A busy block looks again when it has finished. Of several wakes the first one counts: the block
// then looks at all that has come, and knows when it will see the rest.
void block_wake(struct block *b, ps_t at)
{
    if (b->begun && !b->busy && !b->ended && (!b->armed || at < b->timer.at_ps))
        arm(b, at, engine_current(run_env(b->run)->engine)->now_ps);
}

void block_begin(struct block *b, ps_t now)
{
    const struct library_env *env = run_env(b->run);
    sim_timer_init_locked(env->engine, &b->timer, run_node(b->run, b->plan.rank), on_timer, b);
    b->begun = true;
    b->began_ps = now;
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
