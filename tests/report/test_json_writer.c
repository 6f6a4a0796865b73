// SPDX-License-Identifier: MIT
// The writer makes the text that jansson makes of the same values, whatever they are; metrics.json
// without most of its messages is that of the whole one.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "report/json_writer.h"
#include "report/metrics_brief.h"

#define LAYOUT (JSON_INDENT(1) | JSON_REAL_PRECISION(10) | JSON_ENCODE_ANY)

static char *written(const json_t *value)
{
    struct text text;
    struct json_writer w;
    FILE *out = text_open(&text);
    json_writer_open(&w, out);
    json_writer_value(&w, value);
    json_writer_flush(&w);
    return text_close(out, &text);
}

static void assert_same(const json_t *value)
{
    char *expected = json_dumps(value, LAYOUT), *got = written(value);
    assert_string_equal(got, expected);
    free(expected);
    free(got);
}

static void assert_real(double value)
{
    json_t *real = json_real(value);
    assert_same(real);
    json_decref(real);
}

static void test_chosen_reals(void **state)
{
    (void)state;
    static const double values[] = {0,
                                    -0.0,
                                    1,
                                    -1,
                                    0.1,
                                    1.0 / 3,
                                    2.0 / 3,
                                    1e-4,
                                    9.9999e-5,
                                    0.00012345,
                                    1e9,
                                    1e10,
                                    9999999999.,
                                    9999999999.4,
                                    9999999999.5,
                                    9999999999.6,
                                    0.99999999999,
                                    0.999999999949,
                                    123456789.05,
                                    1234567890.5,
                                    1234567891.5,
                                    0.5,
                                    2.5,
                                    1e15,
                                    1e16,
                                    1e17,
                                    1e300,
                                    5e-324,
                                    1.7976931348623157e308,
                                    100,
                                    1200,
                                    1.0000000005,
                                    1.00000000005,
                                    0.00099999999995,
                                    0.000999999999949,
                                    3.0517578125e-05};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_real(values[i]);
        assert_real(-values[i]);
        assert_real(nextafter(values[i], 0));
        assert_real(nextafter(values[i], INFINITY) < INFINITY ? nextafter(values[i], INFINITY) : 1);
    }
}

// Reals of all sizes; decimal fractions, which end in the middle between two texts of ten digits;
// and ratios of integers, as most metrics are.
static void test_random_reals(void **state)
{
    (void)state;
    struct rng rng = rng_init(1, RNG_HINT, 0);
    for (int i = 0; i < 100000; i++) {
        double sign = rng_below(&rng, 2) ? 1 : -1, power = (double)rng_below(&rng, 40) - 20;
        double a = (double)rng_below(&rng, 1000000000), b = (double)rng_below(&rng, 1000000) + 1;
        assert_real(sign * (1 + a / 1e9) * pow(10, power));
        assert_real(a / b);
        assert_real((a * 100 + 5) / 1e11);                        // eleven digits, the last a 5
        assert_real((a + (double)rng_below(&rng, 64) / 64) / 64); // exact halves among them
    }
}

static void test_trees(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "{}",
        "[]",
        "[[],{},[[]],[{}]]",
        "{\"a\":{},\"b\":[],\"c\":[1,-1,0,9223372036854775807,-9223372036854775807],\"d\":null}",
        "{\"text\":\"a\\\"b\\\\c\\n\\u0001\\u00e9\\u20ac/\",\"\":\"\",\"k\\\"\\u00e9\":true}",
        "{\"one\":[{\"x\":1.5,\"y\":[false,{\"z\":\"q\"}]},2],\"two\":\"last\"}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        json_t *value = json_loads(texts[i], 0, NULL);
        assert_non_null(value);
        assert_same(value);
        json_decref(value);
    }
}

// More than the buffer of the writer holds, in many values and in one.
static void test_long(void **state)
{
    (void)state;
    char *text = malloc(3 * JSON_WRITER_BUFFER + 1);
    memset(text, 'x', 3 * JSON_WRITER_BUFFER);
    text[3 * JSON_WRITER_BUFFER] = '\0';
    json_t *list = json_array();
    for (int i = 0; i < 5000; i++)
        json_array_append_new(list, json_pack("{s:i, s:f}", "i", i, "r", i / 7.));
    json_array_append_new(list, json_string(text));
    text[JSON_WRITER_BUFFER] = '"';
    json_array_append_new(list, json_string(text));
    json_array_append_new(list, json_integer(1));
    assert_same(list);
    json_decref(list);
    free(text);
}

