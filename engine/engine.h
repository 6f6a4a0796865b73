// SPDX-License-Identifier: MIT
// The engine: simulated clock, pending events, timers and seed. It knows no packet: departures,
// pauses and arrivals go to the handlers that the network sets.
#pragma once

#include "engine/assert.h"
#include "engine/event_queue.h"

struct engine;
struct sim_timer;

typedef void (*event_handler)(void *ctx, uint64_t key);

// The timers of a node by number. Numbers are the node's own, so the order of its timers that expire at one time
// does not depend on what other nodes do.
struct timer_table {
    struct sim_timer **slots; // NULL = free
    uint32_t *free;
    uint32_t n, cap, n_free, cap_free;
};

struct engine {
    /* config */
    uint64_t seed;
    event_handler handlers[3]; // by enum event_kind, but for EVENT_TIMER
    void *handler_ctx;
    // Memory hints for the EVENT_AHEAD events that come next; a key of 0 is of none. NULL = no hints.
    // They change nothing but speed.
    void (*hint)(void *ctx, const struct event *next);
    /* state */
    ps_t now_ps;
    ps_t horizon_ps; // events after it stay pending; PS_NEVER = none
    struct event_queue queue;
    struct timer_table *timers; // [node]
    uint32_t n_timer_nodes;
    bool stopped;
    /* counters */
    uint64_t events;
    // The part of `events` that is not of the model: departures and timer entries that call nothing, of
    // which the reference engine has another number, and samples.
    uint64_t internal;
};

// Events of the model: arrivals, pauses and timers that fired. The same number at the same simulated
// time whichever way departures are treated.
static inline uint64_t engine_model_events(const struct engine *e)
{
    return e->events - e->internal;
}

void engine_init(struct engine *e, uint64_t seed);
void engine_free(struct engine *e);

// Shape the queue for about `pending` events that lie `span_ps` ahead; 0 pending = the plain heap.
void engine_shape(struct engine *e, size_t pending, ps_t span_ps);

// Give hints from now on, or (NULL) no more; before the first event.
static inline void engine_set_hint(struct engine *e,
                                   void (*hint)(void *ctx, const struct event *next))
{
    e->hint = hint;
    e->queue.ahead = hint ? EVENT_AHEAD : 0;
}

// Process at most `max` events in order. Returns how many; fewer than max means that none is left
// before the horizon or that engine_stop() was called.
size_t engine_drain(struct engine *e, size_t max);

// End the run after the events of this instant.
static inline void engine_stop(struct engine *e) { e->stopped = true; }

static inline void engine_push(struct engine *e, ps_t at_ps, uint64_t key)
{
    event_queue_push(&e->queue, (struct event){at_ps, key});
}
