// SPDX-License-Identifier: MIT
// The document of a report: escaping, and what is kept of links, series, timelines and tables of
// sweeps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "report/page/effects.h"
#include "tests/report/page_json.h"

// ---- escaping and the template ----

static void escapes_what_ends_a_script(void **state)
{
    (void)state;
    char *text = page_escape("[\"</script><!-- & \xe2\x80\xa8\xe2\x80\xa9 \xe2\x80\xa6 \\\"\"]");
    assert_string_equal(text, "[\"\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028\\u2029 "
                              "\xe2\x80\xa6 \\\"\"]");
    json_t *value = json_loads(text, 0, NULL);
    assert_string_equal(json_string_value(json_array_get(value, 0)),
                        "</script><!-- & \xe2\x80\xa8\xe2\x80\xa9 \xe2\x80\xa6 \"");
    json_decref(value);
    free(text);
}

static void fills_the_template(void **state)
{
    (void)state;
    struct page *page = new_page();
    struct err err = {0};
    json_t *scenario = read_json("{'name': '</script>'}");
    page_origin(page, "collwire run 'a b'", scenario);
    char *html = page_html(page, "<a>" PAGE_MARK "</a>", "t.html", &err);
    assert_non_null(html);
    assert_memory_equal(html, "<a>{", 4);
    assert_string_equal(html + strlen(html) - 5, "}</a>");
    assert_null(strstr(html, "</script>"));
    html[strlen(html) - 4] = '\0';
    json_t *document = json_loads(html + 3, 0, NULL);
    assert_string_equal(json_string_value(json_object_get(document, "command")),
                        "collwire run 'a b'");
    assert_true(json_equal(json_object_get(document, "scenario"), scenario));
    assert_string_equal(json_string_value(json_object_get(document, "kind")), "run");
    expect_json(json_object_get(json_object_get(document, "meanings"), "flows.slowdown"),
                "['ratio', 'fct_ns / ideal_ns']");
    json_decref(document);
    json_decref(scenario);
    free(html);
    page_free(page);
}

static void refuses_other_templates(void **state)
{
    (void)state;
    const char *wrong[] = {"", "<a></a>", PAGE_MARK PAGE_MARK};
    for (size_t i = 0; i < 3; i++) {
        struct page *page = new_page();
        struct err err = {0};
        assert_null(page_html(page, wrong[i], "t.html", &err));
        assert_int_equal(err.n_errors, 1);
        assert_non_null(strstr(err.items[0].text, "t.html: "));
        err_free(&err);
        page_free(page);
    }
}

// ---- links ----

static const char fabric[] =
    "{'links': [{'at': 'a->b', 'bytes': 10, 'utilization': 0.25},           {'at': 'b->a', "
    "'bytes': 0, 'utilization': 0.0},           {'at': 'b->c', 'bytes': 30, 'utilization': "
    "0.75}], 'queues': {'ports': [{'at': 'b->c', 'max_bytes': 99}]}, 'pfc': {'ports': [{'at': "
    "'a->b', 'class': 3, 'pauses': 2, 'paused_ns': 5},                   {'at': 'a->b', "
    "'class': 4, 'pauses': 1, 'paused_ns': 6}]}, 'drops': {'by_place': []}}";

static void joins_links(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = read_json(fabric), *links = page_links(page, metrics, 3);
    expect_json(links, "{'at': ['a->b', 'b->a', 'b->c'], 'utilization': [0.25, 0.0, 0.75], "
                       "'bytes': [10, 0, 30], 'max_queue_bytes': [0, 0, 99], 'paused_ns': [11, "
                       "0, 0]}");
    expect_json(page->notes, "[]");
    json_decref(links);
    json_decref(metrics);
    page_free(page);
}

static void keeps_the_busiest_links(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = read_json(fabric), *links = page_links(page, metrics, 2);
    expect_json(json_object_get(links, "at"), "['a->b', 'b->c']");
    expect_json(page->notes, "['Of 3 directions of links the page has the 2 busiest.']");
    json_decref(links);
    json_decref(metrics);
    page_free(page);
}

// ---- series ----

