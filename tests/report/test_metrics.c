// SPDX-License-Identifier: MIT
// metrics.json from a result in which all fields have different values, so that a mixed-up field
// shows; reading it back for rows; null for missing values.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <cmocka.h>

#include "engine/base/text.h"
#include "report/metrics.h"
#include "report/metrics_brief.h"
#include "report/rows.h"
#include "tests/report/metrics/whole.h"

// The value at "a.b.0.c".
static const json_t *value_at(const json_t *at, const char *path)
{
    while (*path) {
        char key[64];
        size_t length = strcspn(path, ".");
        assert_true(length < sizeof key);
        memcpy(key, path, length);
        key[length] = '\0';
        at = json_is_array(at) ? json_array_get(at, (size_t)atoi(key)) : json_object_get(at, key);
        if (!at)
            fail_msg("nothing at %s", path);
        path += length + (path[length] == '.');
    }
    return at;
}

static void assert_texts(const json_t *root, const char *const (*rows)[2], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const json_t *value = value_at(root, rows[i][0]);
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(10));
        if (strcmp(text, rows[i][1]) != 0)
            fail_msg("%s is %s, not %s", rows[i][0], text, rows[i][1]);
        free(text);
    }
}

#define ASSERT_TEXTS(root, rows) assert_texts(root, rows, sizeof rows / sizeof *rows)

#define BY_KIND                                                                                    \
    "{\"weights\":211,\"gradients\":212,\"optimizer\":213,\"activations\":214,"                    \
    "\"temporary\":215,\"communication\":216}"

