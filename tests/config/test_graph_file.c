// SPDX-License-Identifier: MIT
// The file of a graph topology: its content reaches the description, and all its errors are
// reported with their places.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/topology/graph_kind.h"
#include "tests/config/load.h"

#define SCENARIO                                                                                   \
    "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"graph\",\"size\":3,\"file\":\"g.json\","  \
    "\"link\":{\"delay\":\"7us\"}%s}]},\"workload\":" JOB "}"

static struct scenario *load_graph(const char *file, const char *more, struct err *err)
{
    char text[512];
    int n = snprintf(text, sizeof text, SCENARIO, more);
    file_write("g.json", file, strlen(file));
    assert_true(n > 0 && (size_t)n < sizeof text);
    struct scenario *s = load(text, err);
    file_remove("g.json");
    return s;
}

static void test_good_file(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *s = load_graph("{\"switches\":2,\"links\":[{\"a\":\"rank0\",\"b\":\"sw1\"},"
                                    "{\"a\":\"sw1\",\"b\":\"rank1\",\"rate\":\"400Gbps\"},"
                                    "{\"a\":\"rank2\",\"b\":\"sw0\",\"delay\":\"1ns\"},"
                                    "{\"a\":\"sw0\",\"b\":\"sw1\"},{\"a\":\"sw0\","
                                    "\"b\":\"sw1\"}]}",
                                    "", &err);
    assert_int_equal(err.n_errors, 0);
    const struct dim_spec *dim = &scenario_spec(s)->dims[0];
    const struct graph_params *p = (const void *)dim->params;
    assert_ptr_equal(dim->kind, &topology_graph);
    assert_int_equal(p->switches, 2);
    assert_int_equal(p->n_links, 5);
    assert_false(p->transit);
    static const struct graph_link want[] = {
        {{{0, false}, {1, true}}, {.rate_bps = 100000000000, .delay_ps = 7 * PS_PER_US}},
        {{{1, true}, {1, false}}, {.rate_bps = 400000000000, .delay_ps = 7 * PS_PER_US}},
        {{{2, false}, {0, true}}, {.rate_bps = 100000000000, .delay_ps = PS_PER_NS}},
        {{{0, true}, {1, true}}, {.rate_bps = 100000000000, .delay_ps = 7 * PS_PER_US}},
        {{{0, true}, {1, true}}, {.rate_bps = 100000000000, .delay_ps = 7 * PS_PER_US}},
    };
    for (size_t l = 0; l < 5; l++) {
        for (int e = 0; e < 2; e++) {
            assert_int_equal(p->links[l].ends[e].index, want[l].ends[e].index);
            assert_int_equal(p->links[l].ends[e].is_switch, want[l].ends[e].is_switch);
        }
        assert_int_equal(p->links[l].link.rate_bps, want[l].link.rate_bps);
        assert_int_equal(p->links[l].link.delay_ps, want[l].link.delay_ps);
    }
    scenario_free(s);
}

// What a link leaves out of `reverse` is as in its other direction. One that gives a rate or a
// delay of its own but no `reverse` is the same in both; one that gives nothing is as in the
// dimension.
static void test_reverse(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *s =
        load_graph("{\"switches\":1,\"links\":[{\"a\":\"rank0\",\"b\":\"sw0\","
                   "\"rate\":\"10Gbps\",\"reverse\":{\"rate\":\"1Gbps\"}},{\"a\":\"rank1\","
                   "\"b\":\"sw0\",\"reverse\":{\"delay\":\"1ns\"}},{\"a\":\"rank2\","
                   "\"b\":\"sw0\"}]}",
                   "", &err);
    assert_int_equal(err.n_errors, 0);
    const struct graph_params *p = (const void *)scenario_spec(s)->dims[0].params;
    assert_true(p->links[0].link.reverse_rate_bps == 1000000000);
    assert_true(p->links[0].link.reverse_delay_ps == 7 * PS_PER_US);
    assert_true(p->links[1].link.reverse_rate_bps == 100000000000);
    assert_true(p->links[1].link.reverse_delay_ps == PS_PER_NS);
    assert_true(p->links[2].link.reverse_rate_bps == 0);
    scenario_free(s);
}

