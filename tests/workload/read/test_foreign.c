// SPDX-License-Identifier: MIT
// Files of others in their own forms, by the keys that take files of ours: distributions of sizes
// as fractions, in packets and with headings; connection matrices of htsim; SimAI's first lines.
// All texts are of our own making. Cost: milliseconds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/config/load.h"
#include "workload/flows.h"
#include "workload/read/cdf_file.h"
#include "workload/training/training_job.h"
#include "workload/training/training_loop.h"

static void put(const char *name, const char *text) { file_write(name, text, strlen(text)); }

/* ---- distributions ---- */

// Reads sizes.txt in the folder of the tests. Returns the number of warnings, or -1.
static int read_sizes(const char *text, struct cdf *cdf, const char *says)
{
    struct err err = {0};
    put("sizes.txt", text);
    int status = cdf_file_read(folder, "sizes.txt", "cdf", cdf, &err);
    if (says)
        assert_said(&err, text, says);
    int warnings = (int)(err.n_items - err.n_errors);
    err_free(&err);
    file_remove("sizes.txt");
    return status == 0 ? warnings : -1;
}

static void check_same(const char *text, double scale)
{
    struct cdf percent, other;
    assert_int_equal(read_sizes("0 0\n1460 25\n14600 100\n", &percent, NULL), 0);
    int warnings = read_sizes(text, &other, scale > 1 ? "packets of 1460 bytes" : NULL);
    assert_int_equal(warnings, scale > 1);
    assert_int_equal(other.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_true(other.points[i].bytes == percent.points[i].bytes);
        assert_true(other.points[i].share == percent.points[i].share);
    }
    cdf_free(&percent);
    cdf_free(&other);
}

static void test_sizes(void **state)
{
    (void)state;
    struct cdf none;
    check_same("0 0\n1460 0.25\n14600 1\n", 1);
    check_same("size share\n0 0\n1460B 0.25\n14.6KB 1\n", 1);
    check_same("0 0\n1460 24.99\n14600 99.96\n", 1);
    check_same("0 1 0\n1 1 0.25\n10 1 1\n", 1460);
    assert_int_equal(read_sizes("0 0\n1460 0.25\n14600 0.9\n", &none, "the last line"), -1);
    assert_int_equal(read_sizes("0 0\nx 0.25\n14600 1\n", &none, "line 2"), -1);
    assert_int_equal(read_sizes("0 0\n1 1 0.25\n14600 1\n", &none, "line 2"), -1);
}

/* ---- connection matrices ---- */

#define FLOWS(more)                                                                                \
    "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":8}]},"                  \
    "\"workload\":{\"kind\":\"flows\",\"file\":\"m.cm\"" more "}}"

static void check_matrix(const char *text, const char *scenario, ps_t late_ps, const char *warning)
{
    struct err err = {0};
    put("m.cm", text);
    struct scenario *s = load(scenario, &err);
    assert_non_null(s);
    if (warning)
        assert_said(&err, text, warning);
    const struct flow_list *list = job_flows(&scenario_spec(s)->jobs[0]);
    assert_int_equal(list->n, 2);
    assert_int_equal(list->flows[0].src, 3);
    assert_int_equal(list->flows[0].dst, 1);
    assert_int_equal(list->flows[0].bytes, 500000);
    assert_int_equal(list->flows[0].start_ps, 0);
    assert_int_equal(list->flows[1].src, 5);
    assert_int_equal(list->flows[1].bytes, 700000);
    assert_int_equal(list->flows[1].start_ps, late_ps);
    scenario_free(s);
    err_free(&err);
    file_remove("m.cm");
}

