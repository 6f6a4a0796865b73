// SPDX-License-Identifier: MIT
// Training jobs as scenarios: several at once, with other traffic, on both kinds of networks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/recorder.h"
#include "sim/simulation.h"
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

static struct ran run_to_end(const char *network, const char *dims, const char *workload)
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
    return r;
}

static struct ran run(const char *network, const char *dims, const char *workload)
{
    struct ran r = run_to_end(network, dims, workload);
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

// On a non-blocking switch, jobs on disjoint ranks do not affect each other. (Over packets within 1
// %: the order in which a rank's timers of the same time fire is not specified, nor whether a
// message or an ACK goes first.)
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
            assert_true(result->passes[0].end_ps < result->passes[1].end_ps);
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
    assert_true(both.sim->fabric.engine.now_ps >=
                both.result->trainings[1].total_ps + 7 * PS_PER_US);
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
    assert_int_equal(r.sim->fabric.hosts.counters.delivered_bytes, r.sim->workload.total_bytes);
    end(&r);
}

/* ---- ranks of unequal speed ---- */

#define COMPUTED (2 * (2 * 12 - 5) * PS_PER_US) // two passes; no input gradient of layer 0

// All ranks wait for the slowest one at the end of a pass, so only its compute times matter: with
// the analytical network the remaining time is the same as without stragglers. The collectives of a
// pass begin after the last rank is ready.
static void test_stragglers(void **state)
{
    (void)state;
    ps_t alone = total_ps("analytical", EIGHT, TRAIN(""));
    ps_t all_slow = total_ps("analytical", EIGHT, TRAIN(",\"compute_scale\":1.5"));
    struct ran r = run("analytical", EIGHT, TRAIN(",\"stragglers\":[{\"rank\":5,\"factor\":1.5}]"));
    const struct training_result *t = &r.result->trainings[0];
    assert_int_equal(t->total_ps, all_slow);
    assert_true(t->total_ps > alone);
    assert_int_equal(t->compute_ps, COMPUTED + COMPUTED / 2 / 8);
    assert_int_equal(t->rank_end.max, t->total_ps);
    assert_int_equal(t->exposed.p50, t->total_ps - COMPUTED); // exposed time of the ranks that wait
    end(&r);
}

#define SILENT                                                                                     \
    "{\"kind\":\"training\",\"parallelism\":\"DATA\",\"layers\":[{\"name\":\"a\","                 \
    "\"fwd\":{\"compute\":\"100us\"}}]%s}"

// Without communication a rank takes its compute time plus 2 ns of steps.
static void test_jitter(void **state)
{
    (void)state;
    ps_t sums[3];
    for (int i = 0; i < 3; i++) {
        char job[512];
        snprintf(job, sizeof job, SILENT,
                 i == 2 ? ",\"compute_jitter\":0.2,\"start\":\"1us\"" : ",\"compute_jitter\":0.2");
        struct ran r = run("analytical", "{\"kind\":\"switch\",\"size\":64}", job);
        const struct training_result *t = &r.result->trainings[0];
        sums[i] = t->compute_ps;
        assert_near(t->compute_ps, 100 * PS_PER_US, 5 * PS_PER_US); // 4 deviations of the mean
        assert_true(t->rank_end.max > 115 * PS_PER_US && t->rank_end.max < 120 * PS_PER_US);
        assert_true(t->rank_end.p50 < t->rank_end.p99);
        assert_int_equal(t->exposed.max, 2 * PS_PER_NS);
        end(&r);
    }
    assert_int_equal(sums[0], sums[1]);
    assert_int_equal(sums[0], sums[2]); // draws do not depend on time
}

// Check that a scenario of eight ranks with this workload fails with the error `want`.
static void assert_refused(const char *workload, const char *want)
{
    struct err err = {0};
    char text[2048];
    snprintf(text, sizeof text,
             "{\"name\":\"t\",\"topology\":{\"dims\":[" EIGHT "]},\"workload\":%s}", workload);
    assert_null(load(text, &err));
    assert_said(&err, text, want);
    err_free(&err);
}

