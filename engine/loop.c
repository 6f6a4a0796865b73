// SPDX-License-Identifier: MIT
// Runs the engine under libev. A batch of 4096 events per idle callback keeps libev's overhead
// below 0.5 %. Where single events do much work (such as the start of a large collective), a batch
// ends early, by wall time, so that a signal is handled within a fraction of a second.
#include "engine/loop.h"
#include "engine/base/clock.h"

#include <ev.h>
#include <stdlib.h>
#include <time.h>

#include "engine/base/memory.h"
#include "engine/shards.h"

#define LOOP_BATCH 4096
#define LOOP_CHUNK 512    // events between two readings of the clock
#define LOOP_BATCH_S 0.02 // wall time after which a batch ends
#define PACE_S 0.01       // a paced run waits this long for the clock

struct loop {
    struct engine *engine;
    const struct loop_limits *limits;
    const struct loop_hooks *hooks;
    bool limited;   // the event limit is reached; the run ends after the current instant
    double began_s; // wall time of the start
    ev_idle idle;
    ev_timer pace;
    enum loop_end end;
};

static void loop_finish(struct ev_loop *ev, enum loop_end end)
{
    struct loop *loop = ev_userdata(ev);
    loop->end = end;
    ev_break(ev, EVBREAK_ALL);
}

// Request the end of the run. Several processes must agree on it first. Returns true if the run
// ends now.
static bool want_end(struct ev_loop *ev, enum loop_end end)
{
    const struct loop *loop = ev_userdata(ev);
    struct shards *p = loop->engine->shards;
    if (!shards_is_shared(p)) {
        loop_finish(ev, end);
        return true;
    }
    p->wanted = p->wanted == LOOP_DONE ? end : p->wanted;
    return false;
}

// Process windows of a simulation in shards until the engine has processed `events` events, or the
// wall time of a batch is used up.
static bool drain_windows(const struct engine *e, uint64_t events, double until)
{
    while (e->events < events && monotonic_s() < until)
        if (!shards_step(e->shards, events - e->events))
            return false;
    return true;
}

// Process at most `max` events, in chunks until the wall time of a batch is used up. Returns false
// when no event is left.
static bool drain_batch(struct engine *e, size_t max)
{
    double until = monotonic_s() + LOOP_BATCH_S;
    if (e->shards)
        return drain_windows(e, e->events + max, until);
    for (size_t done = 0; done < max;) {
        size_t want = max - done < LOOP_CHUNK ? max - done : LOOP_CHUNK;
        if (engine_drain(e, want) < want)
            return false;
        done += want;
        if (monotonic_s() > until)
            break;
    }
    return true;
}

// Process a batch, up to the simulated time that the pace allows. Returns false when no event is
// left.
static bool paced_batch(struct ev_loop *ev, size_t want)
{
    struct loop *loop = ev_userdata(ev);
    struct engine *e = loop->engine;
    ps_t end = e->horizon_ps;
    double allowed = loop->limits->pace_ps * (monotonic_s() - loop->began_s);
    if (loop->limits->pace_ps == 0 || allowed >= (double)end)
        return drain_batch(e, want);
    // Limit the batch to the simulated time that is due by the wall clock.
    e->horizon_ps = (ps_t)allowed;
    bool more = drain_batch(e, want);
    e->horizon_ps = end;
    if (!more && !e->stopped && e->queue.n > 0) {
        // All events that are due have been processed: wait for the clock without polling it.
        ev_idle_stop(ev, &loop->idle);
        ev_timer_start(ev, &loop->pace);
        return true;
    }
    return more;
}

// Act on requests (struct loop_requests). Returns false if the run is to end.
static bool requests_obey(struct ev_loop *ev)
{
    struct loop *loop = ev_userdata(ev);
    struct loop_requests *requests = loop->hooks->requests;
    if (!requests)
        return true;
    if (atomic_exchange(&requests->progress, false) && loop->hooks->progress)
        loop->hooks->progress(loop->hooks->ctx);
    if (!atomic_load(&requests->end))
        return true;
    return !want_end(ev, LOOP_INTERRUPTED);
}

