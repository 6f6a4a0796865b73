// SPDX-License-Identifier: MIT
// Errors in scenarios: each is reported with its path, and all of them at once.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/config/load.h"
#include "tests/config/mistakes/table.h"

static void scenario_text(char *text, size_t room, const struct mistake *m)
{
    snprintf(text, room, "{\"name\":\"t\",%s%s\"topology\":{\"dims\":[%s]},\"workload\":%s}",
             m->root != NULL ? m->root : "", m->root != NULL ? "," : "",
             m->dims != NULL ? m->dims : DIM, m->job != NULL ? m->job : JOB);
}

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_mistakes; i++) {
        char text[2048];
        struct err err = {0};
        scenario_text(text, sizeof text, &mistakes[i]);
        struct scenario *scenario = load(text, &err);
        assert_said(&err, text, mistakes[i].want);
        assert_null(scenario);
        err_free(&err);
    }
}

// Texts that are not scenarios.
static void test_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "line 1"},
        {"[]", "a scenario must be an object, not a list"},
        {"7", "a scenario must be an object, not a number"},
        {"{", "not JSON"},
        {"{\n  \"name\": \"a\",\n  \"seed\": }\n", "line 3, column"},
        {"{} x", "not JSON"},
        {"{\"a\":1,\"a\":2}", "duplicate object key"},
        {"\xff\xfe\x01\x80", "not JSON"},
        {"{\"seed\": 99999999999999999999}", "too big integer"},
        {"{}", "name: is required"},
        {"{}", "topology: is required"},
        {"{}", "workload: is required"},
        {"{\"name\":\"a b\"}", "name: \"a b\" must be letters"},
        {"{\"name\":\"\"}", "name: \"\" must be letters"},
        {"{\"name\":\"..\"}", "name: \"..\" is not a name"},
        {"{\"topology\":{\"astra\":\"x\"}}", "x: cannot be opened"},
        {"{\"topology\":{\"dims\":{}}}", "topology.dims: must be a list, not an object"},
        {"{\"workload\":[[]]}", "workload[0]: must be an object, not a list"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        assert_null(load(cases[i].text, &err));
        assert_said(&err, cases[i].text, cases[i].want);
        err_free(&err);
    }
    struct err err = {0};
    assert_null(load_text("{\"a\":\0}", 7, NULL, 0, &err));
    struct policies policies = policies_builtin(NULL);
    assert_null(scenario_load(folder, NULL, 0, &policies, &err));
    assert_said(&err, folder, "is a directory");
    assert_null(scenario_load("/nowhere/s.json", NULL, 0, &policies, &err));
    assert_said(&err, "missing file", "/nowhere/s.json: cannot be opened");
    err_free(&err);
}

static void test_all_at_once(void **state)
{
    (void)state;
    static const char *const wants[] = {"seeed: unknown",          "switch.buffer: \"1\"x\"",
                                        "transport.mtu: 1B",       "cc.preset: unknown",
                                        "topology.dims[0].spines", "workload.bytes: is required",
                                        "limits.stall: must be"};
    const char *text =
        "{\"name\":\"t\",\"seeed\":1,\"switch\":{\"buffer\":\"1\\\"x\"},"
        "\"transport\":{\"mtu\":\"1B\"},\"cc\":{\"kind\":\"dcqcn\",\"preset\":\"x\"},"
        "\"topology\":{\"dims\":[{" LEAF ",\"ranks_per_leaf\":4}]},"
        "\"workload\":{\"kind\":\"permutation\"},"
        "\"limits\":{\"stall\":null}}";
    struct err err = {0};
    assert_null(load(text, &err));
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        assert_said(&err, text, wants[i]);
    assert_int_equal(err.n_errors, sizeof wants / sizeof *wants);
    err_free(&err);
}

