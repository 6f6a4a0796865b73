// SPDX-License-Identifier: MIT
// Scenarios as descriptions: defaults, jobs, overrides, warnings, --set, the resolved form.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/config/load.h"
#include "transport/roce/roce_spec.h"
#include "transport/transport.h"
#include "workload/collective_job.h"
#include "workload/flows.h"

static struct scenario *load_good(const char *text, const struct collwire_setting *sets, size_t n)
{
    struct err err = {0};
    struct scenario *scenario = load_text(text, strlen(text), sets, n, &err);
    for (size_t i = 0; i < err.n_items; i++)
        print_message("%s\n", err.items[i].text);
    assert_non_null(scenario);
    assert_int_equal(err.n_errors, 0);
    err_free(&err);
    return scenario;
}

static void test_defaults(void **state)
{
    (void)state;
    struct scenario *scenario = load_good(GOOD, NULL, 0);
    const struct spec *spec = scenario_spec(scenario);
    const struct dim_spec *dim = &spec->dims[0];
    assert_string_equal(spec->name, "t");
    assert_int_equal(spec->seed, 1);
    assert_true(spec->duration_ps == PS_NEVER);
    assert_int_equal(spec->n_dims, 1);
    assert_string_equal(dim->cc->name, "none");
    assert_int_equal(dim->sw.buffer_bytes, PARAM_AUTO);
    assert_true(dim->sw.pfc.enabled && dim->sw.pfc.alpha == 0.125);
    assert_true(dim->sw.pfc.headroom_bytes == PARAM_AUTO);
    assert_int_equal(dim->sw.ecn.mode, ECN_AUTO);
    assert_string_equal(dim->transport.ops->name, "roce");
    assert_int_equal(roce_spec_const(&dim->transport)->mtu_bytes, 4096);
    assert_int_equal(roce_spec_const(&dim->transport)->ack_interval, 1);
    assert_int_equal(dim->transport.overhead, OVERHEAD_ETHERNET);
    assert_int_equal(roce_spec_const(&dim->transport)->cnp, CNP_NP_TIMER);
    assert_int_equal(roce_spec_const(&dim->transport)->qp, QP_PERSISTENT);
    assert_true(spec->limits.stall_ps == 100 * PS_PER_MS);
    assert_true(spec->limits.sim_time_ps == PS_NEVER);
    assert_true(spec->limits.wall_s == 0 && spec->limits.events == 0);
    assert_int_equal(spec->report.flows_max, 10000);
    assert_true(spec->report.sample_ps == 0);
    assert_int_equal(spec->n_jobs, 1);
    assert_int_equal(job_flows(&spec->jobs[0])->n, 4);
    assert_string_equal(scenario_dir(scenario), folder);
    scenario_free(scenario);
}

// A latency given by the name of a chip, and the delay of a code, become times.
static void test_time_words(void **state)
{
    (void)state;
    struct collwire_setting sets[] = {{"switch.latency", "trident2"},
                                      {"topology.dims[0].link.fec", "rs544"}};
    struct scenario *scenario = load_good(GOOD, sets, 2);
    const struct dim_spec *dim = &scenario_spec(scenario)->dims[0];
    assert_int_equal(dim->sw.latency_ps, 550 * PS_PER_NS);
    assert_int_equal(dim->links[0].fec_ps, 63 * PS_PER_NS);
    assert_non_null(strstr(scenario_resolved(scenario), "\"latency\": \"550ns\""));
    assert_non_null(strstr(scenario_resolved(scenario), "\"fec\": \"63ns\""));
    scenario_free(scenario);
}