static void on_pace(struct ev_loop *ev, ev_timer *w, int revents)
{
    (void)revents;
    struct loop *loop = ev_userdata(ev);
    ev_timer_stop(ev, w);
    ev_timer_set(w, PACE_S, 0.);
    if (requests_obey(ev))
        ev_idle_start(ev, &loop->idle);
}

// Returns the reason for the end of a run that has no events left.
static enum loop_end end_of(const struct loop *loop)
{
    const struct shards *p = loop->engine->shards;
    bool limited = loop->limited;
    if (shards_is_shared(p)) {
        if (p->agreed != LOOP_DONE)
            return p->agreed;
        limited = p->limit_events > 0 && engine_model_events(loop->engine) >= p->limit_events;
    }
    return limited ? LOOP_EVENT_LIMIT : LOOP_DONE;
}

static void on_idle(struct ev_loop *ev, ev_idle *w, int revents)
{
    (void)w, (void)revents;
    struct loop *loop = ev_userdata(ev);
    struct engine *e = loop->engine;
    size_t want = LOOP_BATCH;
    // several processes count their events themselves
    uint64_t limit = shards_is_shared(e->shards) ? 0 : loop->limits->events,
             left = limit - engine_model_events(e);
    if (limit && !e->stopped && left < want)
        want = (size_t)left; // never more than the limit allows, because some events may be
                             // internal
    bool more = paced_batch(ev, want);
    if (limit && !e->stopped && engine_model_events(e) >= limit) {
        loop->limited = true; // finish the instant, so that both ways to handle departures end in
                              // the same state
        engine_stop(e);
    }
    if (loop->hooks->batch)
        loop->hooks->batch(loop->hooks->ctx);
    if (!requests_obey(ev))
        return;
    if (!more)
        loop_finish(ev, end_of(loop));
    else if (loop->hooks->memory_low && loop->hooks->memory_low(loop->hooks->ctx))
        want_end(ev, LOOP_MEMORY_LIMIT);
}

static void on_progress(struct ev_loop *ev, ev_timer *w, int revents)
{
    (void)w, (void)revents;
    struct loop *loop = ev_userdata(ev);
    loop->hooks->progress(loop->hooks->ctx);
}

static void on_wall_limit(struct ev_loop *ev, ev_timer *w, int revents)
{
    (void)w, (void)revents;
    want_end(ev, LOOP_WALL_LIMIT);
}

enum loop_end loop_run(struct engine *e, const struct loop_limits *limits,
                       const struct loop_hooks *hooks)
{
    if (limits->events && engine_model_events(e) >= limits->events)
        return LOOP_EVENT_LIMIT;
    struct loop loop = {
        .engine = e, .limits = limits, .hooks = hooks, .began_s = monotonic_s(), .end = LOOP_DONE};
    struct ev_loop *ev;
    while ((ev = ev_loop_new(EVFLAG_NOENV)) == NULL)
        memory_short(1 << 16);
    ev_set_userdata(ev, &loop);
    ev_timer progress, wall;
    ev_idle_init(&loop.idle, on_idle);
    ev_timer_init(&loop.pace, on_pace, PACE_S, 0.);
    ev_timer_init(&progress, on_progress, limits->progress_s, limits->progress_s);
    ev_timer_init(&wall, on_wall_limit, limits->wall_s, 0.);
    ev_idle_start(ev, &loop.idle);
    if (limits->progress_s > 0 && hooks->progress)
        ev_timer_start(ev, &progress);
    if (limits->wall_s > 0)
        ev_timer_start(ev, &wall);
    ev_run(ev, 0);
    ev_loop_destroy(ev);
    return loop.end;
}

// An allocator with the signature that libev expects, like realloc().
static void *ev_memory(void *old, long size)
{
    if (size > 0)
        return memory_resize(old, (size_t)size, 1);
    free(old);
    return NULL;
}

void loop_use_memory(void) { ev_set_allocator(ev_memory); }

void loop_on_failure(void (*failed)(const char *what)) { ev_set_syserr_cb(failed); }