static const struct {
    const char *file, *more, *wants[4];
} mistakes[] = {
    {"{\"switches\":2,\n \"links\":[{", "", {"g.json: line 2, column "}},
    {"[]", "", {"topology.dims[0].file: g.json: must be an object, not a list"}},
    {"{}", "", {"g.json: switches: is required", "g.json: links: is required"}},
    {"{\"switches\":0,\"links\":{}}", "", {"g.json: links: must be a list, not an object"}},
    {"{\"switches\":\"two\",\"links\":[7,{\"a\":\"rnk0\",\"b\":\"sw\"},{\"a\":\"rank-1\","
     "\"b\":\"sw0\",\"rate\":\"1GB\"}]}",
     "",
     {"g.json: switches: ", "g.json: links[0]: must be an object",
      "g.json: links[1].a: \"rnk0\" is not a node", "g.json: links[2].rate: \"1GB\" is not"}},
    {"{\"switches\":1,\"links\":[{\"a\":\"rank0\",\"bb\":\"sw0\"}]}",
     "",
     {"g.json: links[0].bb: unknown key; did you mean \"b\"?"}},
    {"{\"switches\":1,\"links\":[{\"a\":\"rank3\",\"b\":\"sw1\"},{\"a\":\"sw0\",\"b\":\"sw0\"}]}",
     "",
     {"topology.dims[0].file: g.json: links[0].a: there is no rank3, only 3 ranks",
      "g.json: links[0].b: there is no sw1, only 1 switches",
      "g.json: links[1]: both ends are the same node"}},
    {"{\"switches\":2,\"links\":[{\"a\":\"rank0\",\"b\":\"sw0\"},{\"a\":\"rank1\","
     "\"b\":\"sw0\"},{\"a\":\"rank2\",\"b\":\"sw0\"}]}",
     "",
     {"topology.dims[0].file: g.json: sw1 has no link"}},
    {"{\"switches\":2,\"links\":[{\"a\":\"rank0\",\"b\":\"sw0\"},{\"a\":\"rank1\","
     "\"b\":\"sw1\"},{\"a\":\"rank0\",\"b\":\"rank2\"}]}",
     "",
     {"leads to rank1", "leads to rank2"}},
    {"{\"switches\":1,\"links\":[{\"a\":\"rank0\",\"b\":\"rank1\"},{\"a\":\"sw0\","
     "\"b\":\"rank2\"}]}",
     ",\"transit\":true",
     {"no path over switches and ranks leads to rank2"}},
};

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        struct err err = {0};
        assert_null(load_graph(mistakes[i].file, mistakes[i].more, &err));
        for (size_t w = 0; w < 4 && mistakes[i].wants[w] != NULL; w++)
            assert_said(&err, mistakes[i].file, mistakes[i].wants[w]);
        err_free(&err);
    }
}

// With transit enabled, a chain of ranks is a valid network.
static void test_transit(void **state)
{
    (void)state;
    struct err err = {0};
    static const char file[] = "{\"switches\":0,\"links\":[{\"a\":\"rank0\",\"b\":\"rank1\"},"
                               "{\"a\":\"rank1\",\"b\":\"rank2\"}]}";
    struct scenario *s = load_graph(file, ",\"transit\":true", &err);
    assert_non_null(s);
    scenario_free(s);
    assert_null(load_graph(file, "", &err));
    err_free(&err);
}

// The number of reported errors is limited; a missing file is one error.
static void test_limits(void **state)
{
    (void)state;
    struct err err = {0};
    char text[4096] = "{\"switches\":1,\"links\":[0";
    for (int i = 0; i < 500; i++)
        strcat(text, ",1");
    strcat(text, "]}");
    assert_null(load_graph(text, "", &err));
    assert_in_range(err.n_errors, 20, 21);
    err_free(&err);
    memset(&err, 0, sizeof err);
    snprintf(text, sizeof text, SCENARIO, "");
    assert_null(load(text, &err));
    assert_int_equal(err.n_errors, 1);
    assert_said(&err, text, "topology.dims[0].file: ");
    assert_said(&err, text, "g.json: cannot be opened");
    err_free(&err);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good_file), cmocka_unit_test(test_reverse),
        cmocka_unit_test(test_mistakes),  cmocka_unit_test(test_transit),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
