// SPDX-License-Identifier: MIT
// The windows of a simulation in shards, and their order.
#include <stdlib.h>

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/shards_internal.h"

/* ---- windows of one thread ---- */

void shards_exchange(struct shards *p, ps_t until_ps)
{
    for (uint32_t i = 0; i < p->n_own && until_ps > 0; i++)
        p->next_ps[i] = p->hooks.send(p->hooks.ctx, i, until_ps);
    for (uint32_t i = 0; i < p->n_own; i++)
        p->hooks.receive(p->hooks.ctx, i);
}

// Forbid the queues of the shards' engines to load events after `limit_ps`; 0 = no limit.
static void limit_queues(struct shards *p, ps_t limit_ps)
{
    for (uint32_t i = 0; i < p->n; i++)
        p->engines[i]->queue.limit_ps = limit_ps;
}

static void one_event(struct shards *p, struct engine *e, ps_t at_ps)
{
    p->engines[p->n]->now_ps = at_ps;
    p->current = e;
    e->horizon_ps = at_ps;
    engine_drain(e, 1);
}

// Returns the shard with the first event, and the event.
static uint32_t first_part(const struct shards *p, struct event *first)
{
    uint32_t shard = 0;
    *first = event_queue_first(&p->engines[0]->queue);
    for (uint32_t i = 1; i < p->n; i++) {
        struct event e = event_queue_first(&p->engines[i]->queue);
        if (event_before(e, *first)) {
            *first = e;
            shard = i;
        }
    }
    return shard;
}

// An event may create others at its own instant in any shard, and in the common engine, whose
// events are the last of an instant. If `max` events end the window early, data sent without an
// event waits, and the result is false.
static bool alone(struct shards *p, ps_t until_ps, size_t max)
{
    const struct engine *common = p->engines[p->n];
    struct event first;
    tiles_gather(p, until_ps);
    limit_queues(p, until_ps - 1);
    for (;;) {
        uint32_t shard = first_part(p, &first);
        if (first.at_ps >= until_ps || (common->stopped && first.at_ps > common->now_ps) ||
            event_queue_first(&p->engines[p->n]->queue).at_ps < first.at_ps)
            break;
        if (max == 0)
            break;
        one_event(p, p->engines[shard], first.at_ps);
        max--;
    }
    limit_queues(p, 0);
    if (max == 0)
        until_ps = 0;
    shards_exchange(p,
                    common->stopped && common->now_ps < until_ps ? common->now_ps + 1 : until_ps);
    return until_ps > 0;
}

/* ---- steps ---- */

// Count the events that the shards have processed as processed by the common engine.
static void sum_up(struct shards *p)
{
    struct engine *common = p->engines[p->n];
    for (uint32_t i = 0; i < p->n; i++) {
        struct engine *e = p->engines[i];
        if (e->events > 0 && e->now_ps > common->now_ps)
            common->now_ps = e->now_ps;
        p->counts.events += e->events;
        common->events += e->events;
        common->internal += e->internal;
        e->events = e->internal = 0;
    }
}

// Returns the events of all shards in this window; sum_up() has counted those of earlier windows.
static uint64_t events_of(const struct shards *p)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < p->n_own; i++)
        n += p->engines[i]->events;
    return n;
}

static void window(struct shards *p, ps_t began_ps, ps_t until_ps, size_t max)
{
    struct shards_counts *c = &p->counts;
    double began_s = monotonic_s();
    tiles_merge(p, trial_wants_alone(&p->in_order));
    bool must = p->merged || p->engines[p->n]->stopped ||
                p->hooks.order(p->hooks.ctx, until_ps) != ORDER_NONE;
    bool chosen = !must && p->n > 1 && trial_wants_alone(&p->trial), whole = true;
    double decided_s = monotonic_s();
    if (must)
        whole = alone(p, until_ps, max);
    else if (chosen || p->n == 1)
        threads_window_alone(p, began_ps, until_ps);
    else
        threads_window(p, began_ps, until_ps);
    if (whole)
        p->done_ps = until_ps;
    c->windows += whole;
    c->alone += whole && (must || chosen);
    c->chosen += whole && (chosen || p->merged);
    double done_s = monotonic_s();
    trial_note(&p->in_order, !p->merged, done_s - began_s, events_of(p));
    if (!must && p->n > 1)
        trial_note(&p->trial, !chosen, done_s - decided_s, events_of(p));
}

