// SPDX-License-Identifier: MIT
// System files of ASTRA-sim: every key, and every error with its line. tests/theory/check_astra.py
// reads the public examples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "tests/config/load.h"
#include "workload/read/astra_system.h"

static int read_text(const char *text, uint32_t n_dims, struct coll_schedule *s, struct err *err)
{
    *s = (struct coll_schedule){.n_dims = n_dims};
    file_write("sys.txt", text, strlen(text));
    int status = astra_system_read(folder, "sys.txt", "workload.system", s, NULL, err);
    file_remove("sys.txt");
    return status;
}

static const char *name_of(const struct coll_schedule *s, enum coll_op op, uint32_t dim)
{
    return s->choice[op][dim].algorithm->name;
}

static uint64_t window_of(const struct coll_choice *choice)
{
    assert_string_equal(choice->algorithm->name, "direct");
    return ((const struct coll_direct_params *)(const void *)choice->params)->in_flight;
}

static void test_all_keys(void **state)
{
    (void)state;
    struct coll_schedule s;
    struct err err = {0};
    assert_int_equal(read_text("scheduling-policy: FIFO \r\n\n"
                               "endpoint-delay: 10\n"
                               "active-chunks-per-dimension:2\n"
                               "preferred-dataset-splits :\t64\n"
                               "boost-mode: 1\n"
                               "all-reduce-implementation: ring_halvingDoubling\n"
                               "all-gather-implementation: oneHalvingDoubling\n"
                               "reduce-scatter-implementation: direct4_direct_ring\n"
                               "all-to-all-implementation: oneDirect\n"
                               "collective-optimization: localBWAware\n"
                               "intra-dimension-scheduling: smallestFirst\n"
                               "inter-dimension-scheduling: offlineGreedy\n"
                               "direct-collective-window: 2",
                               2, &s, &err),
                     0);
    assert_false(s.newest_first);
    assert_int_equal(s.endpoint_ps, 10 * PS_PER_NS);
    assert_int_equal(s.active_chunks, 2);
    assert_int_equal(s.chunks, 64);
    assert_string_equal(name_of(&s, COLL_ALL_REDUCE, 0), "ring");
    assert_string_equal(name_of(&s, COLL_ALL_REDUCE, 1), "halving_doubling");
    assert_string_equal(s.choice[COLL_ALL_REDUCE][0].algorithm->name, "ring");
    assert_true(s.flat[COLL_ALL_GATHER] && s.flat[COLL_ALL_TO_ALL]);
    assert_false(s.flat[COLL_ALL_REDUCE] || s.flat[COLL_REDUCE_SCATTER]);
    assert_string_equal(name_of(&s, COLL_ALL_GATHER, 2), "halving_doubling");
    assert_string_equal(name_of(&s, COLL_ALL_TO_ALL, 2), "direct");
    assert_true(window_of(&s.choice[COLL_ALL_TO_ALL][2]) == 2);
    assert_true(window_of(&s.choice[COLL_REDUCE_SCATTER][0]) == 4); // its own window
    assert_true(window_of(&s.choice[COLL_REDUCE_SCATTER][1]) == 2);
    assert_int_equal(s.phases, COLL_BANDWIDTH_AWARE);
    assert_int_equal(s.queueing, COLL_QUEUE_SMALLEST);
    assert_int_equal(s.order, COLL_THEMIS);
    assert_true(s.reduce_bps > 0);
    err_free(&err);
}