// What JSON does not have is left out with its key.
static void test_left_out(void **state)
{
    (void)state;
    struct text text;
    struct json_writer w;
    FILE *out = text_open(&text);
    json_writer_open(&w, out);
    json_writer_object(&w);
    json_writer_key(&w, "nan");
    json_writer_real(&w, (double)NAN);
    json_writer_key(&w, "infinite");
    json_writer_real(&w, (double)INFINITY);
    json_writer_key(&w, "bytes");
    json_writer_text(&w, "\xff\xfe");
    json_writer_key(&w, "nothing");
    json_writer_value(&w, NULL);
    json_writer_key(&w, "null");
    json_writer_null(&w);
    json_writer_end(&w);
    json_writer_flush(&w);
    char *got = text_close(out, &text);
    assert_string_equal(got, "{\n \"null\": null\n}");
    free(got);
}

// Returns the number of messages that metrics_brief() keeps of three, and what it has read. `more`:
// key of another object in the text, such as "measured"; NULL = none.
static size_t n_brief(const char *more, json_t **root)
{
    json_t *whole = json_pack("{s:s, s:[{s:i}, {s:i}, {s:i}], s:{s:i}}", "name", "\n \"flows\": [",
                              "flows", "id", 0, "id", 1, "id", 2, "flows_summary", "count", 3);
    if (more)
        json_object_set_new(whole, more, json_object());
    if (more)
        json_object_set_new(json_object_get(whole, more), "count", json_integer(1));
    char *text = written(whole);
    json_decref(whole);
    *root = metrics_brief(text);
    free(text);
    return json_array_size(json_object_get(*root, "flows"));
}

static void test_brief(void **state)
{
    (void)state;
    json_t *root;
    assert_int_equal(n_brief(NULL, &root), 1);
    assert_int_equal(
        json_integer_value(json_object_get(json_object_get(root, "flows_summary"), "count")), 3);
    assert_string_equal(json_string_value(json_object_get(root, "name")), "\n \"flows\": [");
    json_decref(root);
    assert_int_equal(n_brief("measured", &root), 3);
    json_decref(root);
    root = metrics_brief("{\"flows\": [{\"id\": 0}, {\"id\": 1}], \"b\": 1}"); // another layout
    assert_int_equal(json_array_size(json_object_get(root, "flows")), 2);
    json_decref(root);
    root = metrics_brief(
        "{\n \"flows\": [\n  {\n   \"id\": 0\n  }\n ],\n \"b\": [\n  {},\n  {}\n ],\n "
        "\"c\": 1\n}");
    assert_int_equal(json_array_size(json_object_get(root, "flows")), 1);
    assert_int_equal(json_array_size(json_object_get(root, "b")), 2);
    json_decref(root);
    assert_null(metrics_brief("{\n \"flows\": [\n  {\n   \"id\": 0\n  },\n  {\n"));
    assert_null(metrics_brief(""));
}

static void test_replaced(void **state)
{
    (void)state;
    static const char *const keys[] = {"trials", "explain", NULL}, *const none[] = {"name", NULL};
    static const char before[] = "{\n \"a\": 0.1234567890123,\n \"trials\": null,\n \"explain\": "
                                 "[\n  \"one\"\n ],\n \"z\": {\n  \"trials\": 1\n }\n}";
    json_t *from = json_pack("{s:s, s:[s,s]}", "trials", "completed", "explain", "two", "one"),
           *last = json_pack("{s:i}", "z", 3);
    char *now = metrics_replaced(before, keys, from), *end = metrics_replaced(now, keys + 2, from);
    assert_string_equal(now, "{\n \"a\": 0.1234567890123,\n \"trials\": \"completed\",\n "
                             "\"explain\": [\n  \"two\",\n  \"one\"\n ],\n \"z\": {\n  "
                             "\"trials\": 1\n }\n}");
    assert_string_equal(end, now);
    free(end);
    end = metrics_replaced(now, (const char *const[]){"z", NULL}, last);
    assert_string_equal(strstr(end, "\n \"z\""), "\n \"z\": 3\n}");
    assert_null(metrics_replaced(before, none, from));
    assert_null(metrics_replaced("{\"trials\": 1, \"explain\": []}", keys, from));
    free(now);
    free(end);
    json_decref(from);
    json_decref(last);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen_reals), cmocka_unit_test(test_random_reals),
        cmocka_unit_test(test_trees),        cmocka_unit_test(test_long),
        cmocka_unit_test(test_left_out),     cmocka_unit_test(test_brief),
        cmocka_unit_test(test_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
