// SPDX-License-Identifier: MIT
// Ranges of packet numbers, compared with a table of all numbers.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "cli/replay/seen.h"
#include "engine/base/rng.h"

#define NUMBERS 200

static void test_order(void **state)
{
    struct seen seen = {0};
    (void)state;
    assert_true(seen_add(&seen, 5, 6));
    assert_false(seen_add(&seen, 5, 6));
    assert_true(seen_add(&seen, 6, 7));
    assert_int_equal(seen.n, 1);
    assert_true(seen_add(&seen, 9, 12));
    assert_true(seen_add(&seen, 3, 4));
    assert_int_equal(seen.n, 3);
    assert_false(seen_add(&seen, 10, 15)); // the begin is known, the end is not
    assert_true(seen_covers(&seen, 9, 15));
    assert_false(seen_covers(&seen, 9, 16));
    assert_false(seen_covers(&seen, 8, 10));
    assert_true(seen_add(&seen, 4, 10)); // joins all
    assert_int_equal(seen.n, 1);
    assert_true(seen_covers(&seen, 3, 15));
    assert_true(seen_add(&seen, -7, -6));
    assert_false(seen_add(&seen, -7, -6));
    seen_free(&seen);
}

// The answers are those of a table, as long as there are few gaps.
static void test_random(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct seen seen = {0};
        bool table[NUMBERS] = {false};
        for (unsigned i = 0; i < 400; i++) {
            uint64_t draw = hash_mix(1000 * seed + i);
            int64_t begin = (int64_t)(draw % (NUMBERS / 2)),
                    end = begin + 1 + (int64_t)((draw >> 32) % 4);
            bool covered = true;
            assert_int_equal(seen_add(&seen, begin, end), !table[begin]);
            for (int64_t at = begin; at < end; at++)
                table[at] = true;
            for (int64_t at = begin; at < begin + 10; at++)
                covered &= table[at];
            assert_int_equal(seen_covers(&seen, begin, begin + 10), covered);
        }
        seen_free(&seen);
    }
}

// With too many gaps the lowest one is closed.
static void test_gaps(void **state)
{
    struct seen seen = {0};
    (void)state;
    for (int64_t at = 0; at < 3 * SEEN_RANGES; at++)
        assert_true(seen_add(&seen, 10 * at, 10 * at + 1));
    assert_int_equal(seen.n, SEEN_RANGES);
    assert_false(seen_add(&seen, 5, 6));
    assert_true(seen_add(&seen, 30 * SEEN_RANGES - 15, 30 * SEEN_RANGES - 14));
    seen_free(&seen);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
