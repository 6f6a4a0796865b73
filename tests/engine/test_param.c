// SPDX-License-Identifier: MIT
// Tests of parameter tables and errors: values of every type, ranges, messages, suggestions,
// printing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/param.h"

struct settings {
    bool on;
    uint64_t count, bytes, rate;
    ps_t time;
    double ratio;
    int choice;
    const char *text;
    struct line_rate share;
    uint64_t required;
};

static const char *const choices[] = {"on_cnp", "on_tick", NULL};

#define FIELD(name) offsetof(struct settings, name)

static const struct param table[] = {
    PARAM_ROW("on", BOOL, FIELD(on), .def = "true", .help = "", .source = ""),
    PARAM_ROW("count", COUNT, FIELD(count), .def = "4", .min = "1", .max = "16", .help = "",
              .source = ""),
    PARAM_ROW("kmin", BYTES, FIELD(bytes), .def = "auto", .min = "64B", .max = "1MB",
              .can_auto = true, .help = "", .source = ""),
    PARAM_ROW("rate", RATE, FIELD(rate), .def = "100Gbps", .min = "1Mbps", .help = "",
              .source = ""),
    PARAM_ROW("time", TIME, FIELD(time), .def = "55us", .min = "1us", .max = "1s", .can_auto = true,
              .help = "", .source = ""),
    PARAM_ROW("g", RATIO, FIELD(ratio), .def = "0.00390625", .min = "0", .max = "1",
              .can_auto = true, .help = "", .source = ""),
    PARAM_ROW("update", ENUM, FIELD(choice), .def = "on_tick", .choices = choices, .help = "",
              .source = ""),
    PARAM_ROW("file", TEXT, FIELD(text), .def = "none", .help = "", .source = ""),
    PARAM_ROW("ai", LINE_RATE, FIELD(share), .def = "line/1000", .min = "1Kbps", .max = "line/2",
              .help = "", .source = ""),
    PARAM_ROW("required", COUNT, FIELD(required), .help = "", .source = ""),
};
#define N_TABLE (sizeof table / sizeof table[0])

static void test_defaults(void **state)
{
    (void)state;
    struct settings s;
    memset(&s, 0, sizeof s);
    s.required = 77;
    params_default(table, N_TABLE, &s);
    assert_true(s.on);
    assert_int_equal(s.count, 4);
    assert_true(s.bytes == PARAM_AUTO);
    assert_true(s.rate == UINT64_C(100000000000));
    assert_int_equal(s.time, 55000000);
    assert_true(s.ratio == 1.0 / 256);
    assert_int_equal(s.choice, 1);
    assert_string_equal(s.text, "none");
    assert_int_equal(s.share.bps, 0);
    assert_int_equal(s.share.divisor, 1000);
    assert_int_equal(s.required, 77);
}

// Set `name` to `text`; returns the printed value, or the error.
static const char *set(const char *name, const char *text, char *buf)
{
    struct settings s;
    struct err err = {0};
    char path[32] = "x.";
    memset(&s, 0, sizeof s);
    params_default(table, N_TABLE, &s);
    struct settings before = s;
    struct param param = param_find(table, N_TABLE, name);
    assert_non_null(param.name);
    if (param_set(&param, &s, text, strcat(path, name), &err) != 0) {
        assert_int_equal(err.n_errors, 1);
        assert_int_equal(err.n_items, 1);
        assert_false(err.items[0].warning);
        assert_memory_equal(&s, &before, sizeof s); // an error must not change any field
        strncpy(buf, err.items[0].text, 255);
    } else {
        assert_int_equal(err.n_items, 0);
        char value[PARAM_TEXT_MAX];
        strncpy(buf, param_text(&param, &s, value), 255);
    }
    err_free(&err);
    return buf;
}

static void test_set_and_print(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *printed;
    } cases[] = {
        {"on", "false", "false"},
        {"on", "true", "true"},
        {"count", "16", "16"},
        {"kmin", "900KB", "900KB"},
        {"kmin", "4096", "4KiB"},
        {"kmin", "auto", "auto"},
        {"rate", "0.5Gbps", "500Mbps"},
        {"time", "12.5us", "12.5us"},
        {"time", "auto", "auto"},
        {"g", "0.1", "0.1"},
        {"g", "1e-3", "0.001"},
        {"g", "0.0048828125", "0.0048828125"},
        {"g", "1", "1"},
        {"g", "auto", "auto"},
        {"update", "on_cnp", "on_cnp"},
        {"file", "a b.json", "a b.json"},
        {"ai", "40Mbps", "40Mbps"},
        {"ai", "line/5000", "line/5000"},
        {"ai", "line/2", "line/2"},
        {"required", "0", "0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buf[256] = "";
        assert_string_equal(set(cases[i].name, cases[i].text, buf), cases[i].printed);
    }
}

