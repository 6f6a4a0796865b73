// SPDX-License-Identifier: MIT
// Tests of the search for a period in the deliveries at one rank.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/skip/watch.h"

static struct skip_watch w;

// Deliver `n` messages whose gaps are gaps[0], .., gaps[period - 1], again and again.
static ps_t deliver(ps_t now, const ps_t *gaps, size_t period, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        now += gaps[i % period];
        skip_watch_note(&w, 7, 1000, 50, now);
    }
    return now;
}

static void test_periods(void **state)
{
    (void)state;
    static const ps_t gaps[] = {10, 20, 30, 40, 11, 21, 31, 41};
    for (size_t period = 1; period <= 8; period++) {
        skip_watch_begin(&w, 3);
        deliver(0, gaps, period, 2 * period); // the first gap is from 0
        assert_int_equal(skip_watch_period(&w), 0);
        deliver(w.last_ps, gaps, period, period + 2);
        assert_int_equal(skip_watch_period(&w), period);
        assert_true(skip_watch_repeats(&w, (uint32_t)period));
    }
}

// A long period is believed after WATCH_CONVINCED deliveries, one that is too long never.
static void test_long_periods(void **state)
{
    (void)state;
    static ps_t gaps[WATCH_SIGNS];
    for (size_t i = 0; i < WATCH_SIGNS; i++)
        gaps[i] = (ps_t)(1000 + i);
    skip_watch_begin(&w, 3);
    deliver(0, gaps, 1000, 1000 + WATCH_CONVINCED);
    assert_int_equal(skip_watch_period(&w), 0);
    deliver(w.last_ps, gaps + WATCH_CONVINCED, 900, 20); // some hashes collide
    assert_int_equal(skip_watch_period(&w), 1000);
    skip_watch_begin(&w, 3);
    deliver(0, gaps, WATCH_SIGNS, 3 * WATCH_SIGNS);
    assert_int_equal(skip_watch_period(&w), 0);
}

// One delivery that is 1 ps late, of another size or age, or from another rank ends the repetition.
static void test_what_is_near(void **state)
{
    (void)state;
    static const ps_t gap = 100;
    for (int what = 0; what < 5; what++) {
        skip_watch_begin(&w, 3);
        ps_t now = deliver(0, &gap, 1, 10);
        assert_int_equal(skip_watch_period(&w), 1);
        skip_watch_note(&w, what == 1 ? 8 : 7, what == 2 ? 999 : 1000, what == 3 ? 51 : 50,
                        now + gap + (what == 0));
        assert_int_equal(skip_watch_repeats(&w, 1), what == 4);
        assert_int_equal(skip_watch_period(&w), what == 4);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_periods),
        cmocka_unit_test(test_long_periods),
        cmocka_unit_test(test_what_is_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