// 300 samples of 10 ns: a queue with one peak, a port paused once, a rate with one cut.
static json_t *sampled(void)
{
    json_t *metrics = read_json("{'sim_time_ns': 3000, 'flows': [{'qp': 7, 'src': 1, 'dst': 2, "
                                "'start_ns': 0, 'fct_ns': 1000}],'series': {'t_ns': [], "
                                "'queue_bytes': {'p': [], 'q': []},'rate_bps': {'7': []}, "
                                "'cwnd_bytes': {'7': []}, 'paused': {'p': []}, 'observe': {'7': "
                                "{'alpha': []}}}}");
    json_t *s = json_object_get(metrics, "series");
    json_t *queue = json_object_get(s, "queue_bytes");
    for (int i = 0; i < 300; i++) {
        json_array_append_new(json_object_get(s, "t_ns"), json_integer(10 * i));
        json_array_append_new(json_object_get(queue, "p"), json_integer(i == 31 ? 5000 : 0));
        json_array_append_new(json_object_get(queue, "q"), json_integer(i == 32 ? 90 : 0));
        json_array_append_new(json_object_get(json_object_get(s, "rate_bps"), "7"),
                              json_integer(i == 62 ? 3 : 100));
        json_array_append_new(json_object_get(json_object_get(s, "cwnd_bytes"), "7"), json_null());
        json_array_append_new(json_object_get(json_object_get(s, "paused"), "p"),
                              json_integer(i == 33));
        json_array_append_new(
            json_object_get(json_object_get(json_object_get(s, "observe"), "7"), "alpha"),
            json_real(1));
    }
    return metrics;
}

static json_int_t at(const json_t *list, size_t i)
{
    return json_integer_value(json_array_get(list, i));
}

static void reduces_series(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = sampled(), *s = page_series(page, metrics, 0); // at least 60 points
    assert_int_equal(json_array_size(json_object_get(s, "t_ns")), 60);
    assert_int_equal(at(json_object_get(s, "t_ns"), 59), 2950);
    const json_t *queue = json_object_get(s, "queue_bytes");
    // q stays below 2 % of p
    assert_int_equal(json_object_size(json_object_get(queue, "lines")), 1);
    const json_t *p = json_object_get(json_object_get(queue, "lines"), "p");
    assert_int_equal(at(p, 6), 5000);
    assert_int_equal(at(p, 7), 0);
    expect_json(json_object_get(queue, "of"), "2");
    assert_int_equal(at(json_object_get(queue, "high"), 6), 5000);
    assert_int_equal(at(json_object_get(queue, "count"), 6), 2);
    assert_int_equal(at(json_object_get(json_object_get(s, "paused"), "count"), 6), 1);
    const json_t *rate =
        json_object_get(json_object_get(json_object_get(s, "rate_bps"), "lines"), "7");
    assert_int_equal(at(rate, 12), 3);
    assert_int_equal(at(rate, 13), 100);
    assert_true(json_is_integer(json_array_get(rate, 20))); // 1000 ns: the message ends
    assert_true(json_is_null(json_array_get(rate, 21)));
    assert_null(json_object_get(s, "cwnd_bytes")); // unlimited
    assert_null(json_object_get(s, "observe"));    // never changes
    expect_json(json_object_get(s, "labels"), "{'7': 'rank1 \xe2\x86\x92 rank2'}");
    assert_int_equal(json_array_size(page->notes), 1);
    json_decref(s);
    json_decref(metrics);
    page_free(page);
}

static void keeps_short_series(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = sampled(), *s = page_series(page, metrics, 1000000);
    assert_int_equal(json_array_size(json_object_get(s, "t_ns")), 300);
    assert_int_equal(json_array_size(page->notes), 0);
    json_decref(s);
    json_decref(metrics);
    page_free(page);
}

// ---- timeline ----

#define NAMES(pid, rank)                                                                           \
    "{'ph':'M','pid':" pid ",'tid':0,'name':'process_name','args':{'name':'" rank "'}},"           \
    "{'ph':'M','pid':" pid ",'tid':0,'name':'thread_name','args':{'name':'loop'}}"
#define SLICE(pid, ts, dur, cat, name)                                                             \
    "{'ph':'X','pid':" pid ",'tid':0,'ts':" ts ",'dur':" dur ",'cat':'" cat "','name':'" name "'}"

static const char trace[] =
    "{'traceEvents': [" NAMES("0", "rank0") "," SLICE("0", "0.5", "1.25", "compute", "a") "," SLICE(
        "0", "2", "1", "wait", "wait a") "," NAMES("1", "rank1") "," SLICE("1", "0", "3", "comm",
                                                                           "a") "]}";

static void reads_a_timeline(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *timeline = read_json(trace), *metrics = json_object();
    json_t *t = page_timeline(page, timeline, metrics, 10);
    expect_json(t, "{'rows': ['rank0 loop', 'rank1 loop'], 'names': ['a', 'wait a'],'slices': "
                   "[[0, 500, 1250, 0, 0], [0, 2000, 1000, 1, 1], [1, 0, 3000, 2, 0]]}");
    assert_int_equal(json_array_size(page->notes), 0);
    json_decref(t);
    json_decref(metrics);
    json_decref(timeline);
    page_free(page);
}

