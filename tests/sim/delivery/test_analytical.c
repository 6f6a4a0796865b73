// SPDX-License-Identifier: MIT
// Scenarios over the analytical network, from text to metrics: times without contention, values
// that such a network lacks, and keys that it does not support.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/metrics.h"
#include "sim/simulation.h"
#include "tests/config/load.h"

#define RING                                                                                       \
    "{\"kind\":\"ring\",\"size\":4,\"parallel\":2,"                                                \
    "\"link\":{\"rate\":\"2Gbps\",\"delay\":\"500ns\"}}" // 1 B/ns over both ports
#define SWITCH                                                                                     \
    "{\"kind\":\"switch\",\"size\":4,\"planes\":2,"                                                \
    "\"link\":{\"rate\":\"1Gbps\",\"delay\":\"500ns\"}}" // 0.25 B/ns
#define FULL                                                                                       \
    "{\"kind\":\"fully_connected\",\"size\":2,\"parallel\":4,"                                     \
    "\"link\":{\"rate\":\"1Gbps\",\"delay\":\"100ns\"}}" // 0.5 B/ns
#define SCENARIO(dims, workload)                                                                   \
    "{\"name\":\"t\",\"network\":\"analytical\",\"topology\":{\"dims\":[" dims                     \
    "]},\"workload\":" workload "}"

struct ran {
    struct scenario *scenario;
    struct sim *sim;
    struct result *r;
    char *metrics;
};

static void run(struct ran *ran, const char *text)
{
    struct err err = {0};
    ran->scenario = load(text, &err);
    for (size_t i = 0; i < err.n_items; i++)
        print_message("%s\n", err.items[i].text);
    assert_non_null(ran->scenario);
    ran->sim = sim_new(scenario_spec(ran->scenario), &err);
    assert_non_null(ran->sim);
    char *about = sim_describe(ran->sim);
    assert_non_null(strstr(about, "closed form"));
    free(about);
    sim_run(ran->sim, NULL);
    ran->r = sim_result(ran->sim);
    ran->metrics = metrics_json(ran->r, scenario_resolved(ran->scenario));
    assert_int_equal(ran->r->n_ports + ran->r->n_switches + ran->r->pause_frames, 0);
    assert_true(ran->r->n_explain > 0); // more than one where something took time
    assert_non_null(strstr(ran->r->explain[ran->r->n_explain - 1], "no contention"));
    err_free(&err);
}

static void end(struct ran *ran)
{
    free(ran->metrics);
    result_free(ran->r);
    sim_free(ran->sim);
    scenario_free(ran->scenario);
}

// A flow along each dimension, and one along two at the slower bandwidth.
static void test_flows(void **state)
{
    (void)state;
    struct ran ran;
    run(&ran,
        SCENARIO(RING "," SWITCH "," FULL, "{\"kind\":\"flows\",\"flows\":[{\"src\":0,\"dst\":2,"
                                           "\"bytes\":1000},{\"src\":0,\"dst\":4,\"bytes\":1000,"
                                           "\"start\":\"7ns\"},{\"src\":0,\"dst\":16,"
                                           "\"bytes\":1000},{\"src\":3,\"dst\":4,"
                                           "\"bytes\":1000}]}"));
    const ps_t want_ns[] = {2000, 5000, 2100, 5500};
    assert_int_equal(ran.r->status, RUN_COMPLETED);
    assert_int_equal(ran.r->n_flows, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct flow_record *f = &ran.r->flows[i];
        assert_int_equal(f->status, MESSAGE_DONE);
        size_t at = f->dst == 2 ? 0 : f->dst == 16 ? 2 : f->src == 3 ? 3 : 1;
        assert_int_equal(f->fct_ps, want_ns[at] * PS_PER_NS);
        assert_int_equal(f->ideal_ps, f->fct_ps);
        assert_int_equal(f->delivered_bytes, 1000);
    }
    assert_int_equal(ran.r->sim_time_ps, 5500 * PS_PER_NS);
    assert_int_equal(ran.r->summary.bytes, 4000);
    assert_non_null(strstr(ran.metrics, "\"network\": \"analytical\""));
    end(&ran);
}