static void test_matrix(void **state)
{
    (void)state;
    static const char text[] = "# ours\nNodes 8\nConnections 2\n3->1 id 1 msg start 0 size "
                               "500000\n"
                               "5->2 msg 4 prio 3 size 700000 start 40\n";
    check_matrix(text, FLOWS(""), 40 * PS_PER_US, "microseconds");
    check_matrix(text, FLOWS(",\"start_unit\":\"ps\""), 40, NULL);
    static const struct {
        const char *lines, *says;
    } bad[] = {
        {"3->1 size 5 trigger 7\n", "line 3: trigger: flows have no triggers"},
        {"3->1 start 0 size 5 trigger 7\n", "line 3: has a start and a trigger"},
        {"3->1 size 5 trigger 0\n", "line 3: trigger 0: ids of triggers begin at 1"},
        {"trigger id 1 sometimes\n", "line 3: a trigger is \"trigger id N oneshot\""},
        {"trigger id 1 barrier\n", "line 3: a trigger is"},
        {"3->8 start 0 size 5\n", "line 3: \"3->8\" is not SRC->DST of 8 nodes"},
        {"3->1 start x size 5\n", "line 3: start \"x\""},
        {"3->1 start 0 size -5\n", "line 3: size \"-5\""},
        {"3->1 start 0 speed 5\n", "line 3: \"speed\""},
        {"3->1 start 0\n", "line 3: a size from 1 B is missing"},
        {"3->1 size 5\n", "line 3: start is missing"},
        {"3->1 start 0 size\n", "line 3: size has no value"},
        {"failure switch_type TOR\n", "line 3: links that fail are in `faults`"},
        {"3->1 start 0 size 5\n4->1 start 0 size 5\n", "1 connections are declared, and 2 follow"},
        {"hello\n", "line 3: is not a line of a connection matrix"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        char whole[256];
        snprintf(whole, sizeof whole, "Nodes 8\nConnections 1\n%s", bad[i].lines);
        put("m.cm", whole);
        assert_null(load(FLOWS(""), &err));
        assert_said(&err, whole, bad[i].says);
        err_free(&err);
    }
    file_remove("m.cm");
}

/* ---- SimAI ---- */

#define TRAINING                                                                                   \
    "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":8}]},"                  \
    "\"workload\":{\"kind\":\"training\",\"file\":\"w.txt\"}}"
#define LAYER "\n1\nl -1 10 ALLREDUCE 4096 1 NONE 0 1 NONE 0 1\n"
#define WORDS "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: "

static struct scenario *load_simai(const char *first, const char *layers, struct err *err)
{
    char whole[1024];
    snprintf(whole, sizeof whole, "%s%s", first, layers);
    put("w.txt", whole);
    struct scenario *s = load(TRAINING, err);
    file_remove("w.txt");
    return s;
}

static void check_simai(const char *first, const char *layers, const char *says)
{
    struct err err = {0};
    struct scenario *s = load_simai(first, layers, &err);
    assert_true((s == NULL) == (says != NULL));
    if (says)
        assert_said(&err, first, says);
    scenario_free(s);
    err_free(&err);
}

static void test_simai(void **state)
{
    (void)state;
    static const struct {
        const char *words, *says;
    } lines[] = {
        {"8 ep: 1 pp: 1 vpp: 1 ga: 1 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0", NULL},
        {"8 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0", NULL},
        // micro-batches are written out, and without a pipeline nothing has stages
        {"2 ep: 4 pp: 1 vpp: 36 ga: 8 all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0", NULL},
        {"2 ep: 1 pp: 1 all_gpus: 8", NULL},
        {"2 some: 1 all_gpus: 8 other: 0 checkpoints: 0 checkpoint_initiates: 0", NULL},
        {"2 some: 2 all_gpus: 8", "\"some:\" 2 is not known; if it changes nothing"},
        // with stages the job is one of them
        {"2 ep: 2 pp: 4 vpp: 2 ga: 8 all_gpus: 32 checkpoints: 0 checkpoint_initiates: 0 pp_comm 9",
         NULL},
        {"2 pp: 2 all_gpus: 8", "the file is of 4 GPUs a stage, and the job has 8 ranks"},
        {"2 pp: 3 all_gpus: 8", "pp: 3 stages do not divide 8 GPUs"},
        {"2 pp: 2 checkpoints: 0 checkpoint_initiates: 0", "pp: 2 stages do not divide 0 GPUs"},
        {"2 cp: 2 all_gpus: 8", "cp: 2: a split of sequences has no meaning"},
        {"2 ep: 3 all_gpus: 8", "ep: 3 does not divide the 4 data-parallel ranks"},
        {"8 ep: 1 all_gpus: 16", "the file is of 16 GPUs, and the job has 8 ranks"},
        {"8 ep: x checkpoints: 0 checkpoint_initiates: 0", "ep:"},
        {"8 ep: -1 all_gpus: 8", "ep:"},
        {"8 ep: 99999999999 all_gpus: 8", "ep:"},
        {"8 ep: 1 all_gpus:", "\"checkpoints:\" is expected, not \"all_gpus:\""},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char first[256];
        snprintf(first, sizeof first, WORDS "%s", lines[i].words);
        check_simai(first, LAYER, lines[i].says);
    }
}