static const char *const of_the_run[][2] = {
    {"programs",
     "[{\"job\":7,\"name\":\"net\",\"ranks\":2,\"total_ns\":310,\"compute_ns\":100,"
     "\"exposed_comm_ns\":210,\"exposed_share\":0.6774193548,\"tokens_per_s\":213.0,"
     "\"samples_per_s\":214.0,\"mfu\":0.25,\"gpu_hours\":1.722222222e-10,"
     "\"early_ns\":211,\"bubble_share\":0.125,"
     "\"projected_ns\":300,\"projected_compute_ns\":90,\"projected_communication_ns\":210,"
     "\"projection_accuracy\":0.9677419355,\"projected_memory_bytes\":215.0,"
     "\"projected_ranks\":216.0,\"kept_layers\":null,\"swapped_layers\":null,"
     "\"recomputed_layers\":null,\"recomputed_ns\":null,"
     "\"uses\":[{\"name\":\"tensor\",\"exposed_ns\":201,\"waiting_ns\":202,\"bytes\":203}],"
     "\"layers\":[{\"name\":\"top\",\"compute_ns\":204,\"exposed_ns\":205,\"waiting_ns\":206}],"
     "\"late\":[{\"rank\":207,\"late_ns\":209}]}]"},
    {"ranks",
     "[{\"job\":1,\"rank\":207,\"finish_ns\":308,\"compute_ns\":100,\"exposed_comm_ns\":208,"
     "\"late_ns\":209,\"uses\":[{\"name\":\"tensor\",\"exposed_ns\":201,\"waiting_ns\":202,"
     "\"bytes\":203}]},{\"job\":1,\"rank\":208,\"finish_ns\":null,\"compute_ns\":0,"
     "\"exposed_comm_ns\":null,\"late_ns\":0,\"uses\":[]}]"},
    {"memory", "{\"max_bytes\":219,\"by_kind\":" BY_KIND ",\"job\":1,\"rank\":217,"
               "\"when\":\"backward\",\"capacity_bytes\":222,\"at_least\":1,\"classes\":[{"
               "\"job\":1,\"rank\":217,\"ranks\":218,\"max_bytes\":219,\"by_kind\":" BY_KIND
               ",\"when\":\"backward\"}],\"iteration\":[{\"step\":\"forward\",\"end_ns\":221,"
               "\"bytes\":220,\"by_kind\":" BY_KIND "}]}"},
    {"schema", "\"collwire.metrics/1\""},
    {"name", "\"all\""},
    {"seed", "101"},
    {"status", "\"incomplete\""},
    {"reason", "\"because\""},
    {"waiting", "[\"waits\"]"},
    {"sim_time_ns", "102"},
    {"cnps", "126"},
    {"tcp", "{\"connections\":160,\"retransmitted_segments\":161,\"fast_retransmits\":162,"
            "\"timeouts\":163,\"tail_loss_probes\":164,\"window_probes\":165,"
            "\"duplicate_acks\":166,\"spurious_retransmits\":167,\"resets\":168}"},
    {"uec", "{\"retransmitted_packets\":180,\"nacks\":181,\"timeouts\":182,"
            "\"spurious_retransmits\":183,\"grants\":184,\"requests\":185,\"ack_requests\":187,"
            "\"probes\":186}"},
    {"admission", "{\"pieces\":170,\"held_pieces\":171,\"waited_ns\":172,\"grants\":173}"},
    {"cc_cuts", "127"},
    {"explain", "[\"says so\"]"},
    {"link_changes", "[{\"t_ns\":62,\"at\":\"c->d\",\"what\":\"down\"}]"},
    {"scenario.key", "7"},
    {"recovery", "{\"naks\":138,\"timeouts\":139,\"retransmitted_packets\":140}"},
};
static const char *const of_flows[][2] = {
    {"flows.0",
     "{\"id\":1,\"job\":2,\"qp\":3,\"src\":4,\"dst\":5,\"dim\":6,\"bytes\":6000,\"start_ns\":7,"
     "\"fct_ns\":800,\"delivered_ns\":790,\"ideal_ns\":400,\"slowdown\":2.0,"
     "\"delivered_bytes\":5999,\"goodput_bps\":60000000000,\"packets\":9,"
     "\"retransmitted_packets\":10,\"cnps\":11,\"timeouts\":12,"
     "\"time\":{\"sending_ns\":301,\"queued_ns\":489},\"status\":\"completed\"}"},
    {"flows.1.fct_ns", "null"},
    {"flows.1.delivered_ns", "null"},
    {"flows.1.slowdown", "null"},
    {"flows.1.goodput_bps", "null"},
    {"flows.1.status", "\"failed\""},
    {"flows_summary.count", "103"},
    {"flows_summary.failed", "4"},
    {"flows_summary.running", "5"},
    {"flows_summary.bytes", "106"},
    {"flows_summary.jain", "0.119"},
    {"flows_summary.fct_ns", "{\"min\":107,\"mean\":109,\"p50\":109,\"p95\":110,\"p99\":111,"
                             "\"max\":112}"},
    {"flows_summary.slowdown", "{\"min\":1.13,\"mean\":1.14,\"p50\":1.15,\"p95\":1.16,"
                               "\"p99\":1.17,\"max\":1.18}"},
};
static const char *const of_collectives[][2] = {
    {"collectives.0.job", "31"},
    {"collectives.0.name", "\"grads\""},
    {"collectives.0.op", "\"all_reduce\""},
    {"collectives.0.algorithm", "\"ring+direct\""},
    {"collectives.0.ranks", "32"},
    {"collectives.0.bytes", "33"},
    {"collectives.0.start_ns", "34"},
    {"collectives.0.end_ns", "84"},
    {"collectives.0.duration_ns", "50"},
    {"collectives.0.algbw_bps", "37"},
    {"collectives.0.busbw_bps", "39"},
    {"collectives.0.ideal_ns", "36"},
    {"collectives.0.efficiency", "0.39"},
    {"collectives.0.phases",
     "[{\"dim\":1,\"op\":\"all_gather\",\"algorithm\":\"ring\",\"start_ns\":23,\"end_ns\":24,"
     "\"bytes\":21,\"messages\":22,\"queueing_ns\":25,\"network_ns\":null,"
     "\"critical\":{\"total_ns\":8,\"parts\":{\"queued_ns\":8}}}]"},
    {"collectives.0.dims", "[{\"bytes\":26,\"busy\":0.27}]"},
    {"collectives.1.end_ns", "null"},
    {"collectives.1.duration_ns", "null"},
    {"collectives.1.algbw_bps", "null"},
    {"collectives.1.busbw_bps", "null"},
    {"collectives.1.ideal_ns", "null"},
    {"collectives.1.efficiency", "null"},
    {"collectives.1.phases", "[]"},
};
static const char *const of_training[][2] = {
    {"training.job", "85"},
    {"training.name", "\"net\""},
    {"training.parallelism", "\"DATA\""},
    {"training.ranks", "86"},
    {"training.total_ns", "987"},
    {"training.compute_ns", "88"},
    {"training.exposed_comm_ns", "899"},
    {"training.exposed_iteration_ns", "450"},
    {"training.rank_end_ns", "{\"p50\":89,\"p99\":90,\"max\":91}"},
    {"training.rank_exposed_ns", "{\"p50\":92,\"p99\":93,\"max\":94}"},
    {"training.dimension_use", "[0.83]"}, // the second dimension is unused
    {"training.iterations", "[{\"end_ns\":63,\"duration_ns\":64},{\"end_ns\":null,"
                            "\"duration_ns\":null}]"},
    {"training.layers.0.name", "\"fc\""},
    {"training.layers.0.fwd",
     "{\"compute_ns\":65,\"exposed_ns\":66,\"comm_ns\":67,\"collectives\":70,"
     "\"critical_ns\":169,\"queueing_ns\":68,\"network_ns\":69}"},
    {"training.layers.0.ig.compute_ns", "71"},
    {"training.layers.0.wg.compute_ns", "77"},
};
static const char *const of_jobs[][2] = {
    {"jobs.0",
     "{\"job\":170,\"name\":\"first\",\"kind\":\"collective\",\"status\":\"completed\","
     "\"start_ns\":171,\"end_ns\":373,\"time_ns\":202,\"messages\":173,\"failed\":174,"
     "\"bytes\":175,\"fct_ns\":{\"min\":176,\"mean\":177,\"p50\":178,\"p95\":179,\"p99\":180,"
     "\"max\":181},\"slowdown\":{\"min\":1.5,\"mean\":2.5,\"p50\":3.5,\"p95\":4.5,\"p99\":5.5,"
     "\"max\":6.5},\"collectives\":182,\"collective_ns\":183,\"busbw_bps\":185,"
     "\"efficiency\":0.5,\"training\":null,\"servers\":{\"updates\":14,"
     "\"staleness\":{\"mean\":1.5,\"p50\":1.0,\"p95\":3.0,\"p99\":4.0,\"max\":5.0},"
     "\"by_staleness\":[9,5]}}"},
    {"jobs.1.status", "\"running\""},
    {"jobs.1.end_ns", "null"},
    {"jobs.1.time_ns", "null"},
    {"jobs.1.fct_ns.mean", "null"},
    {"jobs.1.slowdown.max", "null"},
    {"jobs.1.collective_ns", "null"},
    {"jobs.1.busbw_bps", "null"},
    {"jobs.1.efficiency", "null"},
    {"jobs.1.training.total_ns", "987"},
    {"jobs.1.servers", "null"},
};
static const char *const of_fabric[][2] = {
    {"pfc", "{\"pause_frames\":120,\"resume_frames\":121,\"lost_frames\":139,\"paused_ns\":123,"
            "\"ports\":[{\"at\":\"a->b\",\"class\":3,\"pauses\":41,\"paused_ns\":42}],"
            "\"watchdog_fired\":137,\"deadlock\":[\"x->y\"]}"},
    {"credits", "{\"waits\":164,\"waited_ns\":165,\"ports\":[{\"at\":\"a->b\",\"class\":3,"
                "\"waits\":41,\"waited_ns\":42}]}"},
    {"ecn", "{\"marked_packets\":124,\"marked_share\":0.25}"},
    {"drops",
     "{\"packets\":128,\"bytes\":129,\"by_reason\":{\"headroom\":130,\"lossy_threshold\":131,"
     "\"queue_limit\":158,\"control_limit\":160,\"red\":159,\"meter\":511,"
     "\"no_route\":132,\"watchdog\":136,\"nic_buffer\":187,\"link_loss\":133,"
     "\"link_corruption\":134,\"link_down\":135},"
     "\"by_place\":[{\"at\":\"a->b\",\"packets\":47,\"bytes\":48}]}"},
    {"link_retry", "{\"packets\":166,\"retries\":167,\"waited_ns\":168,"
                   "\"links\":[{\"at\":\"a->b\",\"packets\":72,\"retries\":73,"
                   "\"waited_ns\":74}]}"},
    {"trims", "{\"packets\":161,\"bytes\":162,\"last_hop_packets\":163,"
              "\"by_place\":[{\"at\":\"a->b\",\"packets\":70,\"bytes\":71}]}"},
    {"queues",
     "{\"max_bytes\":122,\"switches\":[{\"at\":\"leaf7\",\"max_bytes\":55,\"mean_bytes\":61,"
     "\"shared_bytes\":59,\"max_shared_used_bytes\":56,\"max_ingress_bytes\":58,"
     "\"max_headroom_bytes\":57,\"headroom_limit_bytes\":60}],\"ports\":[{\"at\":\"a->b\","
     "\"max_bytes\":45,\"mean_bytes\":51,\"marked_packets\":46}]}"},
    {"aggregators",
     "[{\"at\":\"leaf7\",\"buffer_bytes\":62,\"max_bytes\":63,\"reduced_bytes\":64}]"},
    {"nics", "[{\"at\":\"leaf7\",\"dim\":1,\"send_share\":0.11,\"receive_share\":0.12,"
             "\"bus_read_share\":0.13,\"bus_write_share\":0.14,\"send_lookups\":193,"
             "\"send_misses\":194,\"receive_lookups\":195,\"receive_misses\":196,"
             "\"max_held_bytes\":190,\"pauses\":191,\"dropped_packets\":192}]"},
    {"links",
     "[{\"at\":\"a->b\",\"bytes\":43,\"packets\":44,\"utilization\":0.49},{\"at\":\"b->a\","
     "\"bytes\":51,\"packets\":52,\"utilization\":0.54}]"},
};

