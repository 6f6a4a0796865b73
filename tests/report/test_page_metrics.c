// SPDX-License-Identifier: MIT
// What a report has of metrics.json: everything but long lists, which are cut.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>
#include <cmocka.h>

#include "tests/report/page_json.h"

static const char metrics_text[] =
    "{'status': 'completed', 'reason': null, 'explain': ['why'], 'collectives': [], 'flows': "
    "[{'id': 1}], 'flows_summary': {'count': 1, 'fct_ns_histogram': {'below': [1]}, "
    "'slowdown_histogram': {'below': [1]}}, 'slowest': {'parts': {'pace_ns': 9}, 'layers': []}, "
    "'queues': {'max_bytes': 3, 'switches': [{'at': 'a'}], 'ports': [{'at': 'a->b'}]}, 'links': "
    "[{'at': 'a->b'}], 'nics': [{}], 'pfc': {'ports': []}, 'scenario': {'name': 's'}, 'series': "
    "{'t_ns': [1]}}";

// A run in detail has all but the lists that the page reduces, and keys without a value; another
// run has what every run shows.
static void leaves_out_what_is_long(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = read_json(metrics_text), *all = page_metrics(page, metrics, true),
           *some = page_metrics(page, metrics, false), *none = page_metrics(page, NULL, false);
    expect_json(all, "{'status': 'completed', 'explain': ['why'], 'flows_summary': {'count': 1}, "
                     "'slowest': {'parts': {'pace_ns': 9}, 'layers': []}, 'queues': {'max_bytes': "
                     "3, 'switches': [{'at': 'a'}]}, 'pfc': {'ports': []}}");
    expect_json(some, "{'explain': ['why'], 'flows_summary': {'count': 1}, 'slowest': {'parts': "
                      "{'pace_ns': 9}, 'layers': []}}");
    expect_json(none, "{}");
    expect_json(page->notes, "[]");
    json_decref(all);
    json_decref(some);
    json_decref(none);
    json_decref(metrics);
    page_free(page);
}

static json_t *numbers(int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_integer(i));
    return list;
}

// The first items are kept, also of lists in lists; the metrics themselves remain.
static void cuts_long_lists(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics =
        json_pack("{s:{s:o, s:o, s:o}, s:[{s:{s:o}}], s:o, s:{s:o}, s:{s:o}}", "slowest", "places",
                  numbers(50), "iterations", numbers(50), "layers", numbers(500), "collectives",
                  "critical", "places", numbers(30), "ranks", numbers(40), "pfc", "ports",
                  numbers(500), "drops", "by_place", numbers(500));
    json_t *copy = page_metrics(page, metrics, true);
    static const struct {
        const char *path;
        size_t n;
    } kept[] = {{"slowest.places", 20}, {"slowest.iterations", 40}, {"slowest.layers", 500},
                {"ranks", 32},          {"drops.by_place", 200}, // as every list that is not named
                {"pfc.ports", 500}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_int_equal(json_array_size(sheet_at(copy, kept[i].path)), kept[i].n);
    const json_t *first = json_array_get(json_object_get(copy, "collectives"), 0);
    assert_int_equal(json_array_size(sheet_at(first, "critical.places")), 20);
    assert_int_equal(json_integer_value(json_array_get(sheet_at(copy, "slowest.places"), 19)), 19);
    assert_int_equal(json_array_size(sheet_at(metrics, "slowest.places")), 50);
    expect_json(page->notes, "[]");
    json_decref(copy);
    json_decref(metrics);
    page_free(page);
}

// Runs in detail share the steps of memory and the sizes of measured collectives; a note says what
// is missing.
static void notes_what_runs_share(void **state)
{
    (void)state;
    struct page *page = page_new(PAGE_COMPARISON, "n", "1.0", 12);
    json_t *metrics = json_pack("{s:{s:i, s:o, s:o}, s:{s:o}}", "memory", "max_bytes", 5,
                                "iteration", numbers(PAGE_MEMORY_STEPS), "classes", numbers(70),
                                "measured_collectives", "sizes", numbers(4));
    json_t *copy = page_metrics(page, metrics, true);
    assert_int_equal(json_array_size(sheet_at(copy, "memory.iteration")), PAGE_MEMORY_STEPS / 12);
    assert_int_equal(json_array_size(sheet_at(copy, "memory.classes")), 64);
    assert_int_equal(json_array_size(sheet_at(copy, "measured_collectives.sizes")), 4);
    expect_json(page->notes, "['Of 2400 steps of an iteration\\u0027s memory the page has the "
                             "first 200.']");
    json_decref(copy);
    json_decref(metrics);
    page_free(page);
}

// Of the statistics of measured collectives the page shows medians.
static void keeps_medians(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = read_json(
        "{'measured_collectives': {'ratio': 2, 'ratios': {'p50': 2, 'max': 2}, 'sizes': [{'op': "
        "'x', 'measured_ns': {'min': 1, 'mean': 2, 'p50': 2, 'p95': 3, 'p99': 3, 'max': 3}}]}}");
    json_t *copy = page_metrics(page, metrics, true);
    expect_json(copy, "{'measured_collectives': {'ratio': 2, 'ratios': {'p50': 2, 'max': 2}, "
                      "'sizes': [{'op': 'x', 'measured_ns': {'p50': 2}}]}}");
    json_decref(copy);
    json_decref(metrics);
    page_free(page);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(leaves_out_what_is_long),
        cmocka_unit_test(cuts_long_lists),
        cmocka_unit_test(notes_what_runs_share),
        cmocka_unit_test(keeps_medians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
