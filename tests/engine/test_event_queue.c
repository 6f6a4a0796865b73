// SPDX-License-Identifier: MIT
// Tests of the event queue against a plain sort by (time, key), and of the fields of the key.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "engine/event_queue.h"

#define EVENTS 4000

static int by_time_and_key(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void assert_event_equal(struct event got, struct event want)
{
    assert_int_equal(got.at_ps, want.at_ps);
    assert_true(got.key == want.key);
}

// Random events with `spread` different times; with 1 the key alone decides the order.
static void check_sorted(uint64_t seed, uint64_t spread)
{
    static struct event model[EVENTS];
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 0);
    struct event_queue q = {0};
    struct event e = {0};
    for (size_t i = 0; i < EVENTS; i++) {
        uint64_t key = (uint64_t)rng_u32(&rng) << 32 | rng_u32(&rng);
        model[i] = (struct event){(ps_t)rng_below(&rng, spread), key};
        event_queue_push(&q, model[i]);
    }
    qsort(model, EVENTS, sizeof *model, by_time_and_key);
    for (size_t i = 0; i < EVENTS; i++) {
        assert_true(event_queue_pop(&q, &e));
        assert_event_equal(e, model[i]);
    }
    assert_false(event_queue_pop(&q, &e));
    event_queue_free(&q);
}

// `n` events of one instant in random order, in a slot of the wheel.
static void check_simultaneous(uint64_t seed, size_t n)
{
    static struct event model[EVENTS];
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 0);
    struct event_queue q = {0};
    struct event e = {0};
    event_queue_shape(&q, 10);
    for (size_t i = 0; i < n; i++) {
        model[i] = (struct event){5000, (uint64_t)rng_u32(&rng) << 32 | rng_u32(&rng)};
        event_queue_push(&q, model[i]);
    }
    qsort(model, n, sizeof *model, by_time_and_key);
    for (size_t i = 0; i < n; i++) {
        assert_true(event_queue_pop(&q, &e));
        assert_event_equal(e, model[i]);
    }
    assert_false(event_queue_pop(&q, &e));
    event_queue_free(&q);
}

// Few events, which insertion sorts, and many, which are merged: whole runs and parts of them.
static void test_simultaneous_events_are_sorted(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 40; n++)
        check_simultaneous(n, n);
    for (size_t n = EVENTS - 70; n <= EVENTS; n++)
        check_simultaneous(n, n);
}

static void test_pops_are_sorted(void **state)
{
    (void)state;
    check_sorted(1, 1);
    check_sorted(2, 3);
    check_sorted(3, 100);
    check_sorted(4, UINT64_C(1) << 60);
}

// Random pushes and pops, compared with an array from which the smallest element is removed.
static void test_mixed_pushes_and_pops(void **state)
{
    (void)state;
    static struct event model[1000];
    struct rng rng = rng_init(5, RNG_WORKLOAD, 0);
    struct event_queue q = {0};
    size_t n = 0, pops = 0;
    for (unsigned round = 0; round < 60000; round++) {
        bool fill = (round / 700) % 2 == 0; // grow and shrink down to empty
        if (n < 1000 && (n == 0 || rng_below(&rng, 10) < (fill ? 7 : 3))) {
            model[n] = (struct event){(ps_t)rng_below(&rng, 50), rng_below(&rng, 1000)};
            event_queue_push(&q, model[n++]);
            continue;
        }
        size_t least = 0;
        for (size_t i = 1; i < n; i++)
            if (by_time_and_key(&model[i], &model[least]) < 0)
                least = i;
        struct event e = {0};
        assert_true(event_queue_pop(&q, &e));
        assert_event_equal(e, model[least]);
        model[least] = model[--n];
        pops++;
    }
    assert_int_equal(q.n, n);
    assert_true(pops > 25000);
    event_queue_free(&q);
    assert_int_equal(q.n, 0);
    assert_null(q.heap);
}

static void test_empty_queue(void **state)
{
    (void)state;
    struct event_queue q = {0};
    struct event e = {7, 7};
    assert_false(event_queue_pop(&q, &e));
    event_queue_push(&q, (struct event){3, 4});
    assert_true(event_queue_pop(&q, &e));
    assert_event_equal(e, (struct event){3, 4});
    assert_false(event_queue_pop(&q, &e));
    event_queue_free(&q);
}

// Extreme values of every field are preserved, and no field overflows into its neighbour.
static void test_key_fields(void **state)
{
    (void)state;
    static const uint32_t nodes[] = {0, 1, EVENT_MAX_NODES - 1};
    static const uint32_t ports[] = {0, 1, EVENT_MAX_NODE_PORTS - 1};
    static const uint32_t payloads[] = {0, 1, EVENT_MAX_PORTS - 1};
    static const enum event_kind kinds[] = {EVENT_DEPARTURE, EVENT_PAUSE, EVENT_ARRIVAL};
    for (unsigned i = 0; i < 81; i++) {
        uint32_t node = nodes[i % 3], port = ports[i / 3 % 3], payload = payloads[i / 9 % 3];
        enum event_kind kind = kinds[i / 27];
        uint64_t key = event_key(node, kind, port, payload);
        assert_int_equal(event_node(key), node);
        assert_int_equal(event_kind(key), kind);
        assert_int_equal(event_port(key), port);
        assert_int_equal(event_payload(key), payload);
    }
    uint64_t id = (UINT64_C(1) << 40) - 1, key = event_timer_key(EVENT_MAX_NODES - 1, id);
    assert_int_equal(event_node(key), EVENT_MAX_NODES - 1);
    assert_int_equal(event_kind(key), EVENT_TIMER);
    assert_true(event_timer_id(key) == id);
}

