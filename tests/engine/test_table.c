// SPDX-License-Identifier: MIT
// Tables of keys: every key that was added is found, no other is, whatever their length, and names
// are stored once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/names.h"

#define KEYS 5000

static size_t text_of(char text[64], unsigned i)
{
    // lengths from 2 to 33 bytes: of keys that stand in their entries, and of longer ones
    return (size_t)snprintf(text, 64, "%u%.*s", i, (int)(i % 32),
                            "................................");
}

static void test_keys(void **state)
{
    (void)state;
    struct table t = {0};
    char text[64];
    assert_int_equal(table_find(&t, "x", 1), 0);
    for (unsigned i = 0; i < KEYS; i++) {
        size_t bytes = text_of(text, i), *place = table_at(&t, text, bytes);
        assert_int_equal(*place, 0);
        *place = i + 1;
    }
    for (unsigned i = 0; i < KEYS; i++) {
        size_t bytes = text_of(text, i);
        assert_int_equal(table_find(&t, text, bytes), i + 1);
        assert_int_equal(*table_at(&t, text, bytes), i + 1);
        text[bytes++] = '!';
        assert_int_equal(table_find(&t, text, bytes), 0);
    }
    assert_int_equal(t.n, KEYS);
    table_free(&t);
}

static void test_pairs(void **state)
{
    (void)state;
    struct table t = {0};
    for (uint64_t a = 0; a < 100; a++)
        for (uint64_t b = 0; b < 100; b++) {
            size_t *place = table_pair(&t, a << 32, b);
            assert_int_equal(*place, 0);
            *place = 1 + a * 100 + b;
        }
    for (uint64_t a = 0; a < 100; a++)
        for (uint64_t b = 0; b < 100; b++)
            assert_int_equal(*table_pair(&t, a << 32, b), 1 + a * 100 + b);
    table_free(&t);
}

static void test_names(void **state)
{
    (void)state;
    struct name_pool pool = {0};
    const char *kept[200];
    char text[64];
    for (unsigned i = 0; i < 200; i++) {
        text_of(text, i);
        kept[i] = name_keep(&pool, text);
        assert_string_equal(kept[i], text);
    }
    for (unsigned i = 0; i < 200; i++) {
        text_of(text, i);
        assert_ptr_equal(name_keep(&pool, text), kept[i]);
    }
    assert_null(name_keep(&pool, NULL));
    assert_string_equal(name_keep(&pool, ""), "");
    names_free(&pool);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
