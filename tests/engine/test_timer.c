// SPDX-License-Identifier: MIT
// Tests of simulated timers: deadlines moved later and earlier, stop, repeat, end, and many timers
// at one instant.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "engine/engine.h"
#include "engine/timer.h"

#define FIRED_MAX 64

// The times at which timers fired, and what a callback does next.
struct log {
    struct {
        ps_t at_ps;
        uint32_t node;
    } fired[FIRED_MAX];
    size_t n;
    void (*then)(struct engine *e, struct sim_timer *timer);
};

static void on_fire(struct engine *e, struct sim_timer *timer, int revents)
{
    struct log *log = timer->data;
    assert_int_equal(revents, SIM_TIMER);
    assert_false(sim_timer_active(timer)); // a timer that fires is stopped
    assert_true(log->n < FIRED_MAX);
    log->fired[log->n].at_ps = e->now_ps;
    log->fired[log->n++].node = timer->node;
    if (log->then)
        log->then(e, timer);
}

struct world {
    struct engine engine;
    struct log log;
    struct sim_timer timer;
};

static void world_begin(struct world *w)
{
    *w = (struct world){0};
    engine_init(&w->engine, 1);
    sim_timer_init(&w->engine, &w->timer, 3, on_fire, &w->log);
}

// Run to the end and check that timers fired at exactly the `n` given times.
static void world_expect(struct world *w, size_t n, const ps_t *times)
{
    engine_drain(&w->engine, 1000000);
    assert_int_equal(w->log.n, n);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(w->log.fired[i].at_ps, times[i]);
    assert_int_equal(w->engine.queue.n, 0);
    engine_free(&w->engine);
}

static void test_fires_once_at_its_time(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    assert_false(sim_timer_active(&w.timer));
    sim_timer_start(&w.engine, &w.timer, 500);
    assert_true(sim_timer_active(&w.timer));
    world_expect(&w, 1, (ps_t[]){500});
}

// A later deadline only writes a field: one entry stays pending.
static void test_restart_later(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    for (ps_t at = 500; at <= 900; at++)
        sim_timer_start(&w.engine, &w.timer, at);
    assert_int_equal(w.engine.queue.n, 1);
    world_expect(&w, 1, (ps_t[]){900});
}

static void test_restart_earlier(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    sim_timer_start(&w.engine, &w.timer, 900);
    sim_timer_start(&w.engine, &w.timer, 500);
    sim_timer_start(&w.engine, &w.timer, 500);
    world_expect(&w, 1, (ps_t[]){500});
}

static void restart_at_900(struct engine *e, struct sim_timer *timer)
{
    if (e->now_ps < 900)
        sim_timer_start(e, timer, 900);
}

// The stale entry of 900 ps and the new entry come up at the same instant: one call.
static void test_stale_entry_at_the_same_instant(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    w.log.then = restart_at_900;
    sim_timer_start(&w.engine, &w.timer, 900);
    sim_timer_start(&w.engine, &w.timer, 500);
    world_expect(&w, 2, (ps_t[]){500, 900});
}

static void restart_at_2000(struct engine *e, struct sim_timer *timer)
{
    if (e->now_ps < 2000)
        sim_timer_start(e, timer, 2000);
}

// A stale entry has no effect: it must not arm the timer again.
static void test_stale_entry_pushes_nothing(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    w.log.then = restart_at_2000;
    sim_timer_start(&w.engine, &w.timer, 900);
    sim_timer_start(&w.engine, &w.timer, 500);
    engine_drain(&w.engine, 2);
    assert_int_equal(w.engine.now_ps, 900);
    assert_int_equal(w.engine.queue.n, 1);
    world_expect(&w, 2, (ps_t[]){500, 2000});
}

static void test_earlier_then_later_again(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    sim_timer_start(&w.engine, &w.timer, 900);
    sim_timer_start(&w.engine, &w.timer, 500);
    sim_timer_start(&w.engine, &w.timer, 700); // between two pending entries
    world_expect(&w, 1, (ps_t[]){700});
    world_begin(&w);
    sim_timer_start(&w.engine, &w.timer, 900);
    sim_timer_start(&w.engine, &w.timer, 500);
    sim_timer_start(&w.engine, &w.timer, 1000); // after both of them
    world_expect(&w, 1, (ps_t[]){1000});
}

static void test_stop(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    sim_timer_start(&w.engine, &w.timer, 500);
    sim_timer_stop(&w.timer);
    assert_false(sim_timer_active(&w.timer));
    world_expect(&w, 0, NULL);
    world_begin(&w); // restarted later than its pending entry
    sim_timer_start(&w.engine, &w.timer, 500);
    sim_timer_stop(&w.timer);
    sim_timer_start(&w.engine, &w.timer, 600);
    world_expect(&w, 1, (ps_t[]){600});
    world_begin(&w); // restarted earlier than its pending entry
    sim_timer_start(&w.engine, &w.timer, 500);
    sim_timer_stop(&w.timer);
    sim_timer_start(&w.engine, &w.timer, 400);
    world_expect(&w, 1, (ps_t[]){400});
}

static void three_times(struct engine *e, struct sim_timer *timer)
{
    if (((struct log *)timer->data)->n < 3)
        sim_timer_start(e, timer, e->now_ps + 100);
}