static void test_straggler_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *list, *want;
    } cases[] = {
        {"{}", "workload.stragglers: must be a list"},
        {"[{\"rank\":8,\"factor\":2}]", "workload.stragglers[0].rank: rank 8 is not one of"},
        {"[{\"rank\":1}]", "workload.stragglers[0].factor: is required"},
        {"[{\"rank\":1,\"factor\":-1}]", "workload.stragglers[0].factor: "},
        {"[{\"rank\":1,\"factor\":1,\"at\":2}]", "workload.stragglers[0].at: unknown key"},
        {"[{\"rank\":1,\"factor\":1},{\"rank\":1,\"factor\":2}]",
         "workload.stragglers[1].rank: rank 1 is listed twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char job[1024];
        snprintf(job, sizeof job, TRAIN(",\"stragglers\":%s"), cases[i].list);
        assert_refused(job, cases[i].want);
    }
}

/* ---- errors ---- */

static void test_too_much(void **state)
{
    (void)state;
#define ONE(parts, more)                                                                           \
    "{\"kind\":\"training\",\"parallelism\":\"MODEL\",\"layers\":[{\"name\":\"a\"," parts          \
    "}]" more "}"
#define DLRM(more) "{\"kind\":\"training\",\"dlrm\":{" more "}}"
    static const struct {
        const char *job, *want;
    } cases[] = {
        {ONE("\"fwd\":{\"compute\":\"60000s\"}", ",\"compute_scale\":2"),
         "workload.compute_scale: with stragglers and jitter, fwd of layer a takes more than"},
        {ONE("\"wg\":{\"compute\":\"60000s\"}", ",\"compute_jitter\":1"),
         "workload.compute_scale: with stragglers and jitter, wg of layer a takes more than"},
        {ONE("\"ig\":{\"compute\":\"1s\"}", ",\"stragglers\":[{\"rank\":1,\"factor\":1000000}]"),
         "workload.compute_scale: with stragglers and jitter, ig of layer a takes more than"},
        {ONE("\"ig\":{\"op\":\"all_reduce\",\"bytes\":\"600TB\"}", ",\"comm_scale\":2"),
         "workload.comm_scale: ig of layer a exchanges more than 1 PB"},
        {ONE("\"fwd\":{\"op\":\"all_gather\",\"bytes\":\"200TB\"}", ""),
         "workload.comm_scale: fwd of layer a exchanges more than 1 PB"},
        {ONE("\"fwd\":{\"op\":\"all_gather\",\"bytes\":\"1KB\"}",
             ",\"ranks\":[0,1,2,3,4,5,6,7],\"dims\":[1,1,1,8,1,1],"
             "\"system\":{\"preferred-dataset-splits\":1000000,"
             "\"all-gather-implementation\":\"ring_ring_ring_ring_ring_ring\"}"),
         "workload.system.preferred-dataset-splits: 1000000 chunks over 8 ranks are too many"},
        {DLRM("\"batch\":10000000,\"dim\":65536,\"n_tables\":100000"),
         "workload.dlrm: the vectors of a batch are more than 1 PB"},
        {DLRM("\"sharding\":\"data\",\"rows\":100000000000,\"dim\":65536"),
         "workload.dlrm: the tables are more than 1 PB"},
        {DLRM("\"batch\":10000000,\"pooling\":1000000,\"memory_gbs\":0.001"),
         "workload.dlrm: the lookups of a batch take more than 100000 s"},
        {DLRM("\"sharding\":\"column\",\"column_shards\":4096,\"n_tables\":100000"),
         "workload.dlrm: 100000 tables with their column_shards are too many for 8 ranks"},
        {DLRM("\"batch\":10000000,\"tflops\":0.001,\"top\":[1000000,1000000]"),
         "workload.dlrm: layer top_0, fwd: more than 100000 s or 1 PB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].job, cases[i].want);
}

// Unequal vectors over several dimensions: the error names keys of the scenario, of layers or of
// the tables.
static void test_unequal_vectors(void **state)
{
    (void)state;
#define UNEQUAL "\"fwd\":{\"op\":\"all_to_all\",\"rank_bytes\":"
#define PER_DIM "\"all-to-all-implementation\":\"ring_ring\""
    static const struct {
        const char *job, *want;
    } cases[] = {
        {"{\"kind\":\"training\",\"dims\":[4,2],\"dlrm\":{\"n_tables\":3},\"system\":{" PER_DIM
         "}}",
         "workload.system.all-to-all-implementation: must be oneDirect or oneRing: the vectors "
         "that workload.dlrm.sharding makes unequal"},
        {ONE(UNEQUAL "[1,2,3,4,5,6,7,8]}", ",\"dims\":[4,2],\"system\":{" PER_DIM "}"),
         "workload.system.all-to-all-implementation: must be oneDirect or oneRing: the vectors "
         "that workload.layers[0].fwd.rank_bytes makes unequal"},
        {ONE(UNEQUAL "[1,2,3]}", ""),
         "workload.layers[0].fwd.rank_bytes: lists 3 ranks, but the job has 8"},
        {"{\"kind\":\"training\",\"parallelism\":\"HYBRID_DATA_MODEL\",\"dims\":[4,2],"
         "\"layers\":[{\"name\":\"a\"," UNEQUAL "[1,2,3,4,5,6,7,8]}}]}",
         "workload.layers[0].fwd.rank_bytes: needs an all-to-all over all ranks, but this one "
         "is over "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_refused(cases[i].job, cases[i].want);
}

// Passes of 60000 s each add up to more than there are picoseconds.
static void test_longest_run(void **state)
{
    (void)state;
    struct ran r = run_to_end("analytical", EIGHT,
                              ONE("\"fwd\":{\"compute\":\"60000s\"}", ",\"iterations\":1000"));
    assert_int_equal(r.result->status, RUN_INCOMPLETE);
    assert_non_null(strstr(r.result->reason, "the longest simulated time"));
    end(&r);
}

/* ---- use of dimensions ---- */

static void test_dimension_use(void **state)
{
    (void)state;
    struct dim_use u;
    dim_use_init(&u, 2, (const uint32_t[]){1, 2});
    const ps_t step = DIM_USE_STEP_PS;
    dim_use_add(&u, 1, step / 2, 3 * step); // one of two queues
    dim_use_add(&u, 0, 0, step);
    dim_use_add(&u, 0, step, step); // empty interval
    assert_int_equal(u.n, 3);
    const double s = (double)step;
    assert_true(dim_use_ps(&u, 0, 1) == 0.25 * s && dim_use_ps(&u, 1, 1) == 0.5 * s);
    assert_true(dim_use_ps(&u, 0, 0) == s && dim_use_ps(&u, 1, 0) == 0);
    // the step length doubles
    dim_use_add(&u, 0, DIM_USE_STEPS * step - 1, DIM_USE_STEPS * step + 1);
    assert_int_equal(u.step_ps, 2 * step);
    assert_true(dim_use_ps(&u, 0, 0) == s && dim_use_ps(&u, 0, 1) == 0.75 * s);
    assert_int_equal(u.n, DIM_USE_STEPS / 2 + 1);
    dim_use_free(&u);
}

// One chunk at a time on one dimension: its queue is not empty while a collective runs.
static void test_use_of_a_run(void **state)
{
    (void)state;
    struct ran r = run("analytical", EIGHT, TRAIN(""));
    const struct training_use *use = &r.result->trainings[0].use;
    ps_t busy = 0, until = 0;
    for (size_t i = 0; i < r.result->n_collectives; i++) { // in the order of their starts
        const struct collective_result *c = &r.result->collectives[i];
        busy += c->end_ps > until ? c->end_ps - (c->start_ps > until ? c->start_ps : until) : 0;
        until = c->end_ps > until ? c->end_ps : until;
    }
    double share = (double)busy / (double)r.result->trainings[0].total_ps;
    assert_true(use->mean[0] > share - 1e-9 && use->mean[0] < share + 1e-9);
    assert_false(use->spans_all);
    for (size_t i = 0; i < use->n; i++)
        assert_true(use->share[i * use->n_dims] >= 0 && use->share[i * use->n_dims] <= 1 + 1e-9);
    end(&r);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_side_by_side),       cmocka_unit_test(test_starts_apart),
        cmocka_unit_test(test_beside_an_incast),   cmocka_unit_test(test_stragglers),
        cmocka_unit_test(test_too_much),           cmocka_unit_test(test_unequal_vectors),
        cmocka_unit_test(test_longest_run),        cmocka_unit_test(test_jitter),
        cmocka_unit_test(test_straggler_mistakes), cmocka_unit_test(test_dimension_use),
        cmocka_unit_test(test_use_of_a_run),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
