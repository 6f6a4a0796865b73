// SPDX-License-Identifier: MIT
// Training jobs as scenarios: side by side, beside other traffic, on networks of either kind.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/sim.h"
#include "tests/config/load.h"

#define LAYER(name, wg)                                                                            \
    "{\"name\":\"" name "\",\"fwd\":{\"compute\":\"3us\"},\"ig\":{\"compute\":\"5us\"},"           \
    "\"wg\":{\"compute\":\"4us\",\"op\":\"all_reduce\",\"bytes\":\"" wg "\"}}"
#define LAYERS "\"layers\":[" LAYER("a", "70001B") "," LAYER("b", "300KB") "]"
#define SYSTEM                                                                                     \
    "\"system\":{\"preferred-dataset-splits\":1,\"endpoint-delay\":10,"                            \
    "\"collective-optimization\":\"localBWAware\"}"
#define TRAIN(more)                                                                                \
    "{\"kind\":\"training\",\"parallelism\":\"DATA\",\"iterations\":2," SYSTEM "," LAYERS more "}"
#define EIGHT "{\"kind\":\"switch\",\"size\":8}"
#define LEFT ",\"ranks\":[0,1,2,3],\"dims\":[2,2]"
#define RIGHT ",\"ranks\":[4,5,6,7],\"dims\":[2,2]"

struct ran {
    struct scenario *scenario;
    struct sim *sim;
    struct result *result;
};

static struct ran run(const char *network, const char *dims, const char *workload)
{
    struct err err = {0};
    struct ran r;
    char text[4096];
    snprintf(text, sizeof text,
             "{\"name\":\"t\",\"network\":\"%s\",\"topology\":{\"dims\":[%s]},\"workload\":%s}",
             network, dims, workload);
    r.scenario = load(text, &err);
    if (!r.scenario)
        fail_msg("%s", err.items[0].text);
    r.sim = sim_new(scenario_spec(r.scenario), &err);
    assert_non_null(r.sim);
    sim_run(r.sim, NULL);
    r.result = sim_result(r.sim);
    assert_int_equal(r.result->status, RUN_COMPLETED);
    return r;
}

static void end(struct ran *r)
{
    result_free(r->result);
    sim_free(r->sim);
    scenario_free(r->scenario);
}

static ps_t total_ps(const char *network, const char *dims, const char *workload)
{
    struct ran r = run(network, dims, workload);
    ps_t total = r.result->trainings[0].total_ps;
    end(&r);
    return total;
}

static void assert_near(ps_t value, ps_t want, ps_t apart)
{
    assert_in_range(value, want - apart, want + apart);
}

// On a switch that blocks nobody, halves of the ranks do not see each other. (Over packets within
// 1 %: in which order a rank's timers of one instant fire is left open, and so is which of a message
// and an ACK goes first.)
static void test_side_by_side(void **state)
{
    (void)state;
    static const char *const networks[] = {"packet", "analytical"};
    for (size_t i = 0; i < 2; i++) {
        ps_t alone = total_ps(networks[i], EIGHT, TRAIN(LEFT));
        struct ran both = run(networks[i], EIGHT, "[" TRAIN(LEFT) "," TRAIN(RIGHT) "]");
        assert_int_equal(both.result->n_trainings, 2);
        for (size_t t = 0; t < 2; t++) {
            const struct training_result *result = &both.result->trainings[t];
            assert_int_equal(result->ranks, 4);
            assert_near(result->total_ps, alone, i == 0 ? alone / 100 : 0);
            assert_int_equal(result->compute_ps, 2 * 2 * 12 * PS_PER_US - 2 * 5 * PS_PER_US);
            assert_true(result->pass_end_ps[0] < result->pass_end_ps[1]);
        }
        end(&both);
    }
}

static void test_starts_apart(void **state)
{
    (void)state;
    ps_t alone = total_ps("packet", EIGHT, TRAIN(LEFT));
    struct ran both =
        run("packet", EIGHT, "[" TRAIN(LEFT) "," TRAIN(RIGHT ",\"start\":\"7us\"") "]");
    assert_near(both.result->trainings[1].total_ps, alone, alone / 100);
    assert_true(both.sim->engine.now_ps >= both.result->trainings[1].total_ps + 7 * PS_PER_US);
    end(&both);
}

// Traffic into one of its ranks slows it, and both end.
static void test_beside_an_incast(void **state)
{
    (void)state;
#define INCAST "{\"kind\":\"incast\",\"bytes\":\"500KB\",\"receiver\":0,\"senders\":[5,6,7]}"
    ps_t alone = total_ps("packet", EIGHT, TRAIN(LEFT));
    struct ran r = run("packet", EIGHT, "[" TRAIN(LEFT) "," INCAST "]");
    assert_true(r.result->trainings[0].total_ps > alone);
    assert_int_equal(r.sim->roce.delivered_bytes, r.sim->workload.total_bytes);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_side_by_side),
        cmocka_unit_test(test_starts_apart),
        cmocka_unit_test(test_beside_an_incast),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