static void test_defaults_and_words(void **state)
{
    (void)state;
    struct coll_schedule s;
    struct err err = {0};
    assert_int_equal(read_text("", 3, &s, &err), 0);
    assert_true(s.newest_first);
    assert_int_equal(s.endpoint_ps, 0);
    assert_int_equal(s.chunks * s.active_chunks, 1);
    assert_int_equal(s.phases, COLL_BASELINE);
    assert_int_equal(s.queueing, COLL_QUEUE_FIFO);
    assert_int_equal(s.order, COLL_ASCENDING);
    for (uint32_t d = 0; d <= 3; d++)
        assert_string_equal(name_of(&s, COLL_ALL_TO_ALL, d), "ring");
    static const struct {
        const char *line;
        int order;
    } orders[] = {{"inter-dimension-scheduling: ascending", COLL_ASCENDING},
                  {"inter-dimension-scheduling: roundRobin", COLL_ROUND_ROBIN},
                  {"inter-dimension-scheduling: offlineGreedyFlex", COLL_THEMIS}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read_text(orders[i].line, 1, &s, &err), 0);
        assert_int_equal(s.order, orders[i].order);
    }
    static const struct {
        const char *line;
        int queueing;
    } queues[] = {{"intra-dimension-scheduling: FIFO", COLL_QUEUE_FIFO},
                  {"intra-dimension-scheduling: RG", COLL_QUEUE_ALTERNATING},
                  {"intra-dimension-scheduling: lessRemainingPhaseFirst", COLL_QUEUE_FEWEST}};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(read_text(queues[i].line, 1, &s, &err), 0);
        assert_int_equal(s.queueing, queues[i].queueing);
    }
    err_free(&err);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"endpoint-delay: 1\nendpoint_delay: 1",
         "workload.system: sys.txt, line 2: unknown key \"endpoint_delay\"; did you mean "
         "\"endpoint-delay\"?"},
        {"\n\nscheduling policy", "line 3: \"scheduling policy\" is not a line like"},
        {"boost-mode: 1\nboost-mode: 1", "line 2: boost-mode is given twice"},
        {"boost-mode: 2", "line 1: boost-mode: \"2\" is not a whole number from 0 to 1"},
        {"scheduling-policy: lifo", "scheduling-policy: unknown \"lifo\""},
        {"endpoint-delay: -1", "endpoint-delay: \"-1\" is not a whole number"},
        {"endpoint-delay:", "endpoint-delay: \"\" is not a whole number"},
        {"endpoint-delay: 1.5", "endpoint-delay: \"1.5\" is not a whole number"},
        {"preferred-dataset-splits: 0", "\"0\" is not a whole number from 1"},
        {"active-chunks-per-dimension: x", "\"x\" is not a whole number from 1"},
        {"all-reduce-implementation: ring_", "unknown implementation \"\""},
        {"all-reduce-implementation: ring_tree", "unknown implementation \"tree\""},
        {"all-reduce-implementation: ring_oneRing", "unknown implementation \"oneRing\""},
        {"all-reduce-implementation: oneRing_ring", "unknown implementation \"oneRing_ring\""},
        {"all-reduce-implementation: direct0_ring", "unknown implementation \"direct0\""},
        {"all-reduce-implementation: ring4_ring", "unknown implementation \"ring4\""},
        {"collective-optimization: best", "unknown \"best\""},
        {"intra-dimension-scheduling: fifo", "unknown \"fifo\""},
        {"inter-dimension-scheduling: themis", "unknown \"themis\""},
        {"direct-collective-window: all", "\"all\" is not a whole number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct coll_schedule s;
        struct err err = {0};
        assert_int_equal(read_text(cases[i].text, 2, &s, &err), -1);
        assert_said(&err, cases[i].text, cases[i].want);
        err_free(&err);
    }
    struct coll_schedule s = {.n_dims = 1};
    struct err err = {0};
    assert_int_equal(astra_system_read(folder, "none.txt", "workload.system", &s, NULL, &err), -1);
    assert_said(&err, "none", "workload.system: ");
    err_free(&err);
}

// All errors of a file are reported at once.
static void test_all_at_once(void **state)
{
    (void)state;
    struct coll_schedule s;
    struct err err = {0};
    assert_int_equal(read_text("a: 1\nb\nendpoint-delay: x\n", 1, &s, &err), -1);
    assert_int_equal(err.n_errors, 3);
    err_free(&err);
}

