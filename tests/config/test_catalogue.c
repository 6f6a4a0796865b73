// SPDX-License-Identifier: MIT
// A policy from outside the library: in the catalogue, in scenarios, in the schema, and in a run.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/result/result.h"
#include "sim/sim.h"
#include "tests/config/load.h"

// ---- a policy for tests: every flow has a fixed share of the line rate ----

struct toy_params {
    double share;
};

static const struct param toy_param_table[] = {
    PARAM_ROW("share", RATIO, offsetof(struct toy_params, share), .def = "0.5", .min = "0.01",
              .max = "1", .help = "of the line rate", .source = "none"),
};

static const struct cc_preset toy_presets[] = {{.name = "half", .doc = "half of the line"}};

static void toy_init(struct cc *cc, ps_t now)
{
    (void)now;
    const struct toy_params *p = cc->params;
    cc->rate_bps = (uint64_t)(p->share * (double)cc->env->line_bps);
}

static const struct cc_ops toy = {
    .contract = CC_CONTRACT,
    .name = "toy",
    .doc = "a fixed share of the line",
    .paper = "none",
    .params = toy_param_table,
    .n_params = 1,
    .params_bytes = sizeof(struct toy_params),
    .presets = toy_presets,
    .n_presets = 1,
    .init = toy_init,
};

static struct cc_catalogue catalogue_with_toy(void)
{
    struct err err = {0};
    struct cc_catalogue c = cc_catalogue_builtin();
    assert_int_equal(cc_catalogue_add(&c, &toy, &err), 0);
    return c;
}

// A message of 1000 full packets.
static struct scenario *toy_scenario(const char *extra, const struct cc_catalogue *catalogue,
                                     struct err *err)
{
    char text[512];
    int n = snprintf(
        text, sizeof text,
        "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":2}]},"
        "\"cc\":{\"kind\":\"toy\"%s},\"workload\":{\"kind\":\"flows\",\"flows\":[{\"src\":0,"
        "\"dst\":1,\"bytes\":\"4096000B\"}]}}",
        extra);
    const struct policies policies = {.catalogue = *catalogue};
    return load_with(text, (size_t)n, NULL, 0, &policies, err);
}

// ---- tests ----

static void test_names_are_taken_once(void **state)
{
    (void)state;
    struct err err = {0};
    struct cc_catalogue c = cc_catalogue_builtin();
    size_t n = c.n;
    assert_ptr_equal(cc_catalogue_find(&c, "dcqcn"), c.policies[2]);
    assert_null(cc_catalogue_find(&c, "toy"));
    assert_int_equal(cc_catalogue_add(&c, &toy, &err), 0);
    assert_int_equal(c.n, n + 1);
    assert_ptr_equal(cc_catalogue_find(&c, "toy"), &toy);
    assert_int_equal(cc_catalogue_add(&c, &toy, &err), -1);
    assert_said(&err, "twice", "toy: there is already a policy of this name");
    assert_int_equal(c.n, n + 1);
    // One catalogue does not change another.
    struct cc_catalogue other = cc_catalogue_builtin();
    assert_null(cc_catalogue_find(&other, "toy"));
    err_free(&err);
}

static void test_a_catalogue_has_an_end(void **state)
{
    (void)state;
    static char names[CC_CATALOGUE_MAX][8];
    static struct cc_ops many[CC_CATALOGUE_MAX];
    struct err err = {0};
    struct cc_catalogue c = cc_catalogue_builtin();
    size_t i = 0;
    for (; c.n < CC_CATALOGUE_MAX; i++) {
        snprintf(names[i], sizeof names[i], "toy%zu", i);
        many[i] = toy;
        many[i].name = names[i];
        assert_int_equal(cc_catalogue_add(&c, &many[i], &err), 0);
    }
    assert_ptr_equal(c.policies[CC_CATALOGUE_MAX - 1], &many[i - 1]);
    assert_int_equal(cc_catalogue_add(&c, &toy, &err), -1);
    assert_said(&err, "full", "more than 64 policies");
    err_free(&err);
}

// 1000 packets of 4096 bytes at a tenth of 100 Gb/s, paced by their wire bytes: the time from the
// start of the first to the start of the last packet is 999 * wire bytes * 8 / 10 Gb/s.
static void test_a_run_obeys_it(void **state)
{
    (void)state;
    struct err err = {0};
    struct cc_catalogue c = catalogue_with_toy();
    struct scenario *scenario = toy_scenario(",\"share\":0.1", &c, &err);
    assert_non_null(scenario);
    assert_ptr_equal(scenario_spec(scenario)->dims[0].cc, &toy);
    assert_non_null(strstr(scenario_resolved(scenario), "\"share\": 0.1"));
    struct sim *sim = sim_new(scenario_spec(scenario), &err);
    assert_non_null(sim);
    sim_run(sim, NULL);
    struct result *result = sim_result(sim);
    double wire_bytes = 4096 + 14 + 20 + 8 + 12 + 4 + 4 + 20; // all but the RETH of the first
    double least_ns = 999 * wire_bytes * 8 / 10;
    assert_true((double)result->sim_time_ps / 1e3 > least_ns);
    assert_true((double)result->sim_time_ps / 1e3 < least_ns + 10000);
    result_free(result);
    sim_free(sim);
    scenario_free(scenario);
}

static void test_scenarios_know_it_by_the_catalogue_alone(void **state)
{
    (void)state;
    struct err err = {0};
    struct cc_catalogue with = catalogue_with_toy(), without = cc_catalogue_builtin();
    assert_null(toy_scenario("", &without, &err));
    assert_said(&err, "unknown", "cc.kind: unknown policy \"toy\"");
    err_free(&err);
    assert_null(toy_scenario(",\"share\":2", &with, &err));
    assert_said(&err, "range", "cc.share: 2 is above the maximum 1");
    err_free(&err);
    assert_null(toy_scenario(",\"shar\":0.5", &with, &err));
    assert_said(&err, "misspelt", "cc.shar: unknown key; did you mean \"share\"?");
    err_free(&err);
    char *schema = schema_text(&with), *builtin = schema_text(&without);
    assert_non_null(strstr(schema, "\"const\": \"toy\""));
    assert_null(strstr(builtin, "\"const\": \"toy\""));
    free(schema);
    free(builtin);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_taken_once),
        cmocka_unit_test(test_a_catalogue_has_an_end),
        cmocka_unit_test(test_a_run_obeys_it),
        cmocka_unit_test(test_scenarios_know_it_by_the_catalogue_alone),
    };
    return cmocka_run_group_tests_name("catalogue", tests, folder_make, folder_remove);
}
