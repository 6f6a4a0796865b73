// SPDX-License-Identifier: MIT
// Tests of the engine (order, horizon, stop, batches, two engines in one process) and of the ends
// of the libev loop.
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "engine/engine.h"
#include "engine/loop.h"
#include "engine/timer.h"

struct seen {
    ps_t at_ps;
    enum event_kind kind;
    uint32_t node, port, payload;
};

struct log {
    struct engine engine;
    struct seen seen[128];
    size_t n;
    uint32_t stop_at; // the event with this payload stops the engine; 0 = none
};

static void note(void *ctx, uint64_t key)
{
    struct log *log = ctx;
    uint32_t load = event_payload(key);
    assert_true(log->n < 128);
    log->seen[log->n++] =
        (struct seen){log->engine.now_ps, event_kind(key), event_node(key), event_port(key), load};
    if (load && load == log->stop_at)
        engine_stop(&log->engine);
}

static void log_begin(struct log *log, uint64_t seed)
{
    *log = (struct log){0};
    engine_init(&log->engine, seed);
    log->engine.handlers[EVENT_DEPARTURE] = note;
    log->engine.handlers[EVENT_PAUSE] = note;
    log->engine.handlers[EVENT_ARRIVAL] = note;
    log->engine.handler_ctx = log;
}

// Push events 1 to n at 10, 20, 30, ... ps, from the last to the first.
static void push_ladder(struct log *log, uint32_t n)
{
    for (uint32_t i = n; i > 0; i--)
        engine_push(&log->engine, (ps_t)i * 10, event_key(5, EVENT_ARRIVAL, 2, i));
}

static void test_events_reach_their_handlers(void **state)
{
    (void)state;
    struct log log;
    log_begin(&log, 1);
    engine_push(&log.engine, 7, event_key(2, EVENT_ARRIVAL, 1, 30));
    engine_push(&log.engine, 7, event_key(2, EVENT_PAUSE, 4000, 20));
    engine_push(&log.engine, 7, event_key(2, EVENT_DEPARTURE, 9, 10));
    engine_push(&log.engine, 3, event_key(9, EVENT_ARRIVAL, 0, 40));
    assert_int_equal(engine_drain(&log.engine, 100), 4);
    static const struct seen want[] = {{3, EVENT_ARRIVAL, 9, 0, 40},
                                       {7, EVENT_DEPARTURE, 2, 9, 10},
                                       {7, EVENT_PAUSE, 2, 4000, 20},
                                       {7, EVENT_ARRIVAL, 2, 1, 30}};
    assert_int_equal(log.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(log.seen[i].at_ps, want[i].at_ps);
        assert_int_equal(log.seen[i].kind, want[i].kind);
        assert_int_equal(log.seen[i].node, want[i].node);
        assert_int_equal(log.seen[i].port, want[i].port);
        assert_int_equal(log.seen[i].payload, want[i].payload);
    }
    engine_free(&log.engine);
}

static void test_drain_in_batches(void **state)
{
    (void)state;
    struct log log;
    log_begin(&log, 1);
    push_ladder(&log, 25);
    assert_int_equal(engine_drain(&log.engine, 0), 0);
    assert_int_equal(engine_drain(&log.engine, 10), 10);
    assert_int_equal(log.engine.now_ps, 100);
    assert_int_equal(log.engine.events, 10);
    assert_int_equal(engine_drain(&log.engine, 10), 10);
    assert_int_equal(engine_drain(&log.engine, 10), 5);
    assert_int_equal(engine_drain(&log.engine, 10), 0);
    assert_int_equal(log.engine.events, 25);
    assert_int_equal(log.engine.now_ps, 250);
    for (uint32_t i = 0; i < 25; i++)
        assert_int_equal(log.seen[i].payload, i + 1);
    engine_free(&log.engine);
}

static void test_horizon(void **state)
{
    (void)state;
    struct log log;
    log_begin(&log, 1);
    push_ladder(&log, 9);
    log.engine.horizon_ps = 40; // inclusive
    assert_int_equal(engine_drain(&log.engine, 100), 4);
    assert_int_equal(log.engine.now_ps, 40);
    assert_int_equal(log.engine.queue.n, 5); // the others stay pending
    assert_int_equal(engine_drain(&log.engine, 100), 0);
    log.engine.horizon_ps = 69;
    assert_int_equal(engine_drain(&log.engine, 100), 2);
    log.engine.horizon_ps = PS_NEVER;
    assert_int_equal(engine_drain(&log.engine, 100), 3);
    for (uint32_t i = 0; i < 9; i++)
        assert_int_equal(log.seen[i].payload, i + 1);
    engine_free(&log.engine);
}

static void test_stop_ends_after_the_current_event(void **state)
{
    (void)state;
    struct log log;
    log_begin(&log, 1);
    push_ladder(&log, 9);
    log.stop_at = 4;
    assert_int_equal(engine_drain(&log.engine, 100), 4);
    assert_true(log.engine.stopped);
    assert_int_equal(engine_drain(&log.engine, 100), 0);
    assert_int_equal(log.engine.events, 4);
    assert_int_equal(log.engine.queue.n, 5);
    engine_free(&log.engine);
}