static const char *const of_the_path[][2] = {
    {"slowest", "{\"kind\":\"training\",\"name\":\"net\",\"job\":1,\"rank\":64,\"begin_ns\":65,"
                "\"end_ns\":165,\"total_ns\":100,\"parts\":{\"compute_ns\":34,\"pace_ns\":33,"
                "\"queued_ns\":33},\"places\":[{\"at\":\"leaf0->rank1\",\"cause\":\"queued\","
                "\"ns\":61000}],\"elsewhere_ns\":17,\"places_error_ns\":3,"
                "\"layers\":[{\"name\":\"top\",\"part\":\"wg\",\"compute_ns\":62,"
                "\"comm_ns\":63}],\"iterations\":[{\"iteration\":2,\"total_ns\":9,"
                "\"parts\":{\"compute_ns\":4,\"pace_ns\":5}}]}"},
    {"reasons",
     "[{\"kind\":\"paths\",\"job\":0,\"at\":\"leaf0->spine1\",\"saving_ns\":66,"
     "\"seen\":\"uneven\",\"change\":\"spread evenly\",\"set\":[\"a=1\"],\"tried\":false,"
     "\"saved_ns\":null,\"sentence\":\"uneven paths\"},"
     "{\"kind\":\"pfc\",\"job\":3,\"at\":null,\"saving_ns\":null,\"seen\":\"uneven\","
     "\"change\":null,\"set\":null,\"tried\":false,\"saved_ns\":null,\"sentence\":\"PFC\"}]"},
};

