// SPDX-License-Identifier: MIT
// The engine: simulated clock, pending events, timers and seed. It is independent of packets:
// departures, pauses and arrivals go to the handlers that the network sets.
#pragma once

#include "engine/base/assert.h"
#include "engine/event_queue.h"

struct engine;
struct shards;
struct sim_timer;

typedef void (*event_handler)(void *ctx, uint64_t key);

// The timers of one node by their number at the node. The order of timers that expire at one time
// therefore does not depend on other nodes.
struct timer_table {
    struct sim_timer **slots; // NULL = free
    uint32_t *free;
    uint32_t n, cap, n_free, cap_free;
};

struct engine {
    /* config */
    uint64_t seed;
    event_handler handlers[3]; // indexed by enum event_kind; EVENT_TIMER has none
    void *handler_ctx;
    // Prefetches the memory of the next EVENT_AHEAD events. A key of 0 means that the event is not
    // known yet. NULL = no prefetch. The function must not change any result.
    void (*hint)(void *ctx, const struct event *next);
    /* state */
    ps_t now_ps;
    uint64_t now_key; // key of the event that is being processed
    // At the instant late_ps, an event with key late_key has created events of the same instant
    // that have smaller keys.
    ps_t late_ps;
    uint64_t late_key;
    ps_t horizon_ps; // events after this time stay pending; PS_NEVER = none
    struct event_queue queue;
    struct timer_table *timers; // [node]
    uint32_t n_timer_nodes;
    bool stopped;
    struct shards *shards; // engine/shards.h; NULL = the simulation has one shard
    uint32_t lock_depth;
    /* counters */
    uint64_t events;
    // Events in `events` that are not part of the model: departures, stale timer entries and
    // samples. Their number depends on how departures are handled.
    uint64_t internal;
};

// Number of model events: arrivals, pauses and timers that fired. It is the same at the same
// simulated time whether or not departures are scheduled as events.
static inline uint64_t engine_model_events(const struct engine *e)
{
    return e->events - e->internal;
}

void engine_init(struct engine *e, uint64_t seed);
void engine_free(struct engine *e);

// Size the wheel for about `pending` events within the next `span_ps`. With pending = 0 the queue
// is a heap only.
void engine_shape(struct engine *e, size_t pending, ps_t span_ps);

// Set the prefetch function; NULL turns prefetching off. Call before the first event.
static inline void engine_set_hint(struct engine *e,
                                   void (*hint)(void *ctx, const struct event *next))
{
    e->hint = hint;
    e->queue.ahead = hint ? EVENT_AHEAD : 0;
}

// Make room in the table of timers for nodes below `n`.
void engine_reserve_timers(struct engine *e, uint32_t n);

// Process at most `max` events in order and return their number. A result below `max` means that no
// event is left before the horizon or that engine_stop() was called.
size_t engine_drain(struct engine *e, size_t max);

// End the run after all events of the current instant.
static inline void engine_stop(struct engine *e) { e->stopped = true; }

// Add an event that is later than the present one.
static inline void engine_push_later(struct engine *e, ps_t at_ps, uint64_t key)
{
    event_queue_push(&e->queue, (struct event){at_ps, key});
}

// Note that the present event creates another one at its own instant.
void engine_note_late(struct engine *e, uint64_t key);
// Add an event.
static inline void engine_push(struct engine *e, ps_t at_ps, uint64_t key)
{
    if (at_ps == e->now_ps)
        engine_note_late(e, key);
    event_queue_push(&e->queue, (struct event){at_ps, key});
}

// Returns the key that orders deferred work of the present event among the deferred work of all
// shards at the same time: the largest key that the shard has processed at this time. With one
// thread, an event that is created for the present time runs next if its key is smaller than all
// pending ones, and so directly after the event that created it.
static inline uint64_t engine_order_key(const struct engine *e)
{
    return e->late_ps == e->now_ps && e->late_key > e->now_key ? e->late_key : e->now_key;
}

#define SHARDS_MAX 64 // threads of a simulation at most

// Returns the number of the calling thread among the threads of its simulation; 0 = the first or
// only one. State that each thread has for itself is in arrays with this index (engine/tally.h,
// critical paths).
uint32_t engine_thread(void);
// Returns the index of the calling thread in an array with one entry per thread. `n_threads` 0 and
// 1 both mean a single thread.
static inline uint32_t engine_thread_of(uint32_t n_threads)
{
    return n_threads > 1 ? engine_thread() : 0;
}

// Hold the lock on the state that the shards of a simulation share, if they run at the same time.
// `e` is the engine of the event that is being processed, or the common one. Calls may be nested.
void engine_lock_shards(struct engine *e);
void engine_unlock_shards(struct engine *e);
static inline void engine_lock(struct engine *e)
{
    if (e->shards)
        engine_lock_shards(e);
}
static inline void engine_unlock(struct engine *e)
{
    if (e->shards)
        engine_unlock_shards(e);
}

// True while several threads process events at the same time.
bool engine_shards_run(const struct engine *e);
static inline bool engine_is_parallel(const struct engine *e)
{
    return e->shards && engine_shards_run(e);
}

// The engine whose event the calling thread is processing: `e` itself unless the simulation has
// shards.
struct engine *engine_current_shard(const struct engine *e);
static inline struct engine *engine_current(struct engine *e)
{
    return e->shards ? engine_current_shard(e) : e;
}

// Work that an event defers to the end of the window where shards run at the same time, because it
// needs the order of all events; otherwise it is done at once. `note` is copied; `now` is the time
// of the event. The caller holds the lock.
typedef void (*engine_deferred)(void *ctx, const void *note, ps_t now);
void engine_defer_shards(struct engine *e, engine_deferred done, void *ctx, const void *note,
                         size_t bytes);
static inline void engine_defer(struct engine *e, engine_deferred done, void *ctx, const void *note,
                                size_t bytes)
{
    if (e->shards)
        engine_defer_shards(e, done, ctx, note, bytes);
    else
        done(ctx, note, e->now_ps);
}