/* ---- the groups of SimAI's collectives ---- */

#define EXPERTS WORDS "2 ep: 2 pp: 1 all_gpus: 8"

// Of 8 ranks, 2 share a layer and 2 of the 4 data-parallel ranks share experts: dimensions of 2.
static void test_groups(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *s = load_simai(
        EXPERTS,
        "\n2 # layers\n# experts\na -1 1 ALLTOALL_EP 64 1 ALLGATHER 64 1 ALLREDUCE 64 1 # end\n"
        "b -1 1 ALLREDUCE 64 1 NONE 0 1 ALLGATHER_DP_EP 64 1\n",
        &err);
    assert_non_null(s);
    const struct job_spec *job = &scenario_spec(s)->jobs[0];
    const struct training_settings *t = job->settings;
    static const struct {
        uint32_t layer;
        enum training_part part;
        uint32_t dims;
    } wants[] = {{0, TRAINING_FWD, 2},
                 {0, TRAINING_IG, 1},
                 {0, TRAINING_WG, 6},
                 {1, TRAINING_FWD, 1},
                 {1, TRAINING_WG, 4}};
    assert_int_equal(t->schedule.n_dims, 3);
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++)
        assert_int_equal(training_dims(&t->training, wants[i].layer, wants[i].part, &t->schedule),
                         wants[i].dims);
    // An all-gather's size is that of its result.
    assert_int_equal(training_request(t, 1 * TRAINING_PARTS + TRAINING_WG).bytes, 64);
    scenario_free(s);
    err_free(&err);
}

static void test_groups_refused(void **state)
{
    (void)state;
    static const struct {
        const char *first, *type, *says;
    } bad[] = {
        {WORDS "2 all_gpus: 8", "ALLTOALL_EP",
         "line 3: fwd type: ALLTOALL_EP is of a group of exp"},
        {"DATA", "ALLREDUCE_DP_EP", "the first line has no \"ep:\""},
        {EXPERTS, "BROADCAST", "line 3: fwd type: BROADCAST: the form does not say which rank"},
        {EXPERTS, "BROADCAST_EP", "write NONE 0"},
        {EXPERTS, "ALLTOALL_XY", "unknown \"ALLTOALL_XY\"; did you mean \"ALLTOALL\"?"},
        {EXPERTS, "_EP", "unknown \"_EP\""},
        {EXPERTS, "ALLTOALL_EP_EP", "unknown"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char layers[256];
        snprintf(layers, sizeof layers, "\n1\na -1 1 %s 64 1 NONE 0 1 NONE 0 1\n", bad[i].type);
        check_simai(bad[i].first, layers, bad[i].says);
    }
    // Without experts that are shared, a group of them is one rank, and nothing is exchanged.
    check_simai(WORDS "2 ep: 1 all_gpus: 8", "\n1\na -1 1 ALLTOALL_EP 64 1 NONE 0 1 NONE 0 1\n",
                NULL);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),          cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_simai),          cmocka_unit_test(test_groups),
        cmocka_unit_test(test_groups_refused),
    };
    return cmocka_run_group_tests_name("foreign files", tests, folder_make, folder_remove);
}
