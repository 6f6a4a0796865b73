// SPDX-License-Identifier: MIT
// Lazily re-armed timers over the event queue.
#include "engine/timer.h"

#include "engine/memory.h"

void sim_timer_init(struct engine *e, struct sim_timer *timer, uint32_t node,
                    void (*cb)(struct engine *, struct sim_timer *, int), void *data)
{
    *timer = (struct sim_timer){
        .cb = cb, .data = data, .at_ps = PS_NEVER, .queued_ps = PS_NEVER, .node = node};
    if (e->n_free_timers > 0) {
        timer->id = e->free_timers[--e->n_free_timers];
    } else {
        if (e->n_timers == e->cap_timers)
            e->timers = memory_grow(e->timers, &e->cap_timers, sizeof *e->timers);
        timer->id = (uint32_t)e->n_timers++;
    }
    e->timers[timer->id] = timer;
}

void sim_timer_start(struct engine *e, struct sim_timer *timer, ps_t at_ps)
{
    timer->at_ps = at_ps;
    if (at_ps < timer->queued_ps) { // an entry that is pending later will find itself stale
        timer->queued_ps = at_ps;
        engine_push(e, at_ps, event_timer_key(timer->node, timer->id));
    }
}

void sim_timer_stop(struct sim_timer *timer) { timer->at_ps = PS_NEVER; }

void sim_timer_again(struct engine *e, struct sim_timer *timer)
{
    sim_timer_start(e, timer, e->now_ps + timer->repeat_ps);
}

void sim_timer_end(struct engine *e, struct sim_timer *timer)
{
    if (!timer->cb)
        return;
    e->timers[timer->id] = NULL;
    if (e->n_free_timers == e->cap_free_timers)
        e->free_timers = memory_grow(e->free_timers, &e->cap_free_timers, sizeof *e->free_timers);
    e->free_timers[e->n_free_timers++] = timer->id;
    timer->cb = NULL;
}

void sim_timer_due(struct engine *e, struct sim_timer *timer)
{
    e->internal++;
    if (timer->queued_ps != e->now_ps)
        return; // stale: an earlier entry has served it
    timer->queued_ps = PS_NEVER;
    if (timer->at_ps == PS_NEVER)
        return;
    if (timer->at_ps > e->now_ps) {
        sim_timer_start(e, timer, timer->at_ps);
        return;
    }
    e->internal--; // it fires
    timer->at_ps = PS_NEVER;
    timer->cb(e, timer, SIM_TIMER);
}