static void test_errors_name_place_and_mend(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text, *message;
    } cases[] = {
        {"on", "yes", "x.on: \"yes\" is not a boolean (write true or false)"},
        {"count", "1.5", "x.count: \"1.5\" is not a count (write it like 16)"},
        {"count", "auto", "x.count: \"auto\" is not a count (write it like 16)"},
        {"count", "0", "x.count: 0 is below the minimum 1"},
        {"count", "17", "x.count: 17 is above the maximum 16"},
        {"kmin", "900kb",
         "x.kmin: \"900kb\" is not a size, since b is a bit and B a byte: write \"900KB\""},
        {"kmin", "900KBytes", "x.kmin: \"900KBytes\" is not a size: write \"900KB\""},
        {"kmin", "9 kib",
         "x.kmin: \"9 kib\" is not a size, since b is a bit and B a byte: write \"9KiB\""},
        {"kmin", "many",
         "x.kmin: \"many\" is not a size (write it like \"128MB\", \"32MiB\" or 4096, or "
         "\"auto\")"},
        {"rate", "0.5GB/s",
         "x.rate: \"0.5GB/s\" is in bytes, and rates are in bits: write \"4Gbps\""},
        {"rate", "1.5 t", "x.rate: \"1.5 t\" is not a rate: write \"1.5Tbps\""},
        {"ai", "40 Mb/s", "x.ai: \"40 Mb/s\" is not a rate: write \"40Mbps\""},
        {"time", "5 Sec", "x.time: \"5 Sec\" is not a time: write \"5s\""},
        {"time", "0.5PS",
         "x.time: \"0.5PS\" is not a time (write it like \"12.5us\", or \"auto\")"},
        {"kmin", "2MB", "x.kmin: 2MB is above the maximum 1MB"},
        {"rate", "100GB", "x.rate: \"100GB\" is not a rate (write it like \"100Gbps\")"},
        {"rate", "1Kbps", "x.rate: 1Kbps is below the minimum 1Mbps"},
        {"time", "5", "x.time: \"5\" is not a time (write it like \"12.5us\", or \"auto\")"},
        {"time", "1ns", "x.time: 1ns is below the minimum 1us"},
        {"g", "2", "x.g: 2 is above the maximum 1; 2 % is 0.02"},
        {"g", "-0.5", "x.g: -0.5 is below the minimum 0"},
        {"g", "-1", "x.g: \"-1\" is not a number (write it like 0.5, or \"auto\")"},
        {"g", "nan", "x.g: \"nan\" is not a number (write it like 0.5, or \"auto\")"},
        {"g", "0x1", "x.g: \"0x1\" is not a number (write it like 0.5, or \"auto\")"},
        {"g", "1e999", "x.g: \"1e999\" is not a number (write it like 0.5, or \"auto\")"},
        {"g", "1.", "x.g: \"1.\" is not a number (write it like 0.5, or \"auto\")"},
        {"update", "on_tik",
         "x.update: \"on_tik\" is not one of on_cnp, on_tick; did you mean \"on_tick\"?"},
        {"update", "never", "x.update: \"never\" is not one of on_cnp, on_tick"},
        {"ai", "line/0",
         "x.ai: \"line/0\" is not a rate (write it like \"40Mbps\" or \"line/1000\")"},
        {"ai", "1bps", "x.ai: 1bps is below the minimum 1Kbps"},
        {"ai", "line", "x.ai: line is above the maximum line/2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char buf[256] = "";
        assert_string_equal(set(cases[i].name, cases[i].text, buf), cases[i].message);
    }
}

static void test_line_rate(void **state)
{
    (void)state;
    const uint64_t line = UINT64_C(25000000000);
    assert_int_equal(line_rate_bps((struct line_rate){40000000, 0}, line), 40000000);
    assert_int_equal(line_rate_bps((struct line_rate){0, 1000}, line), 25000000);
    assert_true(line_rate_bps((struct line_rate){0, 1}, line) == line);
}

static void test_find_and_names(void **state)
{
    (void)state;
    struct param found = param_find(table, N_TABLE, "g");
    assert_string_equal(found.name, "g");
    assert_int_equal(found.offset, table[5].offset);
    assert_null(param_find(table, N_TABLE, "G").name);
    assert_string_equal(param_type_name(PARAM_BYTES), "bytes");
    assert_string_equal(param_type_name(PARAM_ENUM), "one of");
}

struct outer {
    uint64_t before;
    struct middle {
        uint64_t first;
        struct inner {
            uint64_t x, y;
        } inner;
    } middle;
    uint64_t after;
};

