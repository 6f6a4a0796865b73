// SPDX-License-Identifier: MIT
// Timers that are re-armed lazily over the event queue.
#include "engine/timer.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/calls.h"

void engine_reserve_timers(struct engine *e, uint32_t n)
{
    if (n <= e->n_timer_nodes)
        return;
    e->timers = memory_resize(e->timers, n, sizeof *e->timers);
    memset(e->timers + e->n_timer_nodes, 0, (n - e->n_timer_nodes) * sizeof *e->timers);
    e->n_timer_nodes = n;
}

static struct timer_table *table_of(struct engine *e, uint32_t node)
{
    if (node >= e->n_timer_nodes)
        engine_reserve_timers(e, node + 1 > 2 * e->n_timer_nodes ? node + 1 : 2 * e->n_timer_nodes);
    return &e->timers[node];
}

// The engine of the timer's node.
static struct engine *home_of(struct engine *e, const struct sim_timer *timer)
{
    return e->shards ? shards_engine(e->shards, timer->node) : e;
}

static void *grow(void *list, uint32_t *cap, size_t size)
{
    *cap = *cap ? *cap + *cap / 2 : 4;
    return memory_resize(list, *cap, size);
}

uint32_t sim_timer_reserve(struct engine *e, uint32_t node)
{
    struct timer_table *table = table_of(e, node);
    if (table->n_free > 0)
        return table->free[--table->n_free];
    if (table->n == table->cap)
        table->slots = grow(table->slots, &table->cap, sizeof(struct sim_timer *));
    table->slots[table->n] = NULL;
    return table->n++;
}

void sim_timer_init_reserved(struct engine *e, struct sim_timer *timer, uint32_t node, uint32_t id,
                             void (*cb)(struct engine *, struct sim_timer *, int), void *data)
{
    *timer = (struct sim_timer){.cb = cb,
                                .data = data,
                                .at_ps = PS_NEVER,
                                .queued_ps = PS_NEVER,
                                .id = id,
                                .node = node & 0x7fffffffu};
    e->timers[node].slots[id] = timer;
}

void sim_timer_init(struct engine *e, struct sim_timer *timer, uint32_t node,
                    void (*cb)(struct engine *, struct sim_timer *, int), void *data)
{
    sim_timer_init_reserved(e, timer, node, sim_timer_reserve(e, node), cb, data);
}

void sim_timer_init_locked(struct engine *e, struct sim_timer *timer, uint32_t node,
                           void (*cb)(struct engine *, struct sim_timer *, int), void *data)
{
    sim_timer_init(e, timer, node, cb, data);
    timer->locks = true;
    if (shards_is_shared(e->shards))
        calls_timer_add(e->shards, timer);
}

void sim_timer_start(struct engine *e, struct sim_timer *timer, ps_t at_ps)
{
    timer->at_ps = at_ps;
    if (shards_is_elsewhere(e->shards, timer->node))
        return;                     // the process that owns the node reports when the timer expires
    if (at_ps < timer->queued_ps) { // otherwise the pending entry is earlier and will re-arm the
                                    // timer
        timer->queued_ps = at_ps;
        engine_push(home_of(e, timer), at_ps, event_timer_key(timer->node, timer->id));
    }
}

void sim_timer_stop(struct sim_timer *timer) { timer->at_ps = PS_NEVER; }

void sim_timer_end(struct engine *e, struct sim_timer *timer)
{
    if (!timer->cb)
        return;
    if (timer->locks && shards_is_shared(e->shards))
        calls_timer_remove(e->shards, timer);
    struct timer_table *table = &e->timers[timer->node];
    table->slots[timer->id] = NULL;
    if (table->n_free == table->cap_free)
        table->free = grow(table->free, &table->cap_free, sizeof *table->free);
    table->free[table->n_free++] = timer->id;
    timer->cb = NULL;
}

// Call the callback of a timer that uses state that shards share, holding the lock. The callback
// may free the timer.
static void call(struct engine *e, struct sim_timer *timer)
{
    struct shards *p = e->shards;
    bool logged = shards_is_shared(e->shards) && p->shard_of[timer->node] < p->n_own;
    if (logged) {
        uint32_t ordinal = calls_timer_ordinal(p, timer);
        calls_begin(p, CALL_TIMER, &ordinal, sizeof ordinal);
    }
    timer->cb(e, timer, SIM_TIMER);
    if (logged)
        calls_end(p);
}

void sim_timer_due(struct engine *e, struct sim_timer *timer)
{
    e->internal++;
    if (timer->queued_ps != e->now_ps)
        return; // stale: an earlier entry has already handled the deadline
    timer->queued_ps = PS_NEVER;
    // The timer has been stopped after this entry was pushed.
    if (timer->at_ps == PS_NEVER)
        return;
    // The deadline has been moved to a later time after this entry was pushed: push a new entry.
    if (timer->at_ps > e->now_ps) {
        sim_timer_start(e, timer, timer->at_ps);
        return;
    }
    e->internal--; // a timer that fires is a model event
    timer->at_ps = PS_NEVER;
    if (!timer->locks) {
        timer->cb(e, timer, SIM_TIMER);
        return;
    }
    engine_lock(e);
    call(e, timer);
    engine_unlock(e);
}
