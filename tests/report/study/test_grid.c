// SPDX-License-Identifier: MIT
// Axes, their combinations, and mistakes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/study/value_grid.h"

static void test_combinations(void **state)
{
    (void)state;
    struct grid grid = {0};
    struct err err = {0};
    static const char *const seeds[] = {"1", "2"};
    assert_int_equal(grid_vary(&grid, "a=1,2,3", &err), 0);
    assert_int_equal(grid_vary(&grid, "b[0].c={\"x\":[1,2]},\"q,r\";d=7,7", &err), 0);
    assert_int_equal(grid_add(&grid, "seed", seeds, 2, &err), 0);
    assert_int_equal(grid_points(&grid, &err), 12);
    assert_int_equal(grid_paths(&grid), 4);
    assert_string_equal(grid_path(&grid, 1), "b[0].c");
    static const char *const wanted[] = {
        "a=1, b[0].c={\"x\":[1,2]}, d=7, seed=1", "a=1, b[0].c={\"x\":[1,2]}, d=7, seed=2",
        "a=1, b[0].c=\"q,r\", d=7, seed=1",       "a=1, b[0].c=\"q,r\", d=7, seed=2",
        "a=2, b[0].c={\"x\":[1,2]}, d=7, seed=1",
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *label = grid_label(&grid, i, NULL);
        assert_string_equal(label, wanted[i]);
        free(label);
    }
    assert_string_equal(grid_value(&grid, 11, 0), "3");
    assert_string_equal(grid_value(&grid, 11, 3), "2");
    char *label = grid_label(&grid, 0, "a");
    assert_string_equal(label, "b[0].c={\"x\":[1,2]}, d=7, seed=1");
    free(label);
    assert_int_equal(grid_vary(&grid, "e=5,5;f=1,2", &err), 0);
    assert_int_equal(err.n_errors, 0);
    grid_free(&grid);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t n;
        const char *first, *last;
    } rows[] = {{"1KB:8KB", 4, "1000B", "8000B"},   {"1KB:9KB", 5, "1000B", "9000B"},
                {"8:128M", 25, "8B", "134217728B"}, {"1K:1m", 11, "1024B", "1048576B"},
                {"1.5K:3KiB", 2, "1536B", "3072B"}, {"1MiB:64MiB:4", 4, "1048576B", "67108864B"},
                {"5B:5B", 1, "5B", "5B"},           {"1KB:1GB", 21, "1000B", "1000000000B"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grid grid = {0};
        struct err err = {0};
        assert_int_equal(grid_sizes(&grid, "w", rows[i].text, &err), 0);
        assert_int_equal(grid_points(&grid, &err), rows[i].n);
        assert_string_equal(grid_value(&grid, 0, 0), rows[i].first);
        assert_string_equal(grid_value(&grid, rows[i].n - 1, 0), rows[i].last);
        grid_free(&grid);
    }
    static const char *const wrong[] = {"1KB",         "1KB:", "2KB:1KB", "0B:1KB", "1KB:1MB:1",
                                        "1KB:1MB:2:3", "a:b",  "1KX:1M",  "K:1M"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct grid grid = {0};
        struct err err = {0};
        assert_int_equal(grid_sizes(&grid, "w", wrong[i], &err), -1);
        assert_int_equal(err.n_errors, 1);
        err_free(&err);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } rows[] = {{"b", "is not PATH=VALUE"},
                {"=1", "is not PATH=VALUE"},
                {"b=", "the list of values is empty"},
                {"b=1,,2", "a value is empty"},
                {"b=1,2,1", "the value 1 is named twice"},
                {"b=1,2,1;c=3,4,3", "the value 1 is named twice with the same other values"},
                {"a=3", "a is varied twice"},
                {"b=1;b=2", "b is varied twice"},
                {"b=1,2;c=1", "c has 1 values"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct grid grid = {0};
        struct err err = {0};
        assert_int_equal(grid_vary(&grid, "a=1,2", &err), 0);
        assert_int_equal(grid_vary(&grid, rows[i].text, &err), -1);
        assert_int_equal(err.n_errors, 1);
        assert_non_null(strstr(err.items[0].text, rows[i].words));
        assert_int_equal(grid.n_axes, 1);
        err_free(&err);
        grid_free(&grid);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