static void test_object(void **state)
{
    (void)state;
    static const struct {
        const char *json, *want;
    } cases[] = {
        {"{\"endpoint-delay\":10,\"all-reduce-implementation\":\"ring_direct\"}", NULL},
        {"{\"endpoint-delay\":\"10\"}", NULL},
        {"{\"endpoint-delay\":-1}", "system.endpoint-delay: \"-1\" is not a whole number"},
        {"{\"endpoint-delay\":1.5}", "system.endpoint-delay: must be a string or a whole number"},
        {"{\"endpoint-delays\":1}",
         "system.endpoint-delays: unknown key; did you mean \"endpoint-delay\"?"},
        {"{\"endpoint-delay\":10,\"all-gather-implementation\":\"ring\"}", NULL},
        {"[]", "system: must be an object, not a list"},
        {"\"none.txt\"", "system: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct coll_schedule s = {.n_dims = 2};
        struct reader r = {.err = &err, .dir = folder};
        json_t *json = json_loads(cases[i].json, JSON_DECODE_ANY, NULL);
        struct place root = {0}, place = {.parent = &root, .key = "system", .json = json};
        astra_system_place(&r, &place, &s);
        assert_int_equal(err.n_errors > 0, cases[i].want != NULL);
        if (cases[i].want != NULL)
            assert_said(&err, cases[i].json, cases[i].want);
        else
            assert_int_equal(s.endpoint_ps, 10 * PS_PER_NS);
        json_decref(json);
        err_free(&err);
    }
}

// A list that is shorter than the network leaves out the dimensions beyond it; one over all ranks
// at once spans them all. Every chunk of a double binary tree takes one tree.
static void test_fewer_dimensions(void **state)
{
    (void)state;
    struct coll_schedule s;
    struct err err = {0};
    const char *text = "all-reduce-implementation: doubleBinaryTree_ring\n"
                       "all-gather-implementation: oneRing\nall-to-all-implementation: direct\n";
    assert_int_equal(read_text(text, 3, &s, &err), 0);
    assert_true(s.by_operation);
    assert_int_equal(s.op_dims[COLL_ALL_REDUCE], 3);
    assert_int_equal(s.op_dims[COLL_ALL_TO_ALL], 1);
    assert_int_equal(s.op_dims[COLL_ALL_GATHER], UINT32_MAX);
    assert_int_equal(s.op_dims[COLL_REDUCE_SCATTER], UINT32_MAX);
    const struct coll_double_tree_params *tree = (const void *)s.choice[COLL_ALL_REDUCE][0].params;
    assert_true(tree->alternating);
    err_free(&err);
}

// boost-mode has no effect, and one warning names it and the file; a copy does not have it.
static void test_without_effect(void **state)
{
    (void)state;
    struct coll_schedule s = {.n_dims = 1};
    struct err err = {0};
    json_t *copy = json_object();
    const char *text = "boost-mode: 1\nendpoint-delay: 3\n";
    file_write("sys.txt", text, strlen(text));
    assert_int_equal(astra_system_read(folder, "sys.txt", "system", &s, copy, &err), 0);
    assert_int_equal(err.n_errors, 0);
    assert_int_equal(err.n_items, 1);
    assert_true(err.items[0].warning);
    assert_string_equal(err.items[0].text,
                        "system: sys.txt: these keys have no effect: boost-mode");
    assert_null(json_object_get(copy, "boost-mode"));
    assert_int_equal(json_integer_value(json_object_get(copy, "endpoint-delay")), 3);
    json_decref(copy);
    err_free(&err);
}

// A copy has the same keys.
static void test_copy(void **state)
{
    (void)state;
    static const char text[] = "endpoint-delay: 7\nall-to-all-implementation: direct2_ring\n";
    struct coll_schedule s = {.n_dims = 2}, again = {.n_dims = 2};
    struct err err = {0};
    json_t *copy = json_object();
    file_write("sys.txt", text, sizeof text - 1);
    assert_int_equal(astra_system_read(folder, "sys.txt", "system", &s, copy, &err), 0);
    file_remove("sys.txt");
    struct reader r = {.err = &err};
    struct place place = {.key = "system", .json = copy};
    astra_system_place(&r, &place, &again);
    assert_int_equal(err.n_errors, 0);
    assert_int_equal(again.endpoint_ps, s.endpoint_ps);
    assert_true(window_of(&again.choice[COLL_ALL_TO_ALL][0]) == 2);
    assert_string_equal(name_of(&again, COLL_ALL_TO_ALL, 0), "direct");
    assert_string_equal(name_of(&again, COLL_ALL_TO_ALL, 1), "ring");
    json_decref(copy);
    err_free(&err);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_keys),       cmocka_unit_test(test_defaults_and_words),
        cmocka_unit_test(test_mistakes),       cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_object),         cmocka_unit_test(test_fewer_dimensions),
        cmocka_unit_test(test_without_effect), cmocka_unit_test(test_copy)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
