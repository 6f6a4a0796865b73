// SPDX-License-Identifier: MIT
// The log of calls, and their repetition.
#include "engine/calls.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/timer.h"

// Head of a letter of a log; the arguments follow.
struct call_head {
    struct event event;
    uint64_t order_key; // engine_order_key()
    uint32_t kind;
    bool at_once; // no shard was being processed, so nothing is deferred
};

static void write(struct shards *p, unsigned kind, const void *args, size_t bytes)
{
    const struct engine *e = engine_current_shard(p->engines[p->n]);
    struct call_head *head = mailbox_put(&p->calls.log, sizeof *head + bytes);
    *head = (struct call_head){.event = {e->now_ps, e->now_key},
                               .order_key = engine_order_key(e),
                               .kind = kind,
                               .at_once = !p->parallel};
    if (bytes > 0)
        memcpy(head + 1, args, bytes);
}

void calls_begin(struct shards *p, unsigned kind, const void *args, size_t bytes)
{
    write(p, kind, args, bytes);
    p->calls.depth++;
}

void calls_end(struct shards *p) { p->calls.depth--; }

void calls_mark(struct shards *p)
{
    if (p->calls.depth > 0 && p->calls.reading == NULL)
        write(p, CALL_MARK, NULL, 0);
}

/* ---- repetition ---- */

// A timer of another process has expired.
static void expire(const struct shards *p, struct engine *e, uint32_t ordinal)
{
    struct sim_timer *timer = p->calls.timers[event_node(e->now_key)].list[ordinal];
    timer->at_ps = PS_NEVER;
    timer->cb(e, timer, SIM_TIMER); // may free the timer
}

static void repeat(struct shards *p, const struct call_head *head)
{
    struct engine *e = p->engines[p->calls.shard];
    bool parallel = p->parallel;
    e->now_ps = e->late_ps = head->event.at_ps;
    e->now_key = head->event.key;
    e->late_key = head->order_key;
    p->current = e;
    p->parallel = !head->at_once;
    p->calls.depth++;
    if (head->kind == CALL_TIMER)
        expire(p, e, *(const uint32_t *)(const void *)(head + 1));
    else
        p->hooks.call(p->hooks.ctx, head->kind, head + 1);
    p->calls.depth--;
    p->parallel = parallel;
}

void calls_within(struct shards *p, uint32_t node)
{
    const struct call_head *head;
    if (p->calls.reading == NULL || p->shard_of[node] != p->calls.shard)
        return;
    while ((head = mailbox_next(p->calls.reading, &p->calls.at)) != NULL && head->kind != CALL_MARK)
        repeat(p, head);
}

void calls_repeat(struct shards *p, uint32_t shard, const struct mailbox *log)
{
    const struct call_head *head;
    p->calls.shard = shard;
    p->calls.reading = log;
    p->calls.at = 0;
    p->in_turn = true;
    while ((head = mailbox_next(log, &p->calls.at)) != NULL)
        repeat(p, head);
    p->in_turn = false;
    p->calls.reading = NULL;
    p->current = p->engines[p->n];
}

/* ---- timers ---- */

void calls_timer_add(struct shards *p, struct sim_timer *timer)
{
    struct call_timers *at = &p->calls.timers[timer->node];
    for (uint32_t i = 0; i < at->n; i++)
        if (at->list[i] == NULL) {
            at->list[i] = timer;
            return;
        }
    if (at->n == at->cap)
        at->list = memory_grow(at->list, &at->cap, sizeof(struct sim_timer *));
    at->list[at->n++] = timer;
}

uint32_t calls_timer_ordinal(const struct shards *p, const struct sim_timer *timer)
{
    const struct call_timers *at = &p->calls.timers[timer->node];
    uint32_t i = 0;
    while (at->list[i] != timer)
        i++;
    return i;
}

void calls_timer_remove(struct shards *p, const struct sim_timer *timer)
{
    p->calls.timers[timer->node].list[calls_timer_ordinal(p, timer)] = NULL;
}

// The timers of a simulation that has not begun have the same ids in all processes.
void calls_timers_init(struct shards *p, uint32_t n_nodes)
{
    const struct engine *common = p->engines[p->n];
    p->calls.n_nodes = common->n_timer_nodes;
    p->calls.timers = memory_zeroed(p->calls.n_nodes + 1, sizeof *p->calls.timers);
    for (uint32_t node = 0; node < n_nodes; node++)
        for (uint32_t i = 0; i < common->timers[node].n; i++) {
            struct sim_timer *timer = common->timers[node].slots[i];
            if (timer != NULL && timer->locks)
                calls_timer_add(p, timer);
        }
}

void calls_timers_free(struct shards *p)
{
    for (uint32_t node = 0; p->calls.timers && node < p->calls.n_nodes; node++)
        free(p->calls.timers[node].list);
    free(p->calls.timers);
    mailbox_free(&p->calls.log);
}