static void begins_with_the_critical_path(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *timeline = read_json(
        "{'traceEvents': [" NAMES("0", "rank0") "," SLICE("0", "0", "3", "comm", "a") "," NAMES(
            "65535", "critical path") "," SLICE("65535", "0", "3", "comm", "b") "]}");
    json_t *t = page_timeline(page, timeline, NULL, 10);
    expect_json(t, "{'rows': ['critical path loop', 'rank0 loop'], 'names': ['b', "
                   "'a'],'slices': [[0, 0, 3000, 2, 0], [1, 0, 3000, 2, 1]]}");
    assert_int_equal(json_array_size(page->notes), 0);
    json_decref(t);
    json_decref(timeline);
    page_free(page);
}

static void prefers_the_slowest_rank(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *timeline = read_json(trace), *metrics = read_json("{'slowest': {'rank': 1}}");
    json_t *t = page_timeline(page, timeline, metrics, 1);
    expect_json(t, "{'rows': ['rank1 loop'], 'names': ['a'], 'slices': [[0, 0, 3000, 2, 0]]}");
    assert_int_equal(json_array_size(page->notes), 1);
    json_decref(t);
    json_decref(metrics);
    json_decref(timeline);
    assert_null(page_timeline(page, NULL, NULL, 10));
    page_free(page);
}

// ---- sweeps ----

static const char collective[] =
    "{'collectives': [{'name': 'job', 'phases': [{'dim': 1, 'op': 'all_gather', 'algorithm': "
    "'ring', 'start_ns': 5, 'end_ns': 25}, {'dim': 0, 'op': 'x', 'start_ns': null, 'end_ns': "
    "null}]}], 'flows': [{'src': 2, 'dst': 0, 'start_ns': 5, 'delivered_ns': 9}, {'src': 0, "
    "'dst': 2, 'start_ns': 6, 'delivered_ns': 8}, {'src': 2, 'dst': 0, 'start_ns': 7, "
    "'delivered_ns': null}, {'src': 2, 'dst': 1, 'start_ns': 9, 'delivered_ns': 4}]}";

// Without a timeline of ranks: phases by dimension, and the messages of each rank that sends.
static void shows_phases_and_messages(void **state)
{
    (void)state;
    struct page *page = new_page();
    json_t *metrics = read_json(collective);
    json_t *all = page_timeline(page, NULL, metrics, 100);
    expect_json(all, "{'rows': ['dim1 all_gather', 'rank0 sends', 'rank2 sends'], 'names': ['job: "
                     "all_gather, ring', 'to rank0', 'to rank2', 'to rank1'], 'slices': [[0, 5, "
                     "20, 2, 0], [2, 5, 9, 3, 1], [1, 6, 8, 3, 2], [2, 9, 4, 3, 3]]}");
    assert_int_equal(json_array_size(page->notes), 0);
    // where there is room for the messages of one rank only, it is whole, and a note says so
    json_t *part = page_timeline(page, NULL, metrics, 2);
    expect_json(json_object_get(part, "rows"), "['dim1 all_gather', 'rank0 sends']");
    expect_json(page->notes, "['The timeline shows the messages of the first 1 of 2 ranks that "
                             "send.']");
    // slices of a timeline stand in place of the phases
    json_t *timeline = read_json("{'traceEvents': [" NAMES("0", "all ranks") "," SLICE(
        "0", "0.001", "0.002", "comm", "to rank0") "]}");
    json_t *both = page_timeline(page, timeline, metrics, 100);
    expect_json(json_object_get(both, "rows"), "['all ranks loop', 'rank0 sends', 'rank2 sends']");
    expect_json(json_object_get(both, "names"), "['to rank0', 'to rank2', 'to rank1']");
    expect_json(json_array_get(json_object_get(both, "slices"), 0), "[0, 1, 2, 2, 0]");
    expect_json(json_array_get(json_object_get(both, "slices"), 1), "[2, 5, 9, 3, 0]");
    json_decref(both);
    // and where ranks of training were recorded they are all that is shown
    json_object_set_new(metrics, "training", json_pack("[{}]"));
    both = page_timeline(page, timeline, metrics, 100);
    expect_json(json_object_get(both, "rows"), "['all ranks loop']");
    json_decref(both);
    json_decref(timeline);
    json_decref(part);
    json_decref(all);
    json_decref(metrics);
    page_free(page);
}