static void test_two_engines_do_not_meet(void **state)
{
    (void)state;
    struct log a, b;
    log_begin(&a, 1);
    log_begin(&b, 2);
    push_ladder(&a, 20);
    push_ladder(&b, 12);
    b.stop_at = 7;
    for (int turn = 0; turn < 20; turn++) {
        engine_drain(&a.engine, 1);
        engine_drain(&b.engine, 2);
    }
    assert_int_equal(a.engine.seed, 1);
    assert_int_equal(b.engine.seed, 2);
    assert_int_equal(a.n, 20);
    assert_int_equal(b.n, 7);
    assert_int_equal(a.engine.now_ps, 200);
    assert_int_equal(b.engine.now_ps, 70);
    assert_false(a.engine.stopped);
    engine_free(&b.engine);
    push_ladder(&a, 20);
    a.engine.now_ps = 0;
    assert_int_equal(engine_drain(&a.engine, 100), 20);
    engine_free(&a.engine);
}

/* ---- the loop ---- */

// A timer that restarts itself for ever.
struct endless {
    struct engine engine;
    struct sim_timer timer;
    struct loop_requests requests;
    bool ask_end, ask_progress;
    unsigned batches, calls;
};

static void on_tick(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct endless *w = timer->data;
    if (e->events > 100000) {
        if (w->ask_end)
            atomic_store(&w->requests.end, true);
        if (w->ask_progress)
            atomic_store(&w->requests.progress, true);
        w->ask_progress = false;
    }
    sim_timer_start(e, timer, e->now_ps + 1);
}

static void on_batch(void *ctx) { ((struct endless *)ctx)->batches++; }
static void on_progress(void *ctx) { ((struct endless *)ctx)->calls++; }

static enum loop_end loop_of(struct endless *w, struct loop_limits limits)
{
    struct loop_hooks hooks = {
        .ctx = w, .progress = on_progress, .batch = on_batch, .requests = &w->requests};
    return loop_run(&w->engine, &limits, &hooks);
}

static void endless_begin(struct endless *w)
{
    *w = (struct endless){0};
    engine_init(&w->engine, 1);
    sim_timer_init(&w->engine, &w->timer, 0, on_tick, w);
    sim_timer_start(&w->engine, &w->timer, 1);
}

static void test_loop_ends(void **state)
{
    (void)state;
    struct endless w;
    endless_begin(&w);
    w.engine.horizon_ps = 50000;
    assert_int_equal(loop_of(&w, (struct loop_limits){0}), LOOP_DONE);
    assert_int_equal(w.engine.events, 50000);
    assert_in_range(w.batches, 50000 / 4096 + 1, 50000 / 512 + 1); // a slow machine ends batches
                                                                   // early
    w.engine.horizon_ps = PS_NEVER;
    assert_int_equal(loop_of(&w, (struct loop_limits){.events = 61234}), LOOP_EVENT_LIMIT);
    assert_int_equal(w.engine.events, 61234);
    assert_int_equal(loop_of(&w, (struct loop_limits){.events = 61234}), LOOP_EVENT_LIMIT);
    assert_int_equal(w.engine.events, 61234);
    engine_free(&w.engine);
}

static void test_loop_requests(void **state)
{
    (void)state;
    struct endless w;
    endless_begin(&w);
    w.ask_end = true;
    assert_int_equal(loop_of(&w, (struct loop_limits){.wall_s = 20}), LOOP_INTERRUPTED);
    assert_true(w.engine.events < 200000);
    w.ask_end = false;
    w.ask_progress = true;
    atomic_store(&w.requests.end, false);
    assert_int_equal(loop_of(&w, (struct loop_limits){.events = 1000000}), LOOP_EVENT_LIMIT);
    assert_int_equal(w.calls, 1);
    engine_free(&w.engine);
}

static double wall_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// The limit counts from the start of its own run, even if the process has done other work since the
// previous run.
static void test_loop_wall_limit(void **state)
{
    (void)state;
    for (int run = 0; run < 2; run++) {
        struct endless w;
        endless_begin(&w);
        double start = wall_s();
        assert_int_equal(loop_of(&w, (struct loop_limits){.wall_s = 0.25}), LOOP_WALL_LIMIT);
        double took = wall_s() - start;
        assert_true(took > 0.2);
        assert_true(took < 5);
        engine_free(&w.engine);
        usleep(300000);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_reach_their_handlers),
        cmocka_unit_test(test_drain_in_batches),
        cmocka_unit_test(test_horizon),
        cmocka_unit_test(test_stop_ends_after_the_current_event),
        cmocka_unit_test(test_two_engines_do_not_meet),
        cmocka_unit_test(test_loop_ends),
        cmocka_unit_test(test_loop_requests),
        cmocka_unit_test(test_loop_wall_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
