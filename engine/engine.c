// SPDX-License-Identifier: MIT
// Drains pending events in the model's order.
#include "engine/engine.h"

#include <stdlib.h>

#include "engine/timer.h"

void engine_init(struct engine *e, uint64_t seed)
{
    *e = (struct engine){.seed = seed, .horizon_ps = PS_NEVER};
}

void engine_free(struct engine *e)
{
    event_queue_free(&e->queue);
    free(e->timers);
    free(e->free_timers);
    *e = (struct engine){0};
}

size_t engine_drain(struct engine *e, size_t max)
{
    size_t done = 0;
    struct event event;
    while (done < max && !e->stopped && event_queue_pop(&e->queue, &event)) {
        if (event.at_ps > e->horizon_ps) {
            event_queue_push(&e->queue, event);
            break;
        }
        SIM_ASSERT(e, event_node(event.key), event.at_ps >= e->now_ps);
        e->now_ps = event.at_ps;
        done++;
        if (event_kind(event.key) == EVENT_TIMER) {
            struct sim_timer *timer = e->timers[event_timer_id(event.key)];
            if (timer)
                sim_timer_due(e, timer);
        } else {
            e->handlers[event_kind(event.key)](e->handler_ctx, event_node(event.key),
                                               event_port(event.key), event_payload(event.key));
        }
    }
    e->events += done;
    return done;
}
