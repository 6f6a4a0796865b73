// SPDX-License-Identifier: MIT
// Processes pending events in the order of the model.
#include "engine/engine.h"

#include <stdlib.h>

#include "engine/timer.h"

void engine_init(struct engine *e, uint64_t seed)
{
    *e = (struct engine){.seed = seed, .horizon_ps = PS_NEVER, .late_ps = -1};
}

void engine_free(struct engine *e)
{
    event_queue_free(&e->queue);
    for (uint32_t node = 0; node < e->n_timer_nodes; node++) {
        free(e->timers[node].slots);
        free(e->timers[node].free);
    }
    free(e->timers);
    *e = (struct engine){0};
}

void engine_note_late(struct engine *e, uint64_t key)
{
    uint64_t largest = engine_order_key(e);
    if (key > largest)
        return;
    e->late_ps = e->now_ps;
    e->late_key = largest;
}

#define SLOT_EVENTS 3
// identical ranks push their events in bursts, so narrow slots stay cheap to sort
#define SLOT_MAX_PS 4096

// Choose a slot width that holds SLOT_EVENTS events on average, but wide enough that the wheel
// covers twice the span.
void engine_shape(struct engine *e, size_t pending, ps_t span_ps)
{
    unsigned shift = 0;
    ps_t width = pending ? SLOT_EVENTS * span_ps / (ps_t)pending : 0;
    if (width > SLOT_MAX_PS)
        width = SLOT_MAX_PS;
    if (width < 2 * span_ps / WHEEL_SLOTS)
        width = 2 * span_ps / WHEEL_SLOTS;
    if (pending > 0)
        for (shift = 1; shift < 40 && (INT64_C(1) << shift) < width; shift++)
            continue;
    event_queue_shape(&e->queue, shift);
}

__attribute__((always_inline)) static inline void process(struct engine *e, struct event event)
{
    if (event_kind(event.key) == EVENT_TIMER) {
        const struct timer_table *table = &e->timers[event_node(event.key)];
        struct sim_timer *timer = table->slots[event_timer_id(event.key)];
        if (timer)
            sim_timer_due(e, timer);
        else
            e->internal++;
    } else {
        e->handlers[event_kind(event.key)](e->handler_ctx, event.key);
    }
}

size_t engine_drain(struct engine *e, size_t max)
{
    size_t done = 0;
    struct event event;
    while (done < max && event_queue_pop(&e->queue, &event)) {
        // The event is after the end of this run: keep it pending for a later one.
        if (event.at_ps > e->horizon_ps || (e->stopped && event.at_ps > e->now_ps)) {
            event_queue_push(&e->queue, event);
            break;
        }
        SIM_ASSERT(e, event_node(event.key), event.at_ps >= e->now_ps);
        e->now_ps = event.at_ps;
        e->now_key = event.key;
        done++;
        if (e->queue.ahead > 0) {
            event_queue_scout(&e->queue);
            e->hint(e->handler_ctx, event_queue_ahead(&e->queue));
        }
        process(e, event);
    }
    e->events += done;
    return done;
}