static void test_again(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    w.log.then = three_times;
    w.engine.now_ps = 50;
    sim_timer_start(&w.engine, &w.timer, 150);
    world_expect(&w, 3, (ps_t[]){150, 250, 350});
}

static void once_more_now(struct engine *e, struct sim_timer *timer)
{
    if (((struct log *)timer->data)->n < 2)
        sim_timer_start(e, timer, e->now_ps);
}

static void test_start_at_now_fires_in_the_same_instant(void **state)
{
    (void)state;
    struct world w;
    world_begin(&w);
    w.log.then = once_more_now;
    sim_timer_start(&w.engine, &w.timer, 500);
    world_expect(&w, 2, (ps_t[]){500, 500});
}

// The entry of an ended timer calls nothing. The timer's id is reused, and the old entry must not
// fire the new timer.
static void test_end(void **state)
{
    (void)state;
    struct world w;
    struct sim_timer other, zeroed = {0};
    world_begin(&w);
    sim_timer_start(&w.engine, &w.timer, 500);
    uint32_t id = w.timer.id;
    sim_timer_end(&w.engine, &w.timer);
    sim_timer_end(&w.engine, &w.timer); // ending twice is safe, also when zeroed
    sim_timer_end(&w.engine, &zeroed);
    sim_timer_init(&w.engine, &other, 8, on_fire, &w.log);
    assert_int_equal(other.id, id);
    sim_timer_start(&w.engine, &other, 700);
    world_expect(&w, 1, (ps_t[]){700});
    world_begin(&w);
    sim_timer_start(&w.engine, &w.timer, 500);
    sim_timer_end(&w.engine, &w.timer);
    world_expect(&w, 0, NULL);
}

// At one instant timers fire in order of their nodes, whatever the order of their starts.
static void test_many_at_one_instant(void **state)
{
    (void)state;
    struct engine e;
    struct log log = {0};
    struct sim_timer timers[FIRED_MAX];
    engine_init(&e, 1);
    for (uint32_t i = 0; i < FIRED_MAX; i++) {
        sim_timer_init(&e, &timers[i], i * 29 % FIRED_MAX, on_fire, &log);
    }
    for (uint32_t i = 0; i < FIRED_MAX; i++) // some of them are first started with an earlier
                                             // deadline
        sim_timer_start(&e, &timers[i * 13 % FIRED_MAX], i % 3 ? 1000 : 2000);
    for (uint32_t i = 0; i < FIRED_MAX; i++)
        sim_timer_start(&e, &timers[i * 5 % FIRED_MAX], 1000);
    engine_drain(&e, 100000);
    assert_int_equal(log.n, FIRED_MAX);
    for (uint32_t i = 0; i < FIRED_MAX; i++) {
        assert_int_equal(log.fired[i].node, i);
        assert_int_equal(log.fired[i].at_ps, 1000);
    }
    engine_free(&e);
}

struct model {
    ps_t due_ps[16]; // PS_NEVER = stopped
    uint64_t wrong, fired;
    struct sim_timer timers[16], driver;
    struct rng rng;
    unsigned moves;
};

static void on_model(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct model *m = timer->data;
    size_t i = (size_t)(timer - m->timers);
    m->wrong += m->due_ps[i] != e->now_ps;
    m->due_ps[i] = PS_NEVER;
    m->fired++;
}

// Random starts and stops every few picoseconds. No timer may fire late.
static void on_driver(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct model *m = timer->data;
    for (size_t i = 0; i < 16; i++)
        m->wrong += m->due_ps[i] < e->now_ps;
    for (unsigned k = 0; k < 3; k++) {
        size_t i = rng_below(&m->rng, 16);
        m->due_ps[i] = e->now_ps + 1 + (ps_t)rng_below(&m->rng, 60);
        if (rng_below(&m->rng, 4) == 0) {
            m->due_ps[i] = PS_NEVER;
            sim_timer_stop(&m->timers[i]);
        } else {
            sim_timer_start(e, &m->timers[i], m->due_ps[i]);
        }
    }
    if (--m->moves > 0)
        sim_timer_start(e, timer, e->now_ps + (ps_t)rng_below(&m->rng, 9));
}

static void test_random_moves_against_a_model(void **state)
{
    (void)state;
    struct engine e;
    struct model m = {.rng = rng_init(3, RNG_WORKLOAD, 1), .moves = 20000};
    engine_init(&e, 1);
    for (uint32_t i = 0; i < 16; i++) {
        m.due_ps[i] = PS_NEVER;
        sim_timer_init(&e, &m.timers[i], i, on_model, &m);
    }
    sim_timer_init(&e, &m.driver, 99, on_driver, &m);
    sim_timer_start(&e, &m.driver, 0);
    engine_drain(&e, SIZE_MAX);
    assert_int_equal(m.wrong, 0);
    assert_int_equal(m.moves, 0);
    assert_true(m.fired > 10000);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(m.due_ps[i], PS_NEVER);
    engine_free(&e);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fires_once_at_its_time),
        cmocka_unit_test(test_restart_later),
        cmocka_unit_test(test_restart_earlier),
        cmocka_unit_test(test_stale_entry_at_the_same_instant),
        cmocka_unit_test(test_stale_entry_pushes_nothing),
        cmocka_unit_test(test_earlier_then_later_again),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_start_at_now_fires_in_the_same_instant),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_many_at_one_instant),
        cmocka_unit_test(test_random_moves_against_a_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
