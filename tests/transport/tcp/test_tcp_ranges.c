// SPDX-License-Identifier: MIT
// A set of byte ranges: a table of insertions, and random segments against a plain array.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "transport/tcp/ranges.h"

static void test_table(void **state)
{
    (void)state;
    static const struct {
        struct byte_range in, out; // added; the range that then covers it
        int added;
        size_t n;
    } rows[] = {
        {{20, 30}, {20, 30}, 1, 1}, {{40, 50}, {40, 50}, 1, 2}, // apart
        {{20, 30}, {20, 30}, 0, 2},                             // again
        {{22, 25}, {20, 30}, 0, 2},                             // a part
        {{50, 60}, {40, 60}, 1, 2},                             // behind
        {{10, 20}, {10, 30}, 1, 2},                             // before
        {{30, 40}, {10, 60}, 1, 1},                             // between
        {{80, 90}, {80, 90}, 1, 2}, {{0, 5}, {0, 5}, 1, 3},
    };
    struct byte_ranges ranges = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int added = -1;
        struct byte_range out = ranges_add(&ranges, rows[i].in, &added);
        assert_int_equal(added, rows[i].added);
        assert_int_equal(out.start, rows[i].out.start);
        assert_int_equal(out.end, rows[i].out.end);
        assert_int_equal(ranges.n, rows[i].n);
    }
    assert_int_equal(ranges_take(&ranges, 0), 5);
    assert_int_equal(ranges_take(&ranges, 5), 5); // a gap
    assert_int_equal(ranges_take(&ranges, 10), 60);
    assert_int_equal(ranges_take(&ranges, 80), 90);
    assert_int_equal(ranges_take(&ranges, 90), 90); // empty
    ranges_free(&ranges);
}

// Segments of 10 bytes arrive in any order and repeatedly.
static void test_random(void **state)
{
    (void)state;
    enum { N = 500, BYTES = 10 };
    struct rng rng = rng_init(11, RNG_WORKLOAD, 0);
    for (unsigned round = 0; round < 20; round++) {
        struct byte_ranges ranges = {0};
        static int there[N];
        memset(there, 0, sizeof there);
        for (unsigned step = 0; step < 1500; step++) {
            uint64_t i = rng_below(&rng, N);
            int added;
            struct byte_range all =
                ranges_add(&ranges, (struct byte_range){i * BYTES, (i + 1) * BYTES}, &added);
            assert_int_equal(added, !there[i]);
            there[i] = 1;
            uint64_t low = i, high = i + 1;
            while (low > 0 && there[low - 1])
                low--;
            while (high < N && there[high])
                high++;
            assert_int_equal(all.start, low * BYTES);
            assert_int_equal(all.end, high * BYTES);
        }
        for (size_t i = 0; i + 1 < ranges.n; i++)
            assert_true(ranges.at[i].end < ranges.at[i + 1].start);
        ranges_free(&ranges);
        assert_null(ranges.at);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_table), cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
