// SPDX-License-Identifier: MIT
// A kind of job that is added by its file and a line in the registry is read, checked, resolved,
// described and run, without any other change. (tests/extend/workload)
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "cli/list.h"
#include "engine/base/text.h"
#include "sim/simulation.h"
#include "tests/config/load.h"

#define SCENARIO(job)                                                                              \
    "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":5}]},\"workload\":" job \
    "}"
#define PAIRS                                                                                      \
    "{\"kind\":\"pairwise\",\"bytes\":\"10KB\",\"rounds\":3,\"compute\":\"7us\",\"start\":"        \
    "\"1us\"}"

static void test_runs(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *scenario = load(SCENARIO(PAIRS), &err);
    assert_non_null(scenario);
    struct sim *sim = sim_new(scenario_spec(scenario), &err);
    assert_non_null(sim);
    sim_run(sim, NULL);
    struct result *r = sim_result(sim);
    assert_int_equal(r->status, RUN_COMPLETED);
    assert_int_equal(r->n_flows, 2 * 3 * 2); // rank 4 has no pair
    assert_int_equal(sim->fabric.hosts.counters.delivered_bytes, 2 * 3 * 10001);
    assert_int_equal(sim->workload.total_bytes, 2 * 3 * 10001);
    // time at which the sender is ready: the reply has arrived, and its message is acknowledged
    ps_t ready = PS_PER_US;
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct flow_record *f = &r->flows[i];
        if (f->src > 1)
            continue;
        if (f->src == 0)
            assert_int_equal(f->start_ps, ready);
        else
            assert_int_equal(f->start_ps, ready + 7 * PS_PER_US);
        ready = f->start_ps + f->delivered_ps;
    }
    result_free(r);
    sim_free(sim);
    scenario_free(scenario);
    err_free(&err);
}

static void test_is_checked(void **state)
{
    (void)state;
    static const struct {
        const char *job, *want;
    } cases[] = {
        {"{\"kind\":\"pairwise\"}", "workload.bytes: is required: of each message"},
        {"{\"kind\":\"pairwise\",\"bytes\":1,\"rounds\":0}", "workload.rounds: 0 is below"},
        {"{\"kind\":\"pairwise\",\"bytes\":1,\"round\":2}",
         "workload.round: unknown key; did you mean \"rounds\"?"},
        {"{\"kind\":\"pairwize\",\"bytes\":1}",
         "workload.kind: unknown workload kind \"pairwize\"; did you mean \"pairwise\"?"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char text[512];
        snprintf(text, sizeof text, SCENARIO("%s"), cases[i].job);
        assert_null(load(text, &err));
        assert_said(&err, text, cases[i].want);
        err_free(&err);
    }
}

// The description of the job in the resolved scenario, the schema, and the catalogue.
static void test_is_described(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *scenario = load(SCENARIO(PAIRS), &err);
    json_t *root = json_loads(scenario_resolved(scenario), 0, NULL);
    json_t *want = json_loads("{\"kind\":\"pairwise\",\"start\":\"1us\",\"class\":3,"
                              "\"name\":\"pairwise\",\"bytes\":\"10KB\",\"rounds\":3,"
                              "\"compute\":\"7us\"}",
                              0, NULL);
    assert_true(json_equal(json_object_get(root, "workload"), want));
    json_decref(root);
    json_decref(want);
    scenario_free(scenario);
    err_free(&err);

    struct cc_catalogue policies = cc_catalogue_builtin();
    char *schema = schema_text(&policies);
    assert_non_null(strstr(schema, "\"const\": \"pairwise\""));
    assert_non_null(strstr(schema, "messages of a pair"));
    free(schema);

    struct text catalogue;
    FILE *out = text_open(&catalogue);
    assert_int_equal(list_print(out, "workload", "pairwise", &policies), 0);
    char *text = text_close(out, &catalogue);
    assert_non_null(strstr(text, "pairwise: pairs of ranks: messages, and a computation between"));
    assert_non_null(strstr(text, "of the receiver after each message"));
    free(text);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_is_checked),
        cmocka_unit_test(test_is_described),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
