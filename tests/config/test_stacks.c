// SPDX-License-Identifier: MIT
// Several transports in one scenario: lists of `transport` and `cc`, what jobs and dimensions
// choose, defaults, the resolved form, and mistakes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/config/load.h"
#include "transport/tcp/tcp_spec.h"
#include "transport/transport.h"

#define ROCE "{\"kind\":\"roce\"}"
#define TCP "{\"kind\":\"tcp\",\"mss\":\"1000B\"}"
#define BOTH "\"transport\":[" ROCE "," TCP "]"
#define ON(transport, rest) "{\"transport\":\"" transport "\",\"kind\":" rest "}"
#define JOB_ON(transport)                                                                          \
    "{\"kind\":\"permutation\",\"bytes\":\"1MB\",\"transport\":\"" transport "\"}"

// A scenario of these settings, dimensions and jobs.
static struct scenario *scenario_of(const char *settings, const char *dims, const char *jobs,
                                    struct err *err)
{
    char text[2048];
    snprintf(text, sizeof text, "{\"name\":\"t\",%s,\"topology\":{\"dims\":[%s]},\"workload\":%s}",
             settings, dims, jobs);
    return load(text, err);
}

static struct scenario *good(const char *settings, const char *dims, const char *jobs)
{
    struct err err = {0};
    struct scenario *s = scenario_of(settings, dims, jobs, &err);
    for (size_t i = 0; i < err.n_items; i++)
        print_message("%s\n", err.items[i].text);
    assert_non_null(s);
    err_free(&err);
    return s;
}

static const struct dim_spec *dim_of(const struct scenario *s, uint32_t d)
{
    return &scenario_spec(s)->dims[d];
}

static const struct tcp_spec *tcp_of(const struct stack_spec *stack)
{
    assert_string_equal(stack->transport.ops->name, "tcp");
    return (const struct tcp_spec *)(const void *)stack->transport.own;
}

static void test_lists(void **state)
{
    (void)state;
    struct scenario *s =
        good(BOTH ",\"cc\":[" ON("tcp", "\"dctcp\",\"g\":0.5") "," ON("roce", "\"dcqcn\"") "]", DIM,
             "[" JOB "," JOB_ON("tcp") "," JOB_ON("roce") "]");
    const struct dim_spec *dim = dim_of(s, 0);
    const struct job_spec *jobs = scenario_spec(s)->jobs;
    assert_int_equal(dim->n_stacks, 2);
    assert_string_equal(dim->transport.ops->name, "roce"); // the first, by either name
    assert_ptr_equal(dim->transport.ops, dim->stacks[0].transport.ops);
    assert_string_equal(dim->cc->name, "dcqcn");
    assert_int_equal(tcp_of(&dim->stacks[1])->mss_bytes, 1000);
    assert_string_equal(dim->stacks[1].cc->name, "dctcp"); // by `transport`, not by position
    uint32_t numbers[] = {0, 1, 0};
    uint64_t classes[] = {3, 0, 3};
    for (size_t j = 0; j < 3; j++) {
        assert_int_equal(jobs[j].transport, numbers[j]);
        assert_int_equal(jobs[j].cls, classes[j]);
    }
    scenario_free(s);
}

// Two transports of a kind with names of their own: a policy for each, chosen by jobs, and settings
// of dimensions by name.
static void test_names(void **state)
{
    (void)state;
    struct scenario *s = good(
        "\"transport\":[" TCP ",{\"kind\":\"tcp\",\"name\":\"bulk\",\"mss\":\"700B\"}],\"cc\":[" ON(
            "bulk", "\"newreno\"") "," ON("tcp", "\"dctcp\"") "]",
        "{\"kind\":\"switch\",\"size\":4,\"transport\":{\"name\":\"bulk\",\"mss\":\"600B\"}}",
        "[" JOB_ON("bulk") "," JOB "]");
    const struct dim_spec *dim = dim_of(s, 0);
    assert_int_equal(dim->n_stacks, 2);
    assert_string_equal(dim->stacks[0].cc->name, "dctcp");
    assert_string_equal(dim->stacks[1].cc->name, "newreno");
    assert_int_equal(tcp_of(&dim->stacks[1])->mss_bytes, 600);
    assert_int_equal(tcp_of(&dim->stacks[0])->mss_bytes, 1000);
    assert_int_equal(scenario_spec(s)->jobs[0].transport, 1);
    assert_int_equal(scenario_spec(s)->jobs[1].transport, 0);
    assert_non_null(strstr(scenario_resolved(s), "\"name\": \"bulk\""));
    scenario_free(s);
}