void shards_common_event(struct shards *p, ps_t at_ps)
{
    for (uint32_t i = 0; i < p->n_own; i++)
        p->engines[i]->now_ps = at_ps;
    p->current = p->engines[p->n];
    engine_drain(p->engines[p->n], 1);
    shards_exchange(p, at_ps + 1);
}

void shards_window(struct shards *p, ps_t began_ps, ps_t until_ps, bool alone)
{
    struct shards_counts *c = &p->counts;
    bool chosen = !alone && p->n_own > 1 && trial_wants_alone(&p->trial);
    double began_s = monotonic_s();
    if (alone || chosen || p->n_own == 1)
        threads_window_alone(p, began_ps, until_ps);
    else
        threads_window(p, began_ps, until_ps);
    p->done_ps = until_ps;
    c->windows++;
    c->alone += alone || chosen;
    c->chosen += chosen;
    if (!alone && p->n_own > 1)
        trial_note(&p->trial, !chosen, monotonic_s() - began_s, events_of(p));
}

bool shards_step(struct shards *p, size_t max)
{
    if (p->processes)
        return processes_step(p);
    struct engine *common = p->engines[p->n];
    struct event shared = event_queue_first(&common->queue);
    tiles_settle(p);
    ps_t first_ps = tiles_first_ps(p);
    ps_t at_ps = first_ps < shared.at_ps ? first_ps : shared.at_ps;
    if (at_ps == PS_NEVER || at_ps > common->horizon_ps ||
        (common->stopped && at_ps > common->now_ps))
        return false;
    if (shared.at_ps < first_ps) {
        shards_common_event(p, shared.at_ps);
        return true;
    }
    ps_t until_ps = at_ps + p->lookahead_ps;
    if (shared.at_ps < until_ps) // the common event is the last of its instant
        until_ps = shared.at_ps + 1;
    if (common->horizon_ps < until_ps)
        until_ps = common->horizon_ps + 1;
    window(p, at_ps, until_ps, max);
    sum_up(p);
    p->current = common;
    return true;
}

size_t shards_pending(const struct shards *p)
{
    size_t n = p->engines[p->n]->queue.n;
    for (uint32_t i = 0; i < p->n_own; i++)
        n += p->engines[i]->queue.n;
    for (uint32_t i = 0; i < p->n_own; i++) // packets that leave a shard without an event
        n += p->next_ps[i] < PS_NEVER;
    for (uint32_t i = 0; i < p->first_tile[p->n_own]; i++)
        n += p->tiles[i].queue.n > 0 ? p->tiles[i].queue.n : p->tile_next_ps[i] < PS_NEVER;
    return n;
}

/* ---- life ---- */

// Move the events of the common engine to the queues of their tiles.
static void distribute(struct shards *p)
{
    struct engine *common = p->engines[p->n];
    struct event_queue all = common->queue, *kept = &common->queue;
    *kept = (struct event_queue){0};
    event_queue_shape(kept, all.shift);
    struct event e;
    while (event_queue_pop(&all, &e)) {
        uint32_t shard = p->shard_of[event_node(e.key)];
        if (!shards_is_elsewhere(p, event_node(e.key)))
            event_queue_push(shard < p->n ? &p->engines[shard]->queue : kept, e);
    }
    event_queue_free(&all);
    tiles_settle(p);
}

// A tile has fewer events at a time than the whole, so its slots are wider, up to those of 4 ns.
#define TILE_SHIFT 12
#define TILE_SLOTS 2048 // 8 us of such slots, in 8 KB

static unsigned tile_shift(const struct shards *p, unsigned shift)
{
    for (uint32_t n = p->n_tiles / p->n_own; n > 1 && shift < TILE_SHIFT; n /= 2)
        shift++;
    return shift;
}

