// SPDX-License-Identifier: MIT
// Simulated timers in libev's shape, over integer picoseconds, embedded in the object they serve.
//
// Re-arming is lazy: a timer keeps at most one useful entry pending; moving the deadline later only
// writes a field, and the entry looks at the true deadline when it comes up.
#pragma once

#include "engine/engine.h"

#define SIM_TIMER 0x100 // revents of a callback, as EV_TIMER

struct sim_timer {
    void (*cb)(struct engine *e, struct sim_timer *timer, int revents);
    void *data;
    ps_t at_ps;     // deadline, PS_NEVER = stopped
    ps_t queued_ps; // when the pending entry comes up, PS_NEVER = none
    ps_t repeat_ps; // for sim_timer_again
    uint32_t id, node;
};

// `node` orders it among simultaneous events (the node whose state the callback changes).
void sim_timer_init(struct engine *e, struct sim_timer *timer, uint32_t node,
                    void (*cb)(struct engine *, struct sim_timer *, int), void *data);

// Fire at `at_ps` >= now, instead of any earlier deadline. It stops itself when it fires.
void sim_timer_start(struct engine *e, struct sim_timer *timer, ps_t at_ps);
void sim_timer_stop(struct sim_timer *timer);

// Start it at now + repeat_ps.
void sim_timer_again(struct engine *e, struct sim_timer *timer);

// Give the id back; the memory may go. Safe on a zeroed timer.
void sim_timer_end(struct engine *e, struct sim_timer *timer);

static inline bool sim_timer_active(const struct sim_timer *t) { return t->at_ps != PS_NEVER; }

// An entry of this timer came up (called by the engine).
void sim_timer_due(struct engine *e, struct sim_timer *timer);