// A buffer given by the name of a chip becomes its size, also in the resolved form.
static void test_buffer_words(void **state)
{
    (void)state;
    static const struct {
        const char *word, *size;
        uint64_t bytes;
    } cases[] = {{"trident2", "\"buffer\": \"12MB\"", 12000000},
                 {"trident3", "\"buffer\": \"32MB\"", 32000000},
                 {"tomahawk3", "\"buffer\": \"64MB\"", 64000000},
                 {"spectrum4", "\"buffer\": \"160MB\"", 160000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct collwire_setting set = {"switch.buffer", cases[i].word};
        struct scenario *scenario = load_good(GOOD, &set, 1);
        assert_int_equal(scenario_spec(scenario)->dims[0].sw.buffer_bytes, cases[i].bytes);
        assert_non_null(strstr(scenario_resolved(scenario), cases[i].size));
        scenario_free(scenario);
    }
}

// Classes: values of the scenario replace the defaults, values of a dimension replace both.
static void test_classes(void **state)
{
    (void)state;
    struct scenario *scenario = load_good(
        "{\"name\":\"t\",\"switch\":{\"classes\":{\"0\":{\"lossless\":true,\"weight\":4},"
        "\"5\":{\"alpha\":2}}},\"topology\":{\"dims\":[" DIM ",{\"kind\":\"switch\",\"size\":2,"
        "\"switch\":{\"classes\":{\"0\":{\"weight\":9}}}}]},\"workload\":"
        "[{\"kind\":\"flows\",\"class\":5,\"flows\":[{\"src\":0,\"dst\":1,\"bytes\":1}]},"
        "{\"kind\":\"flows\",\"flows\":[{\"src\":0,\"dst\":1,\"bytes\":1}]}]}",
        NULL, 0);
    const struct spec *spec = scenario_spec(scenario);
    const struct class_spec *cls = spec->dims[0].sw.classes, *over = spec->dims[1].sw.classes;
    assert_int_equal(spec->jobs[0].cls, 5);
    assert_int_equal(spec->jobs[1].cls, 3);
    assert_int_equal(cls[0].lossless, LOSSLESS_ON);
    assert_int_equal(cls[0].weight, 4);
    assert_true(cls[0].alpha == PARAM_AUTO_RATIO && cls[5].alpha == 2);
    assert_int_equal(cls[3].lossless, LOSSLESS_AUTO);
    assert_int_equal(cls[3].weight, 1);
    assert_int_equal(over[0].lossless, LOSSLESS_ON);
    assert_int_equal(over[0].weight, 9);
    assert_non_null(strstr(scenario_resolved(scenario), "\"class\": 5"));
    scenario_free(scenario);
}

// A fixed limit of queues: a dimension replaces the global one, whatever its unit, or removes it.
static void test_queue_limit(void **state)
{
    (void)state;
    struct scenario *scenario = load_good(
        "{\"name\":\"t\",\"switch\":{\"queue_limit\":{\"packets\":42,\"at\":\"dim0.*\"}},"
        "\"topology\":{\"dims\":[" DIM
        ",{\"kind\":\"switch\",\"size\":2,\"switch\":{\"queue_limit\":{\"bytes\":\"3KB\"}}},"
        "{\"kind\":\"switch\",\"size\":2,\"switch\":{\"queue_limit\":\"auto\"}}]},"
        "\"workload\":{\"kind\":\"flows\",\"flows\":[{\"src\":0,\"dst\":1,\"bytes\":1}]}}",
        NULL, 0);
    static const struct queue_limit_spec wants[] = {
        {42, PARAM_AUTO, "dim0.*"}, {PARAM_AUTO, 3000, ""}, {PARAM_AUTO, PARAM_AUTO, ""}};
    assert_non_null(strstr(scenario_resolved(scenario), "\"at\": \"dim0.*\""));
    for (size_t d = 0; d < 3; d++) {
        struct queue_limit_spec got = scenario_spec(scenario)->dims[d].sw.queue_limit;
        assert_true(got.packets == wants[d].packets && got.bytes == wants[d].bytes);
        assert_string_equal(got.at, wants[d].at);
    }
    scenario_free(scenario);
}

// Links that differ by direction: a trunk without keys has those of the link, one with a rate of
// its own is the same in both directions, and the resolved form reads as the same links.
static void test_reverse(void **state)
{
    (void)state;
    static const char text[] =
        "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"leaf_spine\",\"size\":4,"
        "\"ranks_per_leaf\":2,\"spines\":1,\"link\":{\"rate\":\"10Gbps\",\"delay\":\"3us\","
        "\"reverse\":{\"rate\":\"1Gbps\"}}%s}]},\"workload\":{\"kind\":\"flows\","
        "\"flows\":[{\"src\":0,\"dst\":1,\"bytes\":1}]}}";
    static const struct {
        const char *trunk;
        uint64_t reverse_bps;
        ps_t reverse_ps;
    } cases[] = {{"", 1000000000, 3 * PS_PER_US},
                 {",\"trunk\":{}", 1000000000, 3 * PS_PER_US},
                 {",\"trunk\":{\"rate\":\"40Gbps\"}", 0, 0},
                 {",\"trunk\":{\"reverse\":{\"delay\":\"5us\"}}", 10000000000, 5 * PS_PER_US}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char buf[512];
        snprintf(buf, sizeof buf, text, cases[i].trunk);
        struct scenario *s = load_good(buf, NULL, 0);
        const struct link_spec *links = scenario_spec(s)->dims[0].links;
        assert_true(links[0].rate_bps == 10000000000 && links[0].reverse_rate_bps == 1000000000);
        assert_true(links[0].reverse_delay_ps == 3 * PS_PER_US);
        assert_true(links[1].reverse_rate_bps == cases[i].reverse_bps);
        assert_true(cases[i].reverse_bps == 0 || links[1].reverse_delay_ps == cases[i].reverse_ps);
        struct scenario *again = load_good(scenario_resolved(s), NULL, 0);
        assert_string_equal(scenario_resolved(again), scenario_resolved(s));
        scenario_free(again);
        scenario_free(s);
    }
}

// Listed losses: read, and written as they were read.
static void test_listed_losses(void **state)
{
    (void)state;
    struct scenario *scenario = load_good(
        "{\"name\":\"t\",\"topology\":{\"dims\":[" DIM
        "]},\"faults\":[{\"at\":\"rank0\",\"packets\":[3,17],\"times\":2},"
        "{\"at\":\"rank1\",\"every\":9,\"blackout\":{\"packet\":4,\"for\":\"1s\"}}],"
        "\"workload\":{\"kind\":\"flows\",\"flows\":[{\"src\":0,\"dst\":1,\"bytes\":1}]}}",
        NULL, 0);
    const struct fault_spec *faults = scenario_spec(scenario)->faults;
    assert_int_equal(faults[0].n_packets, 2);
    assert_int_equal(faults[0].packets[0], 3);
    assert_int_equal(faults[0].packets[1], 17);
    assert_int_equal(faults[0].times, 2);
    assert_int_equal(faults[0].blackout_packet, 0);
    assert_int_equal(faults[1].every, 9);
    assert_int_equal(faults[1].n_packets, 0);
    assert_int_equal(faults[1].blackout_packet, 4);
    assert_true(faults[1].blackout_ps == PS_PER_S);
    const char *resolved = scenario_resolved(scenario);
    struct scenario *again = load_good(resolved, NULL, 0);
    assert_string_equal(scenario_resolved(again), resolved);
    assert_non_null(strstr(resolved, "\"for\": \"1s\""));
    scenario_free(again);
    scenario_free(scenario);
}

static void test_jobs(void **state)
{
    (void)state;
    static const char list[] = "1, 2, 1KB, 500\r\n\n3,0,7\n";
    file_write("flows.csv", list, sizeof list - 1);
    struct scenario *scenario =
        load_good("{\"name\":\"t\",\"topology\":{\"dims\":[" DIM "]},\"workload\":[{" COLL
                  "},{\"kind\":\"incast\",\"receiver\":2,\"senders\":3,\"bytes\":5},"
                  "{\"kind\":\"incast\",\"receiver\":1,\"senders\":[3,0],\"bytes\":5,"
                  "\"start\":\"1us\"},{\"kind\":\"flows\",\"ranks\":[3,1],\"flows\":[{\"src\":0,"
                  "\"dst\":1,\"bytes\":9}]},{\"kind\":\"flows\",\"file\":\"flows.csv\","
                  "\"name\":\"csv\"}]}",
                  NULL, 0);
    file_remove("flows.csv");
    const struct job_spec *jobs = scenario_spec(scenario)->jobs;
    const struct collective_settings *collective = jobs[0].settings;
    assert_string_equal(collective->schedule.choice[COLL_ALL_REDUCE][0].algorithm->name, "ring");
    assert_int_equal(collective->schedule.chunks, 1);
    assert_int_equal(collective->params.op, COLL_ALL_REDUCE);
    assert_string_equal(jobs[0].name, "collective");
    static const uint32_t senders[] = {0, 1, 3};
    assert_int_equal(job_flows(&jobs[1])->n, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(job_flows(&jobs[1])->flows[i].src, senders[i]);
    assert_int_equal(job_flows(&jobs[2])->flows[0].src, 3);
    assert_int_equal(job_flows(&jobs[2])->flows[1].src, 0);
    assert_int_equal(jobs[2].start_ps, PS_PER_US);
    assert_int_equal(jobs[3].n_ranks, 2);
    assert_int_equal(jobs[3].ranks[0], 3);
    assert_int_equal(job_flows(&jobs[4])->n, 2);
    assert_int_equal(job_flows(&jobs[4])->flows[0].bytes, 1000);
    assert_int_equal(job_flows(&jobs[4])->flows[0].start_ps, 500 * PS_PER_NS);
    assert_int_equal(job_flows(&jobs[4])->flows[1].dst, 0);
    assert_string_equal(jobs[4].name, "csv");
    scenario_free(scenario);
}

static void test_overrides(void **state)
{
    (void)state;
    struct scenario *scenario =
        load_good("{\"name\":\"t\",\"switch\":{\"buffer\":\"16MB\",\"ecn\":{\"enabled\":false}},"
                  "\"cc\":{\"kind\":\"dcqcn\",\"preset\":\"paper\",\"f\":3},"
                  "\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":4,"
                  "\"switch\":{\"pfc\":{\"alpha\":1}},\"cc\":{\"g\":0.5}},{" LEAF
                  ",\"ranks_per_leaf\":4,\"spines\":2,\"cc\":{\"kind\":\"window\"},"
                  "\"link\":{\"rate\":\"400Gbps\"},\"trunk\":{\"delay\":\"5us\"},"
                  "\"switch\":{\"ecn\":\"auto\"}}]},\"workload\":" JOB "}",
                  NULL, 0);
    const struct dim_spec *dims = scenario_spec(scenario)->dims;
    assert_int_equal(dims[0].sw.buffer_bytes, 16000000);
    assert_true(dims[0].sw.pfc.alpha == 1);
    assert_int_equal(dims[0].sw.ecn.mode, ECN_OFF);
    assert_string_equal(dims[0].cc_preset->name, "paper");
    char buf[PARAM_TEXT_MAX];
    const struct cc_ops *dcqcn = dims[0].cc;
    struct param f = param_find(dcqcn->params, dcqcn->n_params, "f"),
                 g = param_find(dcqcn->params, dcqcn->n_params, "g");
    assert_string_equal(param_text(&f, dims[0].cc_params, buf), "3");
    assert_string_equal(param_text(&g, dims[0].cc_params, buf), "0.5");
    assert_string_equal(dims[1].cc->name, "window");
    assert_true(dims[1].sw.pfc.alpha == 0.125);
    assert_int_equal(dims[1].sw.ecn.mode, ECN_AUTO);
    assert_true(dims[1].links[1].rate_bps == UINT64_C(400000000000));
    assert_int_equal(dims[1].links[1].delay_ps, 5 * PS_PER_US);
    assert_int_equal(dims[1].links[0].delay_ps, PS_PER_US);
    scenario_free(scenario);
}

static void test_warnings(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *scenario =
        load("{\"name\":\"t\",\"cc\":{\"kind\":\"dcqcn\",\"preset\":\"hpcc_sim\"},"
             "\"switch\":{\"ecn\":{\"enabled\":false}},\"transport\":{\"cnp\":\"np_timer\"},"
             "\"topology\":{\"dims\":[" DIM "]},\"workload\":" JOB "}",
             &err);
    assert_non_null(scenario);
    assert_int_equal(err.n_errors, 0);
    assert_int_equal(err.n_items, 2);
    assert_said(&err, "fit", "switch.ecn: dcqcn acts on ECN marks");
    assert_said(
        &err, "fit",
        "transport.cnp: np_timer overrides per_ack, which preset hpcc_sim of dcqcn expects");
    err_free(&err);
    scenario_free(scenario);
}

// A timeline that would be empty is warned of, with its path; jobs that have one are not.
static void test_empty_timeline(void **state)
{
    (void)state;
    static const struct {
        const char *job;
        bool empty;
    } cases[] = {
        {"{\"kind\":\"permutation\",\"bytes\":1}", true},
        {"{\"kind\":\"collective\",\"op\":\"all_reduce\",\"bytes\":4096}", false},
        {"[{\"kind\":\"permutation\",\"bytes\":1},{\"kind\":\"collective\","
         "\"op\":\"all_reduce\",\"bytes\":4096}]",
         false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"name\":\"t\",\"topology\":{\"dims\":[" DIM "]},\"workload\":%s,"
                 "\"report\":{\"timeline\":true}}",
                 cases[i].job);
        struct err err = {0};
        struct scenario *scenario = load(text, &err);
        assert_non_null(scenario);
        assert_int_equal(err.n_items, cases[i].empty);
        if (cases[i].empty)
            assert_said(&err, text, "report.timeline: will be empty");
        err_free(&err);
        scenario_free(scenario);
    }
}

// ---- the notification settings of a preset ----

static void test_notification(void **state)
{
    (void)state;
    static const struct {
        const char *cc, *transport;
        int cnp, scope;
        ps_t interval;
        size_t warnings; // the same number when the resolved scenario is read
    } cases[] = {
        {"{\"kind\":\"none\"}", "{}", CNP_NP_TIMER, CNP_SCOPE_QP, 50 * PS_PER_US, 0},
        {"{\"kind\":\"none\"}", "{\"cnp\":\"per_ack\"}", CNP_PER_ACK, CNP_SCOPE_QP, 50 * PS_PER_US,
         0},
        {"{\"kind\":\"dcqcn\"}", "{}", CNP_NP_TIMER, CNP_SCOPE_QP, 50 * PS_PER_US, 0},
        {"{\"kind\":\"dcqcn\",\"preset\":\"nic\"}", "{}", CNP_NP_TIMER, CNP_SCOPE_QP, 4 * PS_PER_US,
         0},
        {"{\"kind\":\"dcqcn\",\"preset\":\"nic\"}", "{\"cnp_interval\":\"4us\"}", CNP_NP_TIMER,
         CNP_SCOPE_QP, 4 * PS_PER_US, 0},
        {"{\"kind\":\"dcqcn\",\"preset\":\"nic\"}",
         "{\"cnp_interval\":\"10us\",\"cnp_scope\":\"port\"}", CNP_NP_TIMER, CNP_SCOPE_PORT,
         10 * PS_PER_US, 2},
        {"{\"kind\":\"dcqcn\",\"preset\":\"khan2022\"}", "{\"cnp\":\"auto\"}", CNP_PER_ACK,
         CNP_SCOPE_QP, 50 * PS_PER_US, 0},
        {"{\"kind\":\"dcqcn\",\"preset\":\"hpcc_sim\"}", "{\"cnp\":\"np_timer\"}", CNP_NP_TIMER,
         CNP_SCOPE_QP, 50 * PS_PER_US, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "{\"name\":\"t\",\"cc\":%s,\"transport\":%s,\"topology\":{\"dims\":[" DIM
                 "]},\"workload\":" JOB "}",
                 cases[i].cc, cases[i].transport);
        struct err err = {0}, later = {0};
        struct scenario *first = load(text, &err), *again = load(scenario_resolved(first), &later);
        const struct roce_spec *t = roce_spec_const(&scenario_spec(first)->dims[0].transport);
        assert_int_equal(t->cnp, cases[i].cnp);
        assert_int_equal(t->cnp_scope, cases[i].scope);
        assert_int_equal(t->cnp_interval_ps, cases[i].interval);
        assert_int_equal(err.n_items, cases[i].warnings);
        assert_int_equal(later.n_items, cases[i].warnings);
        assert_string_equal(scenario_resolved(first), scenario_resolved(again));
        err_free(&err);
        err_free(&later);
        scenario_free(first);
        scenario_free(again);
    }
}

// A dimension's policy sets its own notification, which the resolved scenario keeps separate from
// the global one.
static void test_notification_of_a_dimension(void **state)
{
    (void)state;
    struct scenario *first =
        load_good("{\"name\":\"t\",\"cc\":{\"kind\":\"dcqcn\"},"
                  "\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":2},"
                  "{\"kind\":\"switch\",\"size\":2,\"cc\":{\"kind\":\"dcqcn\","
                  "\"preset\":\"nic\"}},{\"kind\":\"switch\",\"size\":2,"
                  "\"transport\":{\"mtu\":1000},\"cc\":{\"preset\":\"khan2022\"}}]},"
                  "\"workload\":{\"kind\":\"flows\",\"flows\":[{\"src\":0,\"dst\":1,"
                  "\"bytes\":1}]}}",
                  NULL, 0);
    struct scenario *again = load_good(scenario_resolved(first), NULL, 0);
    for (int i = 0; i < 2; i++) {
        const struct dim_spec *dims = scenario_spec(i ? again : first)->dims;
        assert_int_equal(roce_spec_const(&dims[0].transport)->cnp_interval_ps, 50 * PS_PER_US);
        assert_int_equal(roce_spec_const(&dims[1].transport)->cnp_interval_ps, 4 * PS_PER_US);
        assert_int_equal(roce_spec_const(&dims[1].transport)->cnp, CNP_NP_TIMER);
        assert_int_equal(roce_spec_const(&dims[2].transport)->cnp, CNP_PER_ACK);
    }
    assert_string_equal(scenario_resolved(first), scenario_resolved(again));
    scenario_free(first);
    scenario_free(again);
}

// ---- --set ----

static void test_set(void **state)
{
    (void)state;
    static const struct collwire_setting sets[] = {
        {"cc.kind", "dcqcn"},      {"cc.rate_ai", "40Mbps"},       {"seed", "9"},
        {"switch.pfc.alpha", "2"}, {"topology.dims[0].size", "8"}, {"workload.bytes", "\"2MB\""},
        {"name", "other"},         {"switch.ecn", "{\"kmin\":1}"}, {"limits.sim_time", "1s"},
    };
    struct scenario *scenario = load_good(GOOD, sets, sizeof sets / sizeof *sets);
    const struct spec *spec = scenario_spec(scenario);
    assert_string_equal(spec->name, "other");
    assert_string_equal(spec->dims[0].cc->name, "dcqcn");
    assert_int_equal(spec->seed, 9);
    assert_int_equal(spec->dims[0].size, 8);
    assert_true(spec->dims[0].sw.pfc.alpha == 2);
    assert_int_equal(spec->dims[0].sw.ecn.kmin_bytes, 1);
    assert_int_equal(job_flows(&spec->jobs[0])->flows[7].bytes, 2000000);
    assert_true(spec->limits.sim_time_ps == PS_PER_S);
    scenario_free(scenario);
}

// ---- the resolved form ----

static void assert_fixpoint(const char *text)
{
    struct scenario *first = load_good(text, NULL, 0);
    struct scenario *again = load_good(scenario_resolved(first), NULL, 0);
    assert_string_equal(scenario_resolved(first), scenario_resolved(again));
    scenario_free(first);
    scenario_free(again);
}

static void test_resolved(void **state)
{
    (void)state;
    static const char *const texts[] = {
        GOOD,
        "{\"name\":\"t\",\"description\":\"d\",\"$schema\":\"x\",\"duration\":\"3ms\","
        "\"cc\":{\"kind\":\"dcqcn\",\"preset\":\"nic\",\"g\":0.1},"
        "\"transport\":{\"wire_overhead\":{\"data\":\"36B\",\"ack\":48},\"clock_ppm\":33.3},"
        "\"switch\":{\"pfc\":{\"headroom\":\"37500B\"},\"ecn\":{\"enabled\":false}},"
        "\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":4,\"planes\":6,\"cc\":{\"f\":2},"
        "\"switch\":{\"ecn\":\"auto\"}},{" LEAF ",\"ranks_per_leaf\":4,\"spines\":2,"
        "\"transport\":{\"mtu\":1000}}]},"
        "\"capture\":[{\"at\":\"rank0\","
        "\"file\":\"a.pcap\"}],"
        "\"report\":{\"sample\":\"10us\","
        "\"sample_at\":[\"leaf*->*\"]},"
        "\"limits\":{\"wall\":\"60s\","
        "\"events\":1000000},\"workload\":[" JOB ",{" COLL
        ",\"algorithm\":\"direct\",\"ranks\":[4,5,6]},{\"kind\":\"incast\",\"bytes\":\"1MiB\"},"
        "{\"kind\":\"incast\",\"bytes\":\"1MiB\",\"senders\":[3,4]},{\"kind\":\"flows\","
        "\"flows\":[{\"src\":0,\"dst\":9,\"bytes\":1,\"start\":\"1.5us\"}]}]}",
        "{\"name\":\"t\",\"cc\":{\"kind\":\"dcqcn\",\"g\":0.12345678901234567},"
        "\"topology\":{\"dims\":[" DIM "]},\"workload\":" JOB "}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_fixpoint(texts[i]);
    struct scenario *scenario = load_good(texts[1], NULL, 0);
    const char *text = scenario_resolved(scenario);
    static const char *const wants[] = {"\"g\": 0.1,",
                                        "\"headroom\": \"37500B\"",
                                        "\"clock_ppm\": 33.3",
                                        "\"algorithm\": \"direct\"",
                                        "\"network\": \"packet\"",
                                        "\"rate_ai\": \"5Mbps\"",
                                        "\"wall\": \"60s\""};
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        if (strstr(text, wants[i]) == NULL)
            fail_msg("not in the resolved text: %s\n%s", wants[i], text);
    scenario_free(scenario);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_limit),
        cmocka_unit_test(test_listed_losses),
        cmocka_unit_test(test_reverse),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_buffer_words),
        cmocka_unit_test(test_time_words),
        cmocka_unit_test(test_classes),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_warnings),
        cmocka_unit_test(test_empty_timeline),
        cmocka_unit_test(test_notification),
        cmocka_unit_test(test_notification_of_a_dimension),
        cmocka_unit_test(test_set),
        cmocka_unit_test(test_resolved),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
