// SPDX-License-Identifier: MIT
// Threads on the cores of hosts: which thread runs at which time, and the speed of computations
// beside them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/cores/cores.h"

#define LOG 64

struct work {
    struct core_task task; // first
    struct core_thread *thread;
    int left; // repetitions
    ps_t takes_ps;
    char name;
};

static struct {
    char names[LOG];
    ps_t ends_ps[LOG];
    int n;
} done;

static void on_done(struct core_task *task, ps_t now)
{
    struct work *w = (struct work *)task;
    done.names[done.n] = w->name;
    done.ends_ps[done.n++] = now;
    if (--w->left > 0)
        core_run(w->thread, &w->task, w->takes_ps, now);
}

static void work_start(struct work *w, struct core_thread *t, char name, int n, ps_t takes_ps)
{
    *w = (struct work){
        .task = {.done = on_done}, .thread = t, .left = n, .takes_ps = takes_ps, .name = name};
    core_run(t, &w->task, takes_ps, 0);
}

// Run two threads of a host, three tasks of 10 and of 4, and return their order.
static const char *order_of(uint32_t cores, bool keeps)
{
    struct engine e;
    struct core_thread a, b;
    struct work x, y;
    engine_init(&e, 1);
    struct cores *c = cores_new(&e, 2, 2, cores);
    memset(&done, 0, sizeof done);
    core_thread_init(&a, c, 0);
    core_thread_init(&b, c, 1);
    a.keeps = keeps;
    work_start(&x, &a, 'a', 3, 10);
    work_start(&y, &b, 'b', 3, 4);
    while (engine_drain(&e, 100) > 0)
        ;
    assert_int_equal(cores_busy_ps(c, 0), 3 * 10 + 3 * 4);
    core_thread_end(&a);
    core_thread_end(&b);
    cores_free(c);
    engine_free(&e);
    return done.names;
}

static void test_order(void **state)
{
    (void)state;
    assert_string_equal(order_of(1, false), "ababab");
    assert_int_equal(done.ends_ps[5], 42);
    assert_string_equal(order_of(1, true), "aaabbb");
    assert_int_equal(done.ends_ps[2], 30);
    assert_string_equal(order_of(2, false), "bbabaa"); // at 4, 8, 10, 12, 20, 30
    assert_int_equal(done.ends_ps[5], 30);
    assert_string_equal(order_of(0, false), "bbabaa");
}

static ps_t begin_late(struct core_task *task, ps_t now)
{
    (void)task;
    return now + 1; // depends on when it begins
}

// A task that states its time when it gets a core.
static void test_begin(void **state)
{
    (void)state;
    struct engine e;
    struct core_thread a, b;
    struct work x, y;
    engine_init(&e, 1);
    struct cores *c = cores_new(&e, 2, 2, 1);
    memset(&done, 0, sizeof done);
    core_thread_init(&a, c, 0);
    core_thread_init(&b, c, 1);
    work_start(&x, &a, 'a', 1, 10);
    y = (struct work){.task = {.done = on_done, .begin = begin_late}, .left = 1, .name = 'b'};
    core_run(&b, &y.task, 0, 0);
    while (engine_drain(&e, 100) > 0)
        ;
    assert_string_equal(done.names, "ab");
    assert_int_equal(done.ends_ps[1], 10 + 11);
    core_thread_end(&a);
    core_thread_end(&b);
    cores_free(c);
    engine_free(&e);
}

static double speeds[4];
static void on_speed(void *ctx, uint32_t rank, double speed, ps_t now)
{
    (void)ctx;
    (void)now;
    speeds[rank] = speed;
}

// Two computations of a host with three cores, and up to three threads.
static void test_speed(void **state)
{
    (void)state;
    struct engine e;
    struct core_thread t[3];
    struct work w[3];
    engine_init(&e, 1);
    struct cores *c = cores_new(&e, 4, 2, 3);
    cores_watch(c, on_speed, NULL);
    for (int i = 0; i < 4; i++)
        speeds[i] = 1;
    cores_compute(c, 0, true, 0);
    cores_compute(c, 1, true, 0);
    assert_true(speeds[0] == 1);
    for (uint32_t i = 0; i < 3; i++) {
        core_thread_init(&t[i], c, i % 2);
        work_start(&w[i], &t[i], 'x', 1, 10);
        assert_true(speeds[0] == (2.0 - i) / 2 && speeds[1] == speeds[0]);
        assert_true(speeds[2] == 1 && speeds[3] == 1); // another host
    }
    while (engine_drain(&e, 100) > 0)
        ;
    assert_true(speeds[0] == 1 && cores_speed(c, 1) == 1);
    for (uint32_t i = 0; i < 3; i++)
        core_thread_end(&t[i]);
    cores_free(c);
    engine_free(&e);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_begin),
        cmocka_unit_test(test_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