// The policy and the class of data that a transport has by default.
static void test_defaults(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *first, *second;
        uint64_t cls;
    } cases[] = {
        {"\"seed\":1", "none", NULL, 3},
        {"\"transport\":" ROCE, "none", NULL, 3},
        {"\"transport\":" TCP, "cubic", NULL, 0},
        {"\"transport\":[" TCP "]", "cubic", NULL, 0},
        {"\"transport\":[" TCP "," ROCE "]", "cubic", "none", 0},
        {BOTH, "none", "cubic", 3},
        {BOTH ",\"cc\":[]", "none", "cubic", 3},
        {BOTH ",\"cc\":[" ON("roce", "\"swift\"") "]", "swift", "cubic", 3},
        {BOTH ",\"cc\":" ON("tcp", "\"newreno\""), "none", "newreno", 3},
        {"\"cc\":[" ON("roce", "\"hpcc\"") "]", "hpcc", NULL, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scenario *s = good(cases[i].settings, DIM, JOB);
        const struct dim_spec *dim = dim_of(s, 0);
        assert_string_equal(dim->cc->name, cases[i].first);
        assert_int_equal(dim->n_stacks, cases[i].second != NULL ? 2 : 1);
        if (cases[i].second != NULL)
            assert_string_equal(dim->stacks[1].cc->name, cases[i].second);
        assert_int_equal(scenario_spec(s)->jobs[0].cls, cases[i].cls);
        scenario_free(s);
    }
    struct scenario *s =
        good("\"transport\":" TCP, DIM, "{\"kind\":\"permutation\",\"bytes\":9,\"class\":2}");
    assert_int_equal(scenario_spec(s)->jobs[0].cls, 2);
    scenario_free(s);
}

// Settings inside a dimension are those of the kind that they name, or of the first.
static void test_overrides(void **state)
{
    (void)state;
    static const char dims[] =
        "{\"kind\":\"switch\",\"size\":2,\"transport\":{\"kind\":\"tcp\",\"rto_min\":\"5ms\"},"
        "\"cc\":{\"transport\":\"tcp\",\"beta\":0.5}},{\"kind\":\"ring\",\"size\":3,"
        "\"transport\":{\"mtu\":\"1000B\"}},{" LEAF
        ",\"ranks_per_leaf\":8,\"spines\":1,\"transport\":[{\"kind\":\"tcp\",\"mss\":\"500B\"},"
        "{\"kind\":\"roce\",\"rto\":\"1ms\"}],\"cc\":[" ON("tcp", "\"dctcp\"") "," ON(
            "roce", "\"dcqcn\"") "]}";
    struct scenario *s = good(BOTH, dims, "{" COLL "}");
    const struct dim_spec *first = dim_of(s, 0), *second = dim_of(s, 1), *third = dim_of(s, 2);
    assert_int_equal(tcp_of(&first->stacks[1])->rto_min_ps, 5 * PS_PER_MS);
    assert_int_equal(tcp_of(&first->stacks[1])->mss_bytes, 1000);
    assert_string_equal(first->stacks[1].cc->name, "cubic");
    assert_int_equal(tcp_of(&second->stacks[1])->rto_min_ps, 200 * PS_PER_MS);
    assert_int_equal(tcp_of(&third->stacks[1])->mss_bytes, 500);
    assert_string_equal(third->cc->name, "dcqcn");
    assert_string_equal(third->stacks[1].cc->name, "dctcp");
    assert_string_equal(second->cc->name, "none");
    const char *text = scenario_resolved(s);
    assert_non_null(strstr(text, "\"mtu\": \"1KB\""));
    assert_non_null(strstr(text, "\"beta\": 0.5"));
    scenario_free(s);
    // One transport: a dimension may have another one, with the policy of that by default.
    s = good("\"seed\":1", "{\"kind\":\"switch\",\"size\":2,\"transport\":{\"kind\":\"tcp\"}}",
             JOB);
    assert_string_equal(dim_of(s, 0)->cc->name, "cubic");
    assert_int_equal(dim_of(s, 0)->n_stacks, 1);
    assert_int_equal(dim_of(s, 0)->transport.cls, 0); // TCP's; the job's is that of RoCE
    scenario_free(s);
}