// Messages that would queue as packets do not queue here.
static void test_incast_and_permutation(void **state)
{
    (void)state;
    struct ran ran;
    run(&ran, SCENARIO(SWITCH, "{\"kind\":\"incast\",\"receiver\":0,\"bytes\":\"1MB\"}"));
    assert_int_equal(ran.r->status, RUN_COMPLETED);
    assert_int_equal(ran.r->summary.count, 3);
    assert_int_equal(ran.r->sim_time_ps, 4001000 * PS_PER_NS);
    end(&ran);
    run(&ran, SCENARIO(RING, "{\"kind\":\"permutation\",\"shift\":1,\"bytes\":\"1MB\"}"));
    assert_int_equal(ran.r->status, RUN_COMPLETED);
    assert_int_equal(ran.r->sim_time_ps, 1000500 * PS_PER_NS);
    end(&ran);
}

// A message that takes longer than the stall limit, and one that the horizon cuts off.
static void test_ends(void **state)
{
    (void)state;
    struct ran ran;
    run(&ran, SCENARIO(SWITCH, "{\"kind\":\"incast\",\"receiver\":0,\"bytes\":\"100MB\"}"));
    assert_int_equal(ran.r->status, RUN_COMPLETED); // 400 ms each
    end(&ran);
    run(&ran,
        "{\"name\":\"t\",\"network\":\"analytical\",\"topology\":{\"dims\":[" SWITCH
        "]},\"limits\":{\"sim_time\":\"1ms\"},\"workload\":{\"kind\":\"incast\",\"receiver\":0,"
        "\"bytes\":\"100MB\"}}");
    assert_int_equal(ran.r->status, RUN_INCOMPLETE);
    assert_int_equal(ran.r->summary.running, 3);
    assert_int_equal(ran.r->flows[0].fct_ps, -1);
    assert_int_equal(ran.r->n_waiting, 3);
    end(&ran);
}

// Messages of less than a nanosecond without latency take 0 ns, so no ratio is computed.
static void test_no_time_at_all(void **state)
{
    (void)state;
    struct ran ran;
    run(&ran, SCENARIO("{\"kind\":\"switch\",\"size\":2,\"link\":{\"delay\":\"0ns\"}}",
                       "{\"kind\":\"flows\",\"flows\":[{\"src\":0,\"dst\":1,\"bytes\":1}]}"));
    assert_int_equal(ran.r->status, RUN_COMPLETED);
    assert_int_equal(ran.r->flows[0].fct_ps, 0);
    assert_null(strstr(ran.metrics, "nan"));
    end(&ran);
}

static void test_collective(void **state)
{
    (void)state;
    struct ran ran;
    run(&ran,
        SCENARIO(RING, "{\"kind\":\"collective\",\"op\":\"all_gather\",\"algorithm\":\"ring\","
                       "\"bytes\":\"4MB\"}"));
    assert_int_equal(ran.r->status, RUN_COMPLETED);
    assert_int_equal(ran.r->collectives[0].end_ps, 3 * 1000500 * PS_PER_NS);
    assert_int_equal(ran.r->collectives[0].ideal_ps, -1); // there is no ideal to compare with
    end(&ran);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *more, *dim, *want;
    } cases[] = {
        {"\"capture\":[{\"at\":\"rank0\",\"file\":\"a.pcap\"}],", RING, "capture: the analytical"},
        {"\"faults\":[{\"at\":\"rank0\",\"loss\":0.1}],", RING, "faults: the analytical"},
        {"\"routes\":[{\"at\":\"a\",\"dst\":\"rank0\",\"via\":\"b\"}],", RING,
         "routes: the analytical"},
        {"\"report\":{\"sample\":\"1us\"},", RING, "report.sample: the analytical"},
        {"", RING ",{\"kind\":\"mesh\",\"size\":2}",
         "topology.dims[1].kind: the analytical network has no closed form of mesh"},
        {"", RING ",{\"kind\":\"dragonfly\",\"size\":2}",
         "topology.dims[1].kind: the analytical network has no closed form of dragonfly"},
        {"\"analytical_route\":\"links\",", RING ",{\"kind\":\"fat_tree\",\"size\":2}",
         "topology.dims[1].kind: analytical_route links has no closed form of fat_tree"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"name\":\"t\",\"network\":\"analytical\",%s\"topology\":{\"dims\":[%s]},"
                 "\"workload\":{\"kind\":\"permutation\",\"bytes\":1}}",
                 cases[i].more, cases[i].dim);
        assert_null(load(text, &err));
        assert_said(&err, cases[i].more, cases[i].want);
        err_free(&err);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flows),      cmocka_unit_test(test_incast_and_permutation),
        cmocka_unit_test(test_ends),       cmocka_unit_test(test_no_time_at_all),
        cmocka_unit_test(test_collective), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
