// SPDX-License-Identifier: MIT
// Simulated timers in libev's shape, over integer picoseconds, embedded in the object that uses
// them.
//
// Re-arming is lazy: a timer has at most one current entry in the event queue. Moving the deadline
// later only writes a field; when the entry comes up, it is pushed again for the true deadline.
#pragma once

#include "engine/engine.h"

#define SIM_TIMER 0x100 // `revents` of a callback, like EV_TIMER

struct sim_timer {
    void (*cb)(struct engine *e, struct sim_timer *timer, int revents);
    void *data;
    ps_t at_ps;     // deadline; PS_NEVER = stopped
    ps_t queued_ps; // time of the current entry in the event queue; PS_NEVER = none
    uint32_t id;
    uint32_t node : 31;
    uint32_t locks : 1; // the callback uses state that shards share, so engine_lock() is held
};

// Initialise a timer. `node` is the node whose state the callback changes; it orders the timer
// among simultaneous events.
void sim_timer_init(struct engine *e, struct sim_timer *timer, uint32_t node,
                    void (*cb)(struct engine *, struct sim_timer *, int), void *data);

// Like sim_timer_init, for a callback that uses state that shards share: it holds the lock.
void sim_timer_init_locked(struct engine *e, struct sim_timer *timer, uint32_t node,
                           void (*cb)(struct engine *, struct sim_timer *, int), void *data);

// Take an id at a node for a timer that is initialised later, if it is ever needed: timers of one
// node that expire at one time do so in the order of their ids.
uint32_t sim_timer_reserve(struct engine *e, uint32_t node);
void sim_timer_init_reserved(struct engine *e, struct sim_timer *timer, uint32_t node, uint32_t id,
                             void (*cb)(struct engine *, struct sim_timer *, int), void *data);

// Set the deadline to `at_ps` >= now, replacing any other. A timer that fires is stopped.
void sim_timer_start(struct engine *e, struct sim_timer *timer, ps_t at_ps);
void sim_timer_stop(struct sim_timer *timer);

// Release the timer's id, after which its memory may be freed. Safe on a zeroed timer.
void sim_timer_end(struct engine *e, struct sim_timer *timer);

static inline bool sim_timer_active(const struct sim_timer *t) { return t->at_ps != PS_NEVER; }

// Called by the engine when an entry of this timer comes up.
void sim_timer_due(struct engine *e, struct sim_timer *timer);
