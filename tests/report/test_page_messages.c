// SPDX-License-Identifier: MIT
// What a report keeps of messages: their distributions, also by dimension, and the slowest.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <cmocka.h>

#include "tests/report/page_json.h"

// The distribution at `key` of a page, of the first policy.
static json_t *distribution_of(struct page *page, const char *key)
{
    json_t *all = page_distributions(page);
    json_t *one = json_incref(json_array_get(json_object_get(all, key), 0));
    json_decref(all);
    return one;
}

static void joins_the_messages_of_all_seeds(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *one = read_json("{'flows': [{'fct_ns': 30}, {'fct_ns': null}, {'fct_ns': 10}]}"),
           *two = read_json("{'flows': [{'fct_ns': 10}, {'fct_ns': 2.5}]}");
    page_samples_add(page, "s", "dcqcn", one);
    page_samples_add(page, "s", "dcqcn", two);
    json_t *d = distribution_of(page, "fct_ns");
    expect_json(d, "{'scenario': 's', 'policy': 'dcqcn', 'count': 4.0, 'points': [[2.5, 0.25], "
                   "[10, 0.75], [30, 1.0]]}");
    assert_null(distribution_of(page, "slowdown"));
    json_decref(d);
    json_decref(one);
    json_decref(two);
    page_free(page);
}

#define DIMS                                                                                       \
    "'scenario': {'topology': {'dims': [{'kind': 'switch', 'size': 4}, "                           \
    "{'kind': 'rail', 'size': 2}]}}"

// Messages that cross other dimensions have distributions of their own beside that of all; with one
// dimension, or messages along one only, there are none.
static void tells_dimensions_apart(void **state)
{
    (void)state;
    json_t *mixed = read_json("{'flows': [{'dim': 0, 'fct_ns': 1}, {'dim': 1, 'fct_ns': 9}, "
                              "{'dim': 0, 'fct_ns': 3}, {'dim': 2, 'fct_ns': 20}]," DIMS "}"),
           *along_one = read_json("{'flows': [{'dim': 1, 'fct_ns': 1}]," DIMS "}");
    struct page *page = new_page();
    page_samples_add(page, "s", "none", mixed);
    page_samples_add(page, "t", "none", along_one);
    json_t *all = page_distributions(page), *parts = json_object_get(all, "fct_ns");
    // first those of all messages
    assert_int_equal(json_array_size(parts), 5);
    for (size_t i = 0; i < 2; i++, json_array_remove(parts, 0))
        assert_null(json_object_get(json_array_get(parts, 0), "dimension"));
    expect_json(parts, "[{'count': 2.0, 'points': [[1, 0.5], [3, 1.0]], 'scenario': 's', 'policy': "
                       "'none', 'dimension': 'dimension 0: switch of 4'},"
                       "{'count': 1.0, 'points': [[9, 1.0]], 'scenario': 's', 'policy': 'none', "
                       "'dimension': 'dimension 1: rail of 2'},"
                       "{'count': 1.0, 'points': [[20, 1.0]], 'scenario': 's', 'policy': 'none', "
                       "'dimension': 'several dimensions'}]");
    json_decref(all);
    json_decref(mixed);
    json_decref(along_one);
    page_free(page);
}

// Where messages are not listed, the points are those of the histogram, up to the largest value.
static void reads_histograms(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = read_json("{'flows_summary': {'fct_ns': {'max': 99}, 'fct_ns_histogram': "
                                "{'below': [32, 64, 128], 'count': [5, 4, 1]}}}");
    page_samples_add(page, "s", "none", metrics);
    json_t *d = distribution_of(page, "fct_ns");
    expect_json(d, "{'scenario': 's', 'policy': 'none', 'count': 10.0, 'points': [[32, 0.5], "
                   "[64, 0.9], [99, 1.0]]}");
    json_decref(d);
    json_decref(metrics);
    page_free(page);
}

// Of 100,000 values there are few points, each exact; the tail is kept message by message.
static void thins_many_values(void **state)
{
    (void)state;
    json_t *flows = json_array();
    for (int i = 100000; i >= 1; i--)
        json_array_append_new(flows, json_pack("{s:i}", "fct_ns", i));
    json_t *metrics = json_pack("{s:o}", "flows", flows);
    struct page *page = new_page();
    page_samples_add(page, "s", "none", metrics);
    json_t *d = distribution_of(page, "fct_ns"), *list = json_object_get(d, "points");
    size_t n = json_array_size(list);
    assert_in_range(n, 300, 500);
    for (size_t i = 0; i < n; i++) {
        double value = json_number_value(json_array_get(json_array_get(list, i), 0)),
               share = json_number_value(json_array_get(json_array_get(list, i), 1));
        assert_true(share - value / 100000 < 1e-9 && value / 100000 - share < 1e-9);
        if (i >= n - 20)
            assert_int_equal((int)value, 100000 - (int)(n - 1 - i));
    }
    json_decref(d);
    json_decref(metrics);
    page_free(page);
}

static void slowest_messages_first(void **state)
{
    (void)state;
    json_t *flows = read_json("[{'id': 0, 'slowdown': 2}, {'id': 1, 'slowdown': 7.5}, {'id': "
                              "2},{'id': 3, 'slowdown': 2}]");
    json_t *list = page_slowest_flows(flows, 3);
    expect_json(list, "[{'id': 1, 'slowdown': 7.5}, {'id': 0, 'slowdown': 2}, {'id': 3, "
                      "'slowdown': 2}]");
    json_decref(list);
    json_decref(flows);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_the_messages_of_all_seeds),
        cmocka_unit_test(tells_dimensions_apart),
        cmocka_unit_test(reads_histograms),
        cmocka_unit_test(thins_many_values),
        cmocka_unit_test(slowest_messages_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