static void reads_a_sweep(void **state)
{
    (void)state;
    struct page *page = page_new(PAGE_SWEEP, "s", NULL, 1);
    struct err err = {0};
    const char csv[] = "cc.kind,\"a,b\",seed,status,fct_ns,cnps,jain,tcp\n"
                       "none,\"say \"\"hi\"\"\",1,completed,12,0,0.5,\r\n"
                       "none,1MB,2,failed,,,,\n";
    assert_int_equal(page_add_sweep(page, csv, "sweep.csv", &err), 0);
    expect_json(json_object_get(page->root, "sweep"),
                "{'columns': ['cc.kind', 'a,b', 'seed', 'status', 'fct_ns', 'jain'],'roles': "
                "['axis', 'axis', 'seed', 'status', 'metric', 'metric'],'rows': [['none', 'say "
                "\\\"hi\\\"', 1, 'completed', 12, 0.5],         ['none', '1MB', 2, 'failed', "
                "null, null]], 'effects': []}");
    page_free(page);
}

// Two jobs: the point with the shortest time of one has the longest time of the other. The row of
// the whole run has neither job's time.
static void says_what_axes_do_to_each_job(void **state)
{
    (void)state;
    json_t *effects = sweep_csv_effects("b_bytes,policy,seed,job,status,sim_time_ns\n"
                                        "1,none,1,,completed,40\n1,none,1,a,completed,10\n"
                                        "1,none,1,b,completed,40\n"
                                        "1,none,2,,completed,40\n1,none,2,a,completed,30\n"
                                        "1,none,2,b,completed,40\n"
                                        "2,none,1,,completed,30\n2,none,1,a,completed,30\n"
                                        "2,none,1,b,completed,30\n"
                                        "2,swift,1,,failed,\n2,swift,1,a,failed,5\n");
    expect_json(effects,
                "[{'job': 'a', 'metric': 'sim_time_ns', 'points': 2, 'axes': {'b_bytes': 1.5}, "
                "'shortest': {'ns': 20, 'at': {'b_bytes': 1, 'policy': 'none'}, 'matters': "
                "['b_bytes']}, 'longest': {'ns': 30, 'at': {'b_bytes': 2, 'policy': 'none'}, "
                "'matters': ['b_bytes']}, 'others': {'b': 1.3333333333333333}}, "
                "{'job': 'b', 'metric': 'sim_time_ns', 'points': 2, 'axes': {'b_bytes': "
                "1.3333333333333333}, 'shortest': {'ns': 30, 'at': {'b_bytes': 2, 'policy': "
                "'none'}, 'matters': ['b_bytes']}, 'longest': {'ns': 40, 'at': {'b_bytes': 1, "
                "'policy': 'none'}, 'matters': ['b_bytes']}, 'others': {'a': 1.5}}]");
    json_decref(effects);
}

static void refuses_other_tables(void **state)
{
    (void)state;
    const char *wrong[] = {"", "a,b\n1,2\n", "a,status\n1,completed\n1,completed,3\n"};
    for (size_t i = 0; i < 3; i++) {
        struct page *page = page_new(PAGE_SWEEP, "s", NULL, 1);
        struct err err = {0};
        assert_int_equal(page_add_sweep(page, wrong[i], "sweep.csv", &err), -1);
        assert_int_equal(err.n_errors, 1);
        err_free(&err);
        page_free(page);
    }
}

// ---- summaries ----

static void falls_back_on_the_row(void **state)
{
    (void)state;
    struct page *page = page_new(PAGE_COMPARISON, "c", NULL, 1);
    json_t *row = read_json("{'cc': 'dcqcn', 'status': 'failed', 'sim_time_ns': 5, 'jain': null}");
    struct page_run run = {.policy = "dcqcn", .seed = 3, .failure = "killed", .row = row};
    page_add_run(page, &run);
    expect_json(json_array_get(page->runs, 0),
                "{'policy': 'dcqcn', 'seed': 3, 'failure': 'killed', 'status': 'failed', "
                "'values': {'sim_time_ns': 5}, 'metrics': {}}");
    json_decref(row);
    page_free(page);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(escapes_what_ends_a_script),
        cmocka_unit_test(fills_the_template),
        cmocka_unit_test(refuses_other_templates),
        cmocka_unit_test(joins_links),
        cmocka_unit_test(keeps_the_busiest_links),
        cmocka_unit_test(reduces_series),
        cmocka_unit_test(keeps_short_series),
        cmocka_unit_test(reads_a_timeline),
        cmocka_unit_test(begins_with_the_critical_path),
        cmocka_unit_test(prefers_the_slowest_rank),
        cmocka_unit_test(shows_phases_and_messages),
        cmocka_unit_test(reads_a_sweep),
        cmocka_unit_test(says_what_axes_do_to_each_job),
        cmocka_unit_test(refuses_other_tables),
        cmocka_unit_test(falls_back_on_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