// Order at one instant: by node, then departure, pause, arrival, timer, then port.
static void test_order_of_simultaneous_events(void **state)
{
    (void)state;
    const uint64_t in_order[] = {
        event_key(4, EVENT_DEPARTURE, 0, 900),
        event_key(4, EVENT_DEPARTURE, 1, 5),
        event_key(4, EVENT_PAUSE, 0, 5),
        event_key(4, EVENT_PAUSE, 3, 1),
        event_key(4, EVENT_ARRIVAL, 0, 77),
        event_key(4, EVENT_ARRIVAL, 2, 3),
        event_timer_key(4, 0),
        event_timer_key(4, 1000000),
        event_key(5, EVENT_DEPARTURE, 0, 0),
        event_timer_key(5, 0),
    };
    enum { N = sizeof in_order / sizeof *in_order };
    for (unsigned turn = 0; turn < N; turn++) { // all orders of pushing
        struct event_queue q = {0};
        struct event e = {0};
        for (unsigned i = 0; i < N; i++)
            event_queue_push(&q, (struct event){10, in_order[(i * 7 + turn) % N]});
        event_queue_push(&q, (struct event){9, UINT64_MAX});
        event_queue_push(&q, (struct event){11, 0});
        assert_true(event_queue_pop(&q, &e));
        assert_int_equal(e.at_ps, 9);
        for (unsigned i = 0; i < N; i++) {
            assert_true(event_queue_pop(&q, &e));
            assert_event_equal(e, (struct event){10, in_order[i]});
        }
        event_queue_free(&q);
    }
}

// Returns true if the lookahead did not know the event yet, or if `e` is the event that it showed
// or one that was pushed later and comes before it.
static bool as_shown(struct event shown, struct event e, unsigned *known)
{
    *known += shown.key != 0;
    return shown.key == 0 || by_time_and_key(&e, &shown) <= 0;
}

// A fixed number of events, each pushed again at `ahead` plus a random time after it was popped,
// through a wheel with lookahead and through the heap. Both must give the same order. Returns the
// wheel's shift at the end.
static unsigned width_after(unsigned shift, uint64_t ahead, uint32_t population)
{
    struct event shown[EVENT_AHEAD] = {{0}};
    unsigned known = 0;
    struct event_queue wheel = {0}, heap = {0};
    struct rng rng = rng_init(ahead, RNG_WORKLOAD, shift);
    wheel.ahead = EVENT_AHEAD;
    event_queue_shape(&wheel, shift);
    for (uint32_t i = 0; i < population; i++) {
        struct event e = {(ps_t)rng_below(&rng, ahead), event_key(i, EVENT_ARRIVAL, 0, 0)};
        event_queue_push(&wheel, e);
        event_queue_push(&heap, e);
    }
    for (uint32_t n = 0; n < 400000; n++) {
        struct event a = {0}, b = {0};
        assert_true(event_queue_pop(&wheel, &a));
        assert_true(event_queue_pop(&heap, &b));
        assert_event_equal(a, b);
        assert_true(as_shown(shown[0], a, &known));
        event_queue_scout(&wheel);
        memcpy(shown, event_queue_ahead(&wheel), sizeof shown);
        for (unsigned i = 1; i < EVENT_AHEAD; i++)
            assert_true(shown[i].key == 0 || by_time_and_key(&shown[i - 1], &shown[i]) < 0);
        a.at_ps += (ps_t)(ahead + rng_below(&rng, ahead / 4 + 1));
        event_queue_push(&wheel, a);
        event_queue_push(&heap, a);
    }
    assert_true(shift == 0 ? known == 0 : known > 200000);
    shift = wheel.shift;
    event_queue_free(&wheel);
    event_queue_free(&heap);
    return shift;
}

static void test_width_follows(void **state)
{
    (void)state;
    assert_true(width_after(4, 10000000, 2000) > 6);      // a wheel of 0.3 us with events 10 us
                                                          // ahead must widen
    assert_int_equal(width_after(10, 1000000, 1000), 10); // 1 ns slots and one event per ns need no
                                                          // change
    assert_int_equal(width_after(0, 1000000, 1000), 0);
}

// Two million pending events, all beyond the reach of the first wheel (an all-to-all of 1024 ranks
// has that many). A change of the slot width moves every event once, so the test takes about a
// second. If the time were exponential in the number of changes, 700,000 events would take more
// than 30 s. The generous bound on CPU time also holds under sanitizers.
static void test_two_million_pending(void **state)
{
    (void)state;
    enum { N = 2000000 };
    struct event_queue q = {0};
    struct rng rng = rng_init(7, RNG_WORKLOAD, 0);
    event_queue_shape(&q, 4);
    for (uint32_t i = 0; i < N; i++) {
        ps_t at = 1000000000 + (ps_t)rng_below(&rng, UINT64_C(1) << 36);
        event_queue_push(&q, (struct event){at, event_key(i, EVENT_ARRIVAL, 0, 0)});
    }
    clock_t start = clock();
    struct event last = {0}, e = {0};
    for (uint32_t i = 0; i < N; i++) {
        assert_true(event_queue_pop(&q, &e));
        assert_true(by_time_and_key(&last, &e) < 0);
        last = e;
        if (i == N / 2)
            event_queue_shape(&q, 12); // half of the events are in the wheel, the heap and
                                       // `current`
    }
    assert_false(event_queue_pop(&q, &e));
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 60);
    event_queue_free(&q);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_million_pending),
        cmocka_unit_test(test_pops_are_sorted),
        cmocka_unit_test(test_simultaneous_events_are_sorted),
        cmocka_unit_test(test_mixed_pushes_and_pops),
        cmocka_unit_test(test_empty_queue),
        cmocka_unit_test(test_key_fields),
        cmocka_unit_test(test_order_of_simultaneous_events),
        cmocka_unit_test(test_width_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