static void test_flow_file_mistakes(void **state)
{
    (void)state;
    static const char list[] = "src,dst,bytes,start_ns\n0,1,5,0\n0,1\n0,x,5,0\n0,1,0,0\n0,1,5,-1\n"
                               "0,1,5,0,x\n0,1,5,0,7,8\n";
    static const char ranks[] = "0,1,5,0\n0,9,5,0\n2,2,5,0\n";
    static const char *const wants[] = {"workload.file: f.csv, line 3: is not src,dst",
                                        "line 4: dst is not a rank",
                                        "line 5: bytes is not",
                                        "line 6: start_ns is not",
                                        "line 7: measured_ns is not",
                                        "line 8: is not src,dst,bytes,start_ns,measured_ns"};
    const char *text = "{\"name\":\"t\",\"topology\":{\"dims\":[" DIM
                       "]},\"workload\":{\"kind\":\"flows\",\"file\":\"f.csv\"}}";
    struct err err = {0};
    file_write("f.csv", list, sizeof list - 1);
    assert_null(load(text, &err));
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        assert_said(&err, text, wants[i]);
    err_free(&err);
    file_write("f.csv", ranks, sizeof ranks - 1);
    assert_null(load(text, &err));
    assert_said(&err, text, "workload.file: f.csv, flow 2: rank 9 is not one of");
    assert_said(&err, text, "workload.file: f.csv, flow 3: src and dst are both rank 2");
    err_free(&err);
    file_remove("f.csv");
}

static void test_set_mistakes(void **state)
{
    (void)state;
    static const struct {
        struct collwire_setting set;
        const char *want;
    } cases[] = {
        {{"", "1"}, "invalid path"},
        {{".seed", "1"}, ".seed: --set: invalid path"},
        {{"seed.", "1"}, "seed.: --set: invalid path"},
        {{"a..b", "1"}, "invalid path"},
        {{"[0]", "1"}, "invalid path"},
        {{"workload[x]", "1"}, "invalid path"},
        {{"topology.dims[1].size", "1"}, "--set: [1] is not one of 1 items"},
        {{"topology.dims[2]", "1"}, "--set: [2] is not one of 1 items"},
        {{"topology.dims[2]", "null"}, "--set: [2] is not one of 1 items"},
        {{"workload[0].bytes", "1"}, "--set: an object has no item [0]"},
        {{"name.x", "1"}, "name.x: --set: a string has no key \"x\""},
        {{"topology.dims.0.size", "4"},
         "--set: a list has no key \"0\"; write topology.dims[0].size"},
        {{"name.x.y", "1"}, "--set: a string has no key \"x\""},
        {{"swich.buffer", "1MB"}, "swich: unknown key; did you mean \"switch\"?"},
        {{"seed", "nine"}, "seed: must be a whole number, not a string"},
        {{"seed", "\xff"}, "--set: the value is not UTF-8 text"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        assert_null(load_text(GOOD, strlen(GOOD), &cases[i].set, 1, &err));
        assert_said(&err, cases[i].set.path, cases[i].want);
        err_free(&err);
    }
}

// A list of `n` numbers instead of jobs: too many are one error, otherwise there is an error for
// each.
static void assert_jobs(size_t n, const char *want)
{
    struct err err = {0};
    char *text = malloc(100 + 2 * n);
    size_t at =
        (size_t)sprintf(text, "{\"name\":\"t\",\"topology\":{\"dims\":[" DIM "]},\"workload\":[7");
    for (size_t i = 1; i < n; i++)
        at += (size_t)sprintf(text + at, ",7");
    sprintf(text + at, "]}");
    assert_null(load(text, &err));
    assert_said(&err, "many jobs", want);
    err_free(&err);
    free(text);
}

// The index of a job has 14 bits in the token of a message.
static void test_too_many_jobs(void **state)
{
    (void)state;
    assert_jobs(16385, "workload: 16385 jobs are more than 16384");
    assert_jobs(16384, "workload[0]: must be an object, not a number");
}

// What follows from an error is not reported as another one.
static void test_no_follow_ups(void **state)
{
    (void)state;
    static const struct {
        const char *job, *want;
    } cases[] = {
        {"\"bytes\":\"64Mb\"", "workload.bytes: \"64Mb\" is not a size"},
        {"\"bytes\":\"-5MB\"", "workload.bytes: \"-5MB\" is not a size"},
        {"\"bytes\":0", "workload.bytes: 0 bytes: nothing would be sent"},
        {"\"bytes\":\"1MB\",\"ranks\":\"0-15\",\"algorithm\":[\"ring\",\"ring\"]",
         "workload.ranks: \"0-15\" ends at rank 15, and the ranks are 0 to 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct err err = {0};
        snprintf(text, sizeof text,
                 "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":4}]},"
                 "\"workload\":{\"kind\":\"collective\",\"op\":\"all_reduce\",%s}}",
                 cases[i].job);
        assert_null(load(text, &err));
        assert_said(&err, text, cases[i].want);
        assert_int_equal(err.n_items, 1);
        err_free(&err);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_follow_ups),
        cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_flow_file_mistakes),
        cmocka_unit_test(test_set_mistakes),
        cmocka_unit_test(test_too_many_jobs),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
