// SPDX-License-Identifier: MIT
// Tests of visits of state: what makes two saved forms equal, and what a shift by some periods
// leaves.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "engine/state.h"
#include "engine/timer.h"

struct thing {
    uint64_t constant;
    ps_t due_ps, free_ps, reported_ps;
    uint64_t sent;
    uint32_t level, cached;
    unsigned a : 3, b : 5;
    uint32_t drops;
};
#define F(member, kind) STATE_FIELD(struct thing, member, kind)
static const struct state_field thing_fields[] = {
    F(constant, CONFIG), F(due_ps, TIME),
    F(free_ps, PAST),    F(reported_ps, STAMP),
    F(sent, COUNT),      F(level, PLAIN),
    F(cached, SCRATCH),  STATE_BETWEEN(struct thing, "a b", cached, drops, PLAIN),
    F(drops, COUNT),
};
STATE_TABLE(thing_table, struct thing, thing_fields);

static const struct thing early = {.constant = 7,
                                   .due_ps = 1500,
                                   .free_ps = 900,
                                   .reported_ps = 40,
                                   .sent = 10,
                                   .level = 3,
                                   .cached = 1,
                                   .a = 5,
                                   .b = 17,
                                   .drops = 2};

static struct state save(struct thing *thing, ps_t now)
{
    struct state st = {.mode = STATE_SAVE, .now_ps = now};
    state_visit(&st, &thing_table, thing, 0);
    return st;
}

// True if a thing, saved one period of 1000 ps later, is the same as `early` at 1000 ps.
static bool returns(struct thing *later)
{
    struct thing first;
    memcpy(&first, &early, sizeof first);
    struct state a = save(&first, 1000), b = save(later, 2000);
    assert_int_equal(a.n, b.n);
    assert_int_equal(a.n_counts, b.n_counts);
    bool same = memcmp(a.bytes, b.bytes, a.n) == 0;
    for (size_t i = 0; i < a.n_counts; i++)
        same &= !a.stamps[i] || b.counts[i] - a.counts[i] == 0 || b.counts[i] - a.counts[i] == 1000;
    state_free(&a);
    state_free(&b);
    return same;
}

static void test_what_may_differ(void **state)
{
    (void)state;
    struct thing later;
    memcpy(&later, &early, sizeof later); // with the bits between its members
    later.due_ps += 1000;
    assert_true(returns(&later));
    later.sent += 123; // counts may grow
    later.drops += 1;
    later.cached = 99;    // has no meaning
    later.free_ps = 1999; // past both times
    later.constant = 8;   // not state
    later.reported_ps = 1040;
    assert_true(returns(&later));
}

static void test_what_must_be_equal(void **state)
{
    (void)state;
    struct thing good, bad;
    memcpy(&good, &early, sizeof good);
    good.due_ps += 1000;
    memcpy(&bad, &good, sizeof bad);
    bad.due_ps += 1; // a clock that is 1 ps late
    assert_false(returns(&bad));
    memcpy(&bad, &good, sizeof bad);
    bad.due_ps = early.due_ps; // a time that stays
    assert_false(returns(&bad));
    memcpy(&bad, &good, sizeof bad);
    bad.due_ps = PS_NEVER;
    assert_false(returns(&bad));
    memcpy(&bad, &good, sizeof bad);
    bad.free_ps = 2000; // the present is not past
    assert_false(returns(&bad));
    memcpy(&bad, &good, sizeof bad);
    bad.level++;
    assert_false(returns(&bad));
    memcpy(&bad, &good, sizeof bad);
    bad.b++;
    assert_false(returns(&bad));
    memcpy(&bad, &good, sizeof bad);
    bad.reported_ps += 500; // neither stays nor moves by the period
    assert_false(returns(&bad));
}

static void test_shift_by_three_periods(void **state)
{
    (void)state;
    struct thing first = early, thing = early;
    thing.due_ps += 1000;
    thing.sent += 11;
    thing.drops += 4;
    thing.free_ps = 2000;
    struct state a = save(&first, 1000), b = save(&thing, 2000);
    uint64_t growth[3];
    assert_int_equal(b.n_counts, 3);
    for (size_t i = 0; i < 3; i++)
        growth[i] = b.counts[i] - a.counts[i];
    b.mode = STATE_SHIFT;
    b.growth = growth;
    b.periods = 3;
    b.shift_ps = 3000;
    state_visit(&b, &thing_table, &thing, 0);
    assert_int_equal(b.at, 3);
    assert_int_equal(thing.due_ps, 1500 + 4000);
    assert_int_equal(thing.free_ps, 5000);
    assert_int_equal(thing.reported_ps, 40); // it has not moved in the period
    assert_int_equal(thing.sent, 10 + 4 * 11);
    assert_int_equal(thing.drops, 2 + 4 * 4);
    assert_int_equal(thing.level, 3);
    assert_int_equal(thing.a, 5);
    assert_int_equal(thing.b, 17);
    assert_int_equal(thing.cached, 1);
    state_free(&a);
    state_free(&b);
}

static void test_numbers_tokens_and_timers(void **state)
{
    (void)state;
    uint64_t una = 100, next = 107, token = 2;
    struct sim_timer timer = {.at_ps = 1200}, off = {.at_ps = PS_NEVER};
    const uint32_t numbers[] = {5, 4, 9};
    struct state st = {.mode = STATE_SAVE, .now_ps = 1000, .tokens = numbers, .n_tokens = 3};
    state_from(&st, &next, state_count(&st, &una));
    state_token(&st, &token);
    state_timer(&st, &timer);
    uint64_t saved[3];
    assert_int_equal(st.n, sizeof saved);
    memcpy(saved, st.bytes, sizeof saved);
    assert_int_equal(saved[0], 7); // counted from una
    assert_int_equal(saved[1], 9);
    assert_int_equal(saved[2], 200);
    const uint64_t growth[] = {50};
    const uint32_t renamed[] = {STATE_NO_TOKEN, STATE_NO_TOKEN, 1};
    st.mode = STATE_SHIFT;
    st.growth = growth;
    st.periods = 2;
    st.shift_ps = 600;
    st.tokens = renamed;
    state_from(&st, &next, state_count(&st, &una));
    state_token(&st, &token);
    state_timer(&st, &timer);
    state_timer(&st, &off);
    assert_int_equal(una, 200);
    assert_int_equal(next, 207);
    assert_int_equal(token, 1);
    assert_int_equal(timer.at_ps, 1800);
    assert_int_equal(off.at_ps, PS_NEVER);
    assert_int_equal(st.n_timers, 2);
    state_free(&st);
}

static void test_names_of_differences(void **state)
{
    (void)state;
    struct thing thing = early;
    struct state st = save(&thing, 1000);
    char name[64];
    state_name(&st, 0, name, sizeof name);
    assert_string_equal(name, "thing.due_ps of number 0");
    state_name(&st, 16, name, sizeof name);
    assert_string_equal(name, "thing.level of number 0");
    state_count_name(&st, 1, name, sizeof name);
    assert_string_equal(name, "thing.sent of number 0");
    state_free(&st);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_may_differ),
        cmocka_unit_test(test_what_must_be_equal),
        cmocka_unit_test(test_shift_by_three_periods),
        cmocka_unit_test(test_numbers_tokens_and_timers),
        cmocka_unit_test(test_names_of_differences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