// The resolved form has lists only if lists were given, and loading it gives it again.
static void test_resolved(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *dims;
        bool transports, policies;
    } cases[] = {
        {"\"seed\":1", DIM, false, false},
        {"\"transport\":" TCP, DIM, false, false},
        {"\"cc\":[" ON("roce", "\"hpcc\"") "]", DIM, false, true},
        {"\"transport\":[" TCP "]", DIM, true, true},
        {BOTH, DIM, true, true},
        {BOTH ",\"cc\":[" ON("roce", "\"dcqcn\"") "]",
         "{\"kind\":\"switch\",\"size\":2,\"cc\":" ON(
             "tcp", "\"newreno\"") ",\"transport\":{\"kind\":\"tcp\",\"mss\":\"99B\"}}",
         true, true},
        {"\"seed\":1", "{\"kind\":\"switch\",\"size\":2,\"transport\":{\"kind\":\"tcp\"}}", false,
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct scenario *s = good(cases[i].settings, cases[i].dims, "[" JOB "]");
        const char *text = scenario_resolved(s);
        assert_int_equal(strstr(text, "\n  \"transport\": [") != NULL, cases[i].transports);
        assert_int_equal(strstr(text, "\n  \"cc\": [") != NULL, cases[i].policies);
        struct scenario *again = load(text, &err);
        assert_non_null(again);
        assert_string_equal(scenario_resolved(again), text);
        scenario_free(again);
        scenario_free(s);
        err_free(&err);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *settings, *dims, *jobs, *says;
    } cases[] = {
        {BOTH, DIM, "[" JOB "," JOB_ON("tpc") "]",
         "workload[1].transport: unknown transport of the scenario \"tpc\"; did you mean \"tcp\"?"},
        {"\"seed\":1", DIM, JOB_ON("tcp"), "workload.transport: unknown transport"},
        {"\"transport\":[" TCP "," TCP "]", DIM, JOB,
         "transport[1].kind: transport tcp is listed twice: give one of them a `name` of its own"},
        {"\"transport\":[]", DIM, JOB, "transport: must have 1 to 4 transports"},
        {"\"transport\":[7]", DIM, JOB, "transport[0]: must be an object, not a number"},
        {"\"transport\":[{}]", DIM, JOB, "transport[0].kind: is required"},
        {"\"transport\":[" ROCE ",{\"kind\":\"tcp\",\"mtu\":9}]", DIM, JOB,
         "transport[1].mtu: unknown key"},
        {"\"transport\":[" ROCE ",{\"kind\":\"tcp\",\"clock_ppm\":5}]", DIM, JOB,
         "transport[1].clock_ppm: must be that of the first transport"},
        {"\"transport\":[" ROCE ",{\"kind\":\"tcp\",\"start_jitter\":\"5us\"}]", DIM, JOB,
         "transport[1].start_jitter: must be that of the first transport"},
        {BOTH ",\"cc\":[{\"kind\":\"none\"}]", DIM, JOB, "cc[0].transport: is required"},
        {BOTH ",\"cc\":{\"kind\":\"none\"}", DIM, JOB, "cc.transport: is required"},
        {BOTH ",\"cc\":[" ON("uec", "\"none\"") "]", DIM, JOB,
         "cc[0].transport: unknown transport"},
        {BOTH ",\"cc\":[" ON("tcp", "\"none\"") "," ON("tcp", "\"none\"") "]", DIM, JOB,
         "cc[1].transport: transport tcp has two policies"},
        {BOTH ",\"cc\":[" ON("roce", "\"none\"") "," ON("tcp", "\"dcqcn\"") "]", DIM, JOB,
         "cc[1].kind: dcqcn needs notifications"},
        {BOTH ",\"cc\":[" ON("roce", "\"cubic\"") "]", DIM, JOB,
         "cc[0].kind: cubic needs an initial window"},
        {"\"cc\":[{\"transport\":\"roce\"}]", DIM, JOB, "cc[0].kind: is required"},
        {BOTH, "{\"kind\":\"switch\",\"size\":4,\"transport\":{\"kind\":\"uec\"}}", JOB,
         "topology.dims[0].transport.kind: unknown transport of the scenario"},
        {BOTH, "{\"kind\":\"switch\",\"size\":4,\"cc\":" ON("tcp", "\"hpcc\"") "}", JOB,
         "topology.dims[0].cc.kind: hpcc needs in-band telemetry"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        assert_null(scenario_of(cases[i].settings, cases[i].dims, cases[i].jobs, &err));
        assert_said(&err, cases[i].settings, cases[i].says);
        err_free(&err);
    }
}

// What `compare --cc x` puts in place of `cc`.
static void test_another_policy(void **state)
{
    (void)state;
    struct cc_catalogue c = cc_catalogue_builtin();
    struct err err = {0};
    struct scenario *s = good(BOTH ",\"cc\":[" ON("tcp", "\"newreno\"") "]", DIM, JOB);
    assert_true(scenario_lists(s));
    static const struct {
        const char *policy, *preset, *roce, *tcp;
    } cases[] = {{"dcqcn", "paper", "dcqcn", "newreno"},
                 {"cubic", NULL, "none", "cubic"},
                 {"newreno", NULL, "none", "newreno"},
                 {"newreno", "ecn", "none", "newreno"}};
    for (size_t i = 0; i < 4; i++) {
        const struct cc_ops *ops = cc_catalogue_find(&c, cases[i].policy);
        assert_true(scenario_runs(s, ops));
        char *cc = scenario_with_policy(s, ops, cases[i].preset, &err), settings[1024];
        assert_non_null(cc);
        snprintf(settings, sizeof settings, "%s,\"cc\":%s", BOTH, cc);
        struct scenario *other = good(settings, DIM, JOB);
        const struct dim_spec *dim = dim_of(other, 0);
        assert_string_equal(dim->cc->name, cases[i].roce);
        assert_string_equal(dim->stacks[1].cc->name, cases[i].tcp);
        if (cases[i].preset != NULL)
            assert_string_equal(dim->stacks[i == 3].cc_preset->name, cases[i].preset);
        scenario_free(other);
        free(cc);
    }
    const struct cc_ops *swift = cc_catalogue_find(&c, "swift");
    assert_false(scenario_runs(s, swift)); // which transport is meant is open
    assert_null(scenario_with_policy(s, swift, NULL, &err));
    assert_said(&err, "swift", "--cc: swift runs on roce and on tcp");
    scenario_free(s);
    err_free(&err);
    s = good("\"transport\":[" TCP "]", DIM, JOB);
    const struct cc_ops *hpcc = cc_catalogue_find(&c, "hpcc");
    assert_false(scenario_runs(s, hpcc));
    assert_null(scenario_with_policy(s, hpcc, NULL, &err));
    assert_said(&err, "hpcc", "--cc: hpcc runs on no transport of the scenario");
    scenario_free(s);
    err_free(&err);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_overrides),      cmocka_unit_test(test_resolved),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_another_policy),
    };
    return cmocka_run_group_tests_name("stacks", tests, folder_make, folder_remove);
}
