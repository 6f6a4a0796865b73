// SPDX-License-Identifier: MIT
// The tiles of a simulation: each has the queue of its events. While a tile is processed, its queue
// is that of its shard's engine.
#include "engine/shards_internal.h"

#include <stdlib.h>

#include "engine/base/memory.h"

static void drain(struct engine *e, ps_t began_ps, ps_t until_ps)
{
    e->now_ps = began_ps;
    e->late_ps = -1;
    e->horizon_ps = until_ps - 1;
    engine_drain(e, SIZE_MAX);
}

// Returns a time before which a queue has no event, once those before `until_ps` are processed.
static ps_t next_of(const struct event_queue *q, ps_t until_ps)
{
    ps_t next_ps = event_queue_bound(q);
    return next_ps > until_ps ? next_ps : until_ps;
}

// Let the engine of a tile's shard have the tile's queue for a while; `outside` keeps its own one.
static struct engine *tile_open(struct shards *p, uint32_t tile, struct event_queue *outside)
{
    struct engine *e = p->engines[p->tiles[tile].shard];
    *outside = e->queue;
    e->queue = p->tiles[tile].queue;
    return e;
}

static void tile_close(struct shards *p, uint32_t tile, const struct event_queue *outside)
{
    struct engine *e = p->engines[p->tiles[tile].shard];
    p->tiles[tile].queue = e->queue;
    e->queue = *outside;
}

static void process(struct shards *p, uint32_t tile, ps_t began_ps, ps_t until_ps)
{
    struct event_queue outside;
    struct engine *e = tile_open(p, tile, &outside);
    event_queue_skip_to(&e->queue, began_ps);
    p->hooks.enter(p->hooks.ctx, tile);
    p->tile_next_ps[tile] = PS_NEVER;
    e->queue.limit_ps = until_ps - 1;
    drain(e, began_ps, until_ps);
    e->queue.limit_ps = 0;
    shards_note_next(p, tile, next_of(&e->queue, until_ps));
    tile_close(p, tile, &outside);
}

void tiles_window(struct shards *p, uint32_t shard, ps_t began_ps, ps_t until_ps)
{
    struct engine *e = p->engines[shard];
    ps_t last_ps = e->now_ps;
    for (uint32_t i = p->first_tile[shard]; i < p->first_tile[shard + 1]; i++) {
        if (p->tile_next_ps[i] >= until_ps)
            continue;
        process(p, i, began_ps, until_ps);
        last_ps = e->now_ps > last_ps ? e->now_ps : last_ps;
    }
    e->now_ps = last_ps;
}

void tiles_gather(struct shards *p, ps_t until_ps)
{
    for (uint32_t i = 0; i < p->n_tiles; i++) {
        struct tile *t = &p->tiles[i];
        struct event_queue *into = &p->engines[t->shard]->queue;
        if (p->tile_next_ps[i] >= until_ps)
            continue;
        p->hooks.enter(p->hooks.ctx, i);
        struct event e;
        // The wheel must not be read beyond the window: events that are pushed before its cursor
        // later need a sorted insertion.
        t->queue.limit_ps = until_ps - 1;
        while (event_queue_pop(&t->queue, &e)) {
            if (e.at_ps >= until_ps) {
                event_queue_push(&t->queue, e);
                break;
            }
            event_queue_push(into, e);
        }
        t->queue.limit_ps = 0;
        p->tile_next_ps[i] = next_of(&t->queue, until_ps);
    }
}

void tiles_settle(struct shards *p)
{
    struct event e;
    if (p->merged)
        return;
    for (uint32_t i = 0; i < p->n_own; i++)
        while (event_queue_pop(&p->engines[i]->queue, &e)) {
            uint32_t tile = p->tile_of[event_node(e.key)];
            event_queue_push(&p->tiles[tile].queue, e);
            shards_note_next(p, tile, e.at_ps);
        }
}

ps_t tiles_first_ps(const struct shards *p)
{
    ps_t first_ps = PS_NEVER;
    for (uint32_t i = 0; i < p->n_tiles; i++)
        first_ps = p->tile_next_ps[i] < first_ps ? p->tile_next_ps[i] : first_ps;
    for (uint32_t i = 0; i < p->n; i++)
        first_ps = p->next_ps[i] < first_ps ? p->next_ps[i] : first_ps;
    for (uint32_t i = 0; p->merged && i < p->n; i++) {
        ps_t at_ps = next_of(&p->engines[i]->queue, p->done_ps);
        first_ps = at_ps < first_ps ? at_ps : first_ps;
    }
    return first_ps;
}

struct event tiles_first_event(struct shards *p)
{
    struct event first = {PS_NEVER, UINT64_MAX};
    uint32_t n = p->first_tile[p->n_own];
    for (uint32_t i = 0; i < n; i++)
        p->hooks.enter(p->hooks.ctx, i);
    tiles_settle(p);
    for (uint32_t i = 0; i < n; i++) {
        struct event e = event_queue_first(&p->tiles[i].queue);
        p->tile_next_ps[i] = e.at_ps;
        first = event_before(e, first) ? e : first;
    }
    return first;
}

void tiles_process(struct shards *p, struct event first)
{
    uint32_t tile = p->tile_of[event_node(first.key)];
    struct event_queue outside;
    struct engine *e = p->current = tile_open(p, tile, &outside);
    e->now_ps = e->horizon_ps = first.at_ps;
    engine_drain(e, 1);
    tile_close(p, tile, &outside);
}

/* ---- merged tiles ---- */

// Give the queues of the shards' engines a wheel, or leave them a heap for the few events that come
// between windows.
static void shape_queues(struct shards *p, unsigned shift)
{
    for (uint32_t i = 0; i < p->n; i++) {
        struct engine *e = p->engines[i];
        event_queue_shape(&e->queue, shift);
        e->queue.ahead = shift > 0 && e->hint ? EVENT_AHEAD : 0;
    }
}

// Move all events of a tile. Its queue is not read for it: a wheel that has been read to its last
// event would insert all later ones, which come before that, one by one.
static void move_all(struct shards *p, uint32_t tile)
{
    struct event_queue *q = &p->tiles[tile].queue, *into = &p->engines[p->tiles[tile].shard]->queue;
    size_t n = q->n;
    struct event *events = memory_zeroed(n, sizeof *events);
    event_queue_copy(q, events);
    event_queue_clear(q, p->done_ps);
    for (size_t i = 0; i < n; i++)
        event_queue_push(into, events[i]);
    free(events);
    p->tile_next_ps[tile] = PS_NEVER;
}

void tiles_merge(struct shards *p, bool merged)
{
    if (merged == p->merged)
        return;
    p->merged = merged;
    if (merged) {
        shape_queues(p, p->merged_shift);
        for (uint32_t i = 0; i < p->n_tiles; i++) {
            p->hooks.enter(p->hooks.ctx, i); // packets that were sent to the tile become events
            move_all(p, i);
        }
    } else {
        for (uint32_t i = 0; i < p->n_tiles; i++)
            event_queue_skip_to(&p->tiles[i].queue, p->done_ps);
        tiles_settle(p);
        shape_queues(p, 0);
    }
}