static void test_every_key(void **state)
{
    (void)state;
    struct result r = whole();
    char *text = metrics_json(&r, "{\"key\": 7}");
    json_t *root = json_loads(text, 0, NULL);
    assert_int_equal(json_object_size(root), 38); // all but the series
    ASSERT_TEXTS(root, of_the_run);
    ASSERT_TEXTS(root, of_the_path);
    ASSERT_TEXTS(root, of_flows);
    ASSERT_TEXTS(root, of_collectives);
    ASSERT_TEXTS(root, of_training);
    ASSERT_TEXTS(root, of_jobs);
    ASSERT_TEXTS(root, of_fabric);
    json_decref(root);
    free(text);
}

// What is written briefly is what is read briefly, with and without messages from a capture, and
// shorter than the whole.
static void test_brief(void **state)
{
    (void)state;
    struct result r = whole();
    struct port_result links[] = {r.ports[0], r.ports[0], r.ports[0]};
    r.ports = links;
    r.n_ports = 3;
    for (int measured = 0; measured < 2; measured++) {
        r.measured.count = (uint64_t)measured;
        char *text = metrics_json(&r, "{}");
        struct text brief;
        FILE *out = text_open(&brief);
        metrics_write(out, &r, "{}", true);
        char *written = text_close(out, &brief);
        json_t *a = metrics_brief(text), *b = json_loads(written, 0, NULL);
        assert_true(json_equal(a, b));
        assert_int_equal(json_array_size(json_object_get(a, "links")), 1);
        assert_int_equal(json_array_size(json_object_get(a, "flows")), measured ? r.n_flows : 1);
        assert_true(r.n_flows > 1 && strlen(written) < strlen(text));
        json_decref(a);
        json_decref(b);
        free(text);
        free(written);
    }
}