static const struct param inner_table[] = {
    PARAM_ROW("x", COUNT, offsetof(struct inner, x), .def = "1"),
    PARAM_ROW("y", COUNT, offsetof(struct inner, y), .def = "2"),
    {.name = NULL},
};
static const struct param middle_table[] = {
    PARAM_ROW("first", COUNT, offsetof(struct middle, first), .def = "3"),
    {.include = inner_table, .offset = offsetof(struct middle, inner)},
    {.name = NULL},
};
static const struct param outer_table[] = {
    PARAM_ROW("before", COUNT, offsetof(struct outer, before), .def = "4"),
    {.include = middle_table, .offset = offsetof(struct outer, middle)},
    PARAM_ROW("after", COUNT, offsetof(struct outer, after), .def = "5"),
};
#define N_OUTER (sizeof outer_table / sizeof *outer_table)

static void test_tables_within_tables(void **state)
{
    (void)state;
    static const char *const order[] = {"before", "first", "x", "y", "after"};
    struct outer o = {0};
    struct err err = {0};
    params_default(outer_table, N_OUTER, &o);
    assert_int_equal(o.before, 4);
    assert_int_equal(o.middle.first, 3);
    assert_int_equal(o.middle.inner.x, 1);
    assert_int_equal(o.middle.inner.y, 2);
    assert_int_equal(o.after, 5);
    struct param_walk walk = params_walk(outer_table, N_OUTER);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        assert_string_equal(params_next(&walk)->name, order[i]);
    assert_null(params_next(&walk));
    assert_null(params_next(&walk));
    struct param y = param_find(outer_table, N_OUTER, "y");
    assert_int_equal(y.offset, offsetof(struct outer, middle.inner.y));
    assert_int_equal(param_set(&y, &o, "9", "y", &err), 0);
    assert_int_equal(o.middle.inner.y, 9);
    walk = params_walk(outer_table, 0);
    assert_null(params_next(&walk));
}

// The findings of a file keep their kind and order, and get the file's name once.
static void test_findings_of_a_file(void **state)
{
    (void)state;
    struct err own = {0}, all = {0};
    err_add(&own, "switch.buffer", "is missing");
    err_warn(&own, NULL, "late");
    err_add(&own, "a.json", "cannot be opened");
    err_add_all(&all, "a.json", &own);
    err_add_all(&all, NULL, &own);
    err_free(&own);
    static const char *const want[] = {
        "a.json: switch.buffer: is missing", "a.json: late", "a.json: cannot be opened",
        "switch.buffer: is missing",         "late",         "a.json: cannot be opened"};
    assert_int_equal(all.n_items, 6);
    assert_int_equal(all.n_errors, 4);
    for (size_t i = 0; i < all.n_items; i++) {
        assert_string_equal(all.items[i].text, want[i]);
        assert_int_equal(all.items[i].warning, i % 3 == 1);
    }
    err_free(&all);
}

static void test_near_miss(void **state)
{
    (void)state;
    static const char *const names[] = {"kmin",    "kmax",     "pmax", "routing",
                                        "rate_ai", "rate_hai", "g",    NULL};
    assert_string_equal(err_near_miss("kmni", names), "kmin");       // a swap counts as one change
    assert_string_equal(err_near_miss("kmaxx", names), "kmax");      // insertion
    assert_string_equal(err_near_miss("rotinq", names), "routing");  // two of six letters differ
    assert_null(err_near_miss("rotin", names));                      // two of five letters differ
    assert_string_equal(err_near_miss("pmax", names), "pmax");       // the nearest candidate, not
                                                                     // the first
    assert_string_equal(err_near_miss("rate_bi", names), "rate_ai"); // distance 1, although
                                                                     // rate_hai has distance 2
    assert_null(err_near_miss("headroom", names));
    assert_null(err_near_miss("k", names)); // replacing the whole word is not a suggestion
    assert_null(err_near_miss("", names));
    char long_word[200];
    memset(long_word, 'k', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    assert_null(err_near_miss(long_word, names));
}

static void test_error_list(void **state)
{
    (void)state;
    struct err err = {0};
    err_warn(&err, "switch.ecn", "%d keys unused", 2);
    assert_int_equal(err.n_errors, 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(err_add(&err, i % 2 == 0 ? NULL : "", "error %d", i), -1);
    assert_int_equal(err.n_errors, 20);
    assert_int_equal(err.n_items, 21);
    assert_true(err.items[0].warning);
    assert_string_equal(err.items[0].text, "switch.ecn: 2 keys unused");
    assert_string_equal(err.items[20].text, "error 19");
    err_free(&err);
    assert_int_equal(err.n_items, 0);
    assert_null(err.items);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_set_and_print),
        cmocka_unit_test(test_errors_name_place_and_mend),
        cmocka_unit_test(test_line_rate),
        cmocka_unit_test(test_find_and_names),
        cmocka_unit_test(test_tables_within_tables),
        cmocka_unit_test(test_findings_of_a_file),
        cmocka_unit_test(test_near_miss),
        cmocka_unit_test(test_error_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