static void tiles_new(struct shards *p, const struct shards_cut *cut, uint32_t n_nodes)
{
    unsigned shift = tile_shift(p, p->engines[p->n]->queue.shift);
    p->merged_shift = p->engines[p->n]->queue.shift;
    p->tiles = memory_zeroed(p->n_tiles, sizeof *p->tiles);
    p->tile_next_ps = memory_zeroed(p->n_tiles, sizeof *p->tile_next_ps);
    p->first_tile = memory_zeroed(p->n + 1, sizeof *p->first_tile);
    for (uint32_t i = 0; i < p->n_tiles; i++) {
        p->tile_next_ps[i] = PS_NEVER;
        if (p->n_tiles > p->n)
            p->tiles[i].queue.slots_wanted = TILE_SLOTS;
        event_queue_shape(&p->tiles[i].queue, shift);
    }
    for (uint32_t node = 0; node < n_nodes; node++)
        p->tiles[cut->tile_of[node]].shard = cut->shard_of[node];
    for (uint32_t i = p->n_tiles; i-- > 0;)
        p->first_tile[p->tiles[i].shard] = i;
    p->first_tile[p->n] = p->n_tiles;
}

struct shards *shards_new(struct engine *common, const struct shards_cut *cut, uint32_t n_nodes,
                          const struct shards_hooks *hooks)
{
    struct shards *p = memory_zeroed(1, sizeof *p);
    uint32_t n = p->n = cut->shards;
    p->n_own = cut->processes ? cut->own : n;
    p->processes = cut->processes;
    p->n_tiles = cut->tiles;
    p->shard_of = cut->shard_of;
    p->tile_of = cut->tile_of;
    p->lookahead_ps = cut->lookahead_ps;
    p->hooks = *hooks;
    p->engines = memory_zeroed(n + 1, sizeof(struct engine *));
    p->boxes = memory_zeroed((size_t)n * n, sizeof *p->boxes);
    p->logs = memory_zeroed(n, sizeof *p->logs);
    p->next_ps = memory_zeroed(n, sizeof *p->next_ps);
    for (uint32_t i = 0; i < n; i++)
        p->next_ps[i] = PS_NEVER;
    engine_reserve_timers(common, n_nodes + 1);
    for (uint32_t i = 0; i < n; i++) {
        struct engine *e = p->engines[i] = memory_zeroed_lines(1, sizeof *e);
        engine_init(e, common->seed);
        e->now_ps = common->now_ps;
        e->timers = common->timers;
        e->n_timer_nodes = common->n_timer_nodes;
        e->shards = p;
    }
    p->engines[n] = p->current = common;
    common->shards = p;
    tiles_new(p, cut, n_nodes);
    processes_init(p, n_nodes);
    distribute(p);
    threads_start(p);
    return p;
}

void shards_look_ahead(struct shards *p)
{
    for (uint32_t i = 0; i < p->n_tiles; i++)
        p->tiles[i].queue.ahead = p->engines[p->tiles[i].shard]->hint ? EVENT_AHEAD : 0;
    for (uint32_t i = 0; i < p->n; i++)
        p->engines[i]->queue.ahead = 0;
}

void shards_free(struct shards *p)
{
    if (!p)
        return;
    shards_rest(p);
    for (uint32_t i = 0; i < p->n; i++) {
        struct engine *e = p->engines[i];
        e->timers = NULL; // the timers belong to the common engine
        e->n_timer_nodes = 0;
        engine_free(e);
        free(e);
    }
    for (uint32_t i = 0; i < p->n * p->n; i++)
        mailbox_free(&p->boxes[i]);
    for (uint32_t i = 0; i < p->n; i++)
        mailbox_free(&p->logs[i]);
    for (uint32_t i = 0; i < p->n_tiles; i++)
        event_queue_free(&p->tiles[i].queue);
    processes_free(p);
    p->engines[p->n]->shards = NULL;
    free(p->tiles);
    free(p->tile_next_ps);
    free(p->first_tile);
    free(p->deferred);
    free(p->logs);
    free(p->next_ps);
    free(p->boxes);
    free(p->engines);
    free((void *)(uintptr_t)p->shard_of);
    free((void *)(uintptr_t)p->tile_of);
    free(p);
}