static void test_what_there_is_not(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"reason", "null"},
        {"waiting", "[]"},
        {"flows", "[]"},
        {"flows_summary.jain", "null"},
        {"flows_summary.fct_ns.mean", "null"},
        {"flows_summary.slowdown.max", "null"},
        {"training", "null"},
        {"pfc.deadlock", "null"},
        {"ecn.marked_share", "0.0"},
        {"drops.by_place", "[]"},
        {"status", "\"completed\""},
    };
    struct result r = {.name = "none",
                       .flows = whole_flows,
                       .n_flows = 2,
                       .flows_complete = false,
                       .summary = {.count = 3, .failed = 1, .running = 2}};
    char *text = metrics_json(&r, "{}");
    json_t *root = json_loads(text, 0, NULL);
    ASSERT_TEXTS(root, rows);
    json_decref(root);
    free(text);
    struct training_result two[] = {whole_training, whole_training};
    r.trainings = two;
    r.n_trainings = 2;
    text = metrics_json(&r, "{}");
    root = json_loads(text, 0, NULL);
    assert_true(json_is_null(value_at(root, "training"))); // each is with its job
    json_decref(root);
    free(text);
}

static void test_run_json(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"versions.collwire", "\"9.8\""},
        {"wall_s", "1.5"},
        {"cpu_s", "0.5"},
        {"events", "141"},
        {"events_per_s", "282"},
        {"packet_hops", "142"},
        {"packet_hops_per_s", "284"},
        {"peak_rss_bytes", "143"},
        {"captures", "[{\"file\":\"r.pcap\",\"packets\":95,\"trigger_ns\":null}]"}};
    struct result r = whole();
    char *text = run_json(&r, "9.8");
    json_t *root = json_loads(text, 0, NULL);
    ASSERT_TEXTS(root, rows);
    json_decref(root);
    free(text);
}

// A collective that has not ended makes the mean over all unknown.
static void test_rows(void **state)
{
    (void)state;
    struct result r = whole();
    r.n_collectives = 1;
    whole_training.n_passes = 1;
    char *text = metrics_json(&r, "{}");
    struct rows rows = {0};
    rows_add(&rows, &(struct row_source){
                        .scenario = "all", .policy = "x:y,z", .seed = 5, .metrics = text});
    rows_add(&rows, &(struct row_source){
                        .scenario = "all", .policy = "gone", .seed = 6, .failure = "killed"});
    assert_int_equal(rows.n, 4);
    char *csv = rows_csv(&rows);
    struct rows run = {.list = rows.list, .n = 3};
    char *table = rows_run_table(&run, 80);
    assert_string_equal(
        csv, "scenario,policy,seed,job,status,sim_time_ns,training_ns,iteration_ns,"
             "exposed_iteration_ns,exposed_comm_ns,program_ns,program_exposed_ns,bubble_share,"
             "tokens_per_s,mfu,memory_bytes,"
             "collective_ns,busbw_bps,efficiency,fct_mean_ns,fct_p99_ns,fct_max_ns,jain,"
             "max_queue_bytes,marked_packets,cnps,pause_frames,paused_ns,dropped_packets,"
             "trimmed_packets,timeouts,tcp_retransmitted_segments,tcp_timeouts\n"
             "all,\"x:y,z\",5,,incomplete,102,,,,,,,,,,219,,,,109,111,112,0.119000,122,124,126,120,"
             "123,128,161,139,161,163\n"
             "all,\"x:y,z\",5,first,completed,202,,,,,,,,,,,183,185,0.500000,177,180,181,,,,,,,,,,,"
             "\n"
             "all,\"x:y,z\",5,second,running,,987,64,899,899,,,,,,,,,,,,,,,,,,,,,,,\n"
             "all,gone,6,,failed,,,,,,,,,,,,,,,,,,,,,,,,,,,,\n");
    assert_string_equal(row_sentence(&rows.list[0], 0), "because");
    assert_string_equal(row_sentence(&rows.list[0], 1), "waits");
    assert_string_equal(row_sentence(&rows.list[0], rows.list[0].n_why), "says so");
    assert_null(row_sentence(&rows.list[0], 3));
    assert_string_equal(
        table, "all (x:y,z, seed 5): incomplete\n"
               "  time         102 ns       memory       219 B        fct mean     109 ns\n"
               "  fct p99      111 ns       fct max      112 ns       jain         0.119\n"
               "  max queue    122 B        marks        124          CNPs         126\n"
               "  pauses       120          paused       123 ns       drops        128\n"
               "  trims        161          timeouts     139          TCP resent   161\n"
               "  TCP timeouts 163\n"
               "  job     status       time  training  iteration  exposed\n"
               "  first   completed  202 ns         -          -        -\n"
               "  second  running         -    987 ns    64.0 ns   899 ns\n");
    free(csv);
    free(table);
    rows_free(&rows);
    free(text);
    whole_training.n_passes = 2;
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_brief),
        cmocka_unit_test(test_what_there_is_not),
        cmocka_unit_test(test_run_json),
        cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
