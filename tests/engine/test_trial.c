// SPDX-License-Identifier: MIT
// Trials of two ways to process windows (engine/trial.c), with given times in place of a clock: the
// faster way has nearly all windows, whichever it is, although the work of a window changes, and
// the slower way costs little even if it takes a hundred times as long.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/shards_internal.h"

#define WINDOWS 60000

// Seconds of an event: `first` and `second` by the way, times the work at that window.
struct costs {
    double first, second;
    double (*work)(uint32_t window);
};

static double same(uint32_t window)
{
    (void)window;
    return 1;
}
// The first windows, in which connections are opened, take ten times as long.
static double falling(uint32_t window) { return window < 1000 ? 10 - 0.009 * window : 1; }

// Returns the time of all windows divided by that of the faster way alone.
static double ratio(const struct costs *c)
{
    struct trial t = {0};
    double spent = 0, best = 0, least = c->first < c->second ? c->first : c->second;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        bool first = trial_wants_alone(&t);
        uint64_t events = 100 + w * 7919 % 1000;
        double each = c->work(w) * (double)events, s = each * (first ? c->first : c->second);
        trial_note(&t, !first, s, events);
        spent += s;
        best += each * least;
    }
    return spent / best;
}

static void test_faster_way(void **state)
{
    static const struct costs costs[] = {{1, 1.2, same},  {1.2, 1, same},    {1, 3, same},
                                         {3, 1, same},    {1, 1.2, falling}, {1.2, 1, falling},
                                         {1, 4, falling}, {4, 1, falling}};
    (void)state;
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++)
        assert_true(ratio(&costs[i]) < 1.05);
}

// Of 60,000 windows some 40 begin the first way, and 8 in each turn of up to 8,192 try it.
static void test_slow_way_costs_little(void **state)
{
    (void)state;
    assert_true(ratio(&(struct costs){1, 100, same}) < 1.2);
    assert_true(ratio(&(struct costs){100, 1, same}) < 1.2);
}

// A way that becomes the faster one is found, and one that may not be chosen is not.
static double rising(uint32_t window) { return window < WINDOWS / 2 ? 1 : 5; }

static void test_change(void **state)
{
    struct trial t = {0}, never = {.never = true};
    uint32_t late = 0;
    (void)state;
    for (uint32_t w = 0; w < WINDOWS; w++) {
        bool first = trial_wants_alone(&t);
        assert_false(trial_wants_alone(&never));
        trial_note(&t, !first, first ? 2.0 : rising(w), 1);
        trial_note(&never, true, 5, 1);
        late += w > WINDOWS / 2 + 20000 && !first;
    }
    assert_true(late < 1000);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faster_way),
                                       cmocka_unit_test(test_slow_way_costs_little),
                                       cmocka_unit_test(test_change)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
