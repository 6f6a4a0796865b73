// SPDX-License-Identifier: MIT
// Training jobs as keys of a scenario: the written form reads back, errors have their paths; and
// scenarios made from files of ASTRA-sim.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/collective.h"
#include "config/import_astra.h"
#include "tests/config/load.h"
#include "workload/read/job_reader.h"
#include "workload/training/astra_workload.h"
#include "workload/training/training_layers.h"

#define A "a -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 5\n"
#define B "b -1 10 ALLTOALL 11 12 ALLGATHER 13 14 REDUCESCATTER 15 16\n"
#define C                                                                                          \
    "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2\n1\n"                                    \
    "a -1 1 ALLTOALL_EP 9 2 NONE 0 3 ALLREDUCE_DP_EP 4 5\n"

static void assert_same(const struct training_spec *x, const struct training_spec *y)
{
    assert_int_equal(x->keyword, y->keyword);
    assert_int_equal(x->last_bottom_layer, y->last_bottom_layer);
    assert_int_equal(x->model_parallel, y->model_parallel);
    assert_int_equal(x->expert_parallel, y->expert_parallel);
    assert_int_equal(x->checkpoints.n, y->checkpoints.n);
    assert_int_equal(x->initiates.n, y->initiates.n);
    for (size_t i = 0; i < x->checkpoints.n; i++)
        assert_int_equal(x->checkpoints.layers[i], y->checkpoints.layers[i]);
    assert_int_equal(x->n_layers, y->n_layers);
    for (size_t i = 0; i < x->n_layers; i++) {
        const struct training_layer *a = &x->layers[i], *b = &y->layers[i];
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->update_delay_ns, b->update_delay_ns);
        assert_int_equal(a->keyword, b->keyword);
        for (int part = 0; part < TRAINING_PARTS; part++) {
            assert_int_equal(a->parts[part].compute_ns, b->parts[part].compute_ns);
            assert_int_equal(a->parts[part].op, b->parts[part].op);
            assert_int_equal(a->parts[part].bytes, b->parts[part].bytes);
            assert_int_equal(a->parts[part].group, b->parts[part].group);
        }
    }
}

static void test_back_and_forth(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "DATA\n2\n" A B,
        "HYBRID_DLRM 0\n2\n" A B,
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 2 0 1 "
        "checkpoint_initiates: 1 1\n2\n" A B,
        C,
        "HYBRID_CUSTOMIZED\n1\na 0 1 NONE 0 2 ALLTOALL 9 3 NONE 0 5 HYBRID_MODEL_DATA\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct training_spec spec, again;
        struct err err = {0};
        struct keys keys = {0};
        struct reader r = {.err = &err};
        struct place place = {.json = json_object()};
        file_write("w.txt", texts[i], strlen(texts[i]));
        assert_int_equal(astra_workload_read(folder, "w.txt", "file", &spec, &err), 0);
        file_remove("w.txt");
        training_write(place.json, "parallelism", &spec, NULL);
        assert_int_equal(training_read(&r, &place, &again), 0);
        parts_add(&keys, training_reader.parts);
        keys_check(&r, &place, &keys);
        assert_int_equal(err.n_errors, 0);
        assert_same(&spec, &again);
        training_free(&spec);
        training_free(&again);
        json_decref(place.json);
        err_free(&err);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
#define KEYS(more) "{\"parallelism\":\"DATA\",\"layers\":[{\"name\":\"a\"" more "}]}"
    static const struct {
        const char *json, *want;
    } cases[] = {
        {KEYS(""), NULL},
        {"{}", "parallelism: is required"},
        {"{\"parallelism\":\"DAT\"}", "parallelism: "},
        {"{\"parallelism\":\"DATA\"}", "layers: is required"},
        {"{\"parallelism\":\"DATA\",\"layers\":{}}", "layers: must be a list"},
        {"{\"parallelism\":\"DATA\",\"layers\":[]}", "layers: must not be empty"},
        {"{\"parallelism\":\"DATA\",\"layers\":[3]}", "layers[0]: must be an object"},
        {"{\"parallelism\":\"DATA\",\"layers\":[{}]}", "layers[0].name: is required"},
        {KEYS(",\"bwd\":{}"), "layers[0].bwd: unknown key"},
        {KEYS(",\"fwd\":1"), "layers[0].fwd: must be an object"},
        {KEYS(",\"fwd\":{\"compute\":5}"), "layers[0].fwd.compute: must be a time"},
        {KEYS(",\"fwd\":{\"compute\":\"1.5ns\"}"),
         "fwd.compute: is not a whole number of nanoseconds"},
        {KEYS(",\"ig\":{\"op\":\"gather\"}"), "layers[0].ig.op: "},
        {KEYS(",\"wg\":{\"bytes\":\"2PB\"}"), "layers[0].wg.bytes: "},
        {KEYS(",\"update_delay\":\"1ps\""), "update_delay: is not a whole number of nanoseconds"},
        {KEYS(",\"parallelism\":\"DATA\""), "layers[0].parallelism: unknown key"},
        {"{\"parallelism\":\"HYBRID_CUSTOMIZED\",\"layers\":[{\"name\":\"a\"}]}",
         "layers[0].parallelism: is required"},
        {"{\"parallelism\":\"HYBRID_DLRM\",\"layers\":[{\"name\":\"a\"}]}",
         "the last bottom layer 0 is not below the last layer 0"},
        {KEYS(",\"fwd\":{\"group\":\"tp\"}"), "layers[0].fwd.group: "},
        {KEYS(",\"fwd\":{\"op\":\"all_to_all\",\"group\":\"ep\"}"),
         "layers[0].fwd.group: is of experts: `expert_parallel` of the job must say"},
        {"{\"parallelism\":\"HYBRID_TRANSFORMER\",\"expert_parallel\":2,\"layers\":[{\"name\":"
         "\"a\",\"fwd\":{\"op\":\"all_to_all\",\"bytes\":9,\"group\":\"ep\"}}]}",
         NULL},
        {"{\"parallelism\":\"HYBRID_TRANSFORMER\",\"expert_parallel\":-2,"
         "\"layers\":[{\"name\":\"a\"}]}",
         "expert_parallel: "},
        {"{\"parallelism\":\"DATA\",\"checkpoints\":[-1],\"layers\":[{\"name\":\"a\"}]}",
         "checkpoints[0]: is not the number of a layer"},
        {"{\"parallelism\":\"DATA\",\"checkpoints\":[1],\"layers\":[{\"name\":\"a\"}]}",
         "checkpoints: layer 1 is not one of 0 to 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training_spec spec;
        struct err err = {0};
        struct reader r = {.err = &err};
        struct place place = {.json = json_loads(cases[i].json, 0, NULL)};
        int status = training_read(&r, &place, &spec);
        assert_int_equal(status, cases[i].want != NULL ? -1 : 0);
        if (cases[i].want != NULL)
            assert_said(&err, cases[i].json, cases[i].want);
        training_free(&spec);
        json_decref(place.json);
        err_free(&err);
    }
}

static char *import_texts(const char *network, const char *system, const char *workload,
                          struct err *err)
{
    char paths[3][256];
    static const char *const names[] = {"net.4x2.json", "sys.txt", "w one.txt"};
    const char *const texts[] = {network, system, workload};
    for (int i = 0; i < 3; i++) {
        in_folder(paths[i], sizeof paths[i], names[i]);
        file_write(names[i], texts[i], strlen(texts[i]));
    }
    struct astra_import from = {.network = paths[0],
                                .system = paths[1],
                                .workload = paths[2],
                                .passes = 3,
                                .compute_scale = 0.5};
    char *text = astra_import(&from, err);
    for (int i = 0; i < 3; i++)
        file_remove(names[i]);
    return text;
}

#define NETWORK                                                                                    \
    "{\"dimensions-count\":2,\"topologies-per-dim\":[\"Ring\",\"Switch\"],"                        \
    "\"units-count\":[4,2],\"links-count\":[2,1],\"link-latency\":[500,500],"                      \
    "\"link-bandwidth\":[50,6.25]}"
#define TRANSFORMER(group) "HYBRID_TRANSFORMER model_parallel_NPU_group: " group "\n2\n" A B

static void test_import(void **state)
{
    (void)state;
    struct err err = {0};
    struct training_spec spec;
    struct reader r = {.err = &err};
    char *text = import_texts(NETWORK, "endpoint-delay: 10\n", TRANSFORMER("2"), &err);
    assert_non_null(text);
    json_t *root = json_loads(text, 0, NULL), *job = json_object_get(root, "workload");
    assert_string_equal(json_string_value(json_object_get(root, "name")), "w-one-net-sys");
    assert_string_equal(json_string_value(json_object_get(root, "network")), "analytical");
    assert_int_equal(json_integer_value(json_object_get(job, "iterations")), 3);
    assert_true(json_real_value(json_object_get(job, "compute_scale")) == 0.5);
    json_t *system = json_object_get(job, "system");
    assert_int_equal(json_integer_value(json_object_get(system, "endpoint-delay")), 10);
    assert_int_equal(training_read(&r, &(struct place){.json = job}, &spec), 0);
    assert_int_equal(spec.n_layers, 2);
    assert_int_equal(spec.model_parallel, 2);
    // The remaining keys are a valid scenario: with another workload it loads.
    json_object_set_new(root, "workload", json_loads(JOB, 0, NULL));
    char *other = json_dumps(root, 0);
    struct scenario *scenario = load(other, &err);
    assert_non_null(scenario);
    assert_int_equal(scenario_spec(scenario)->dims[1].links[0].rate_bps, UINT64_C(25) << 31);
    scenario_free(scenario);
    free(other);
    free(text);
    training_free(&spec);
    json_decref(root);
    err_free(&err);
}

// Errors in all three files are reported at once.
static void test_import_mistakes(void **state)
{
    (void)state;
    struct err err = {0};
    assert_null(import_texts("{}", "delay: 1\n", "DATA\n1\n", &err));
    assert_int_equal(err.n_errors, 3);
    assert_said(&err, "network", "net.4x2.json: dimensions-count: is required");
    assert_said(&err, "system", "sys.txt, line 1: unknown key \"delay\"");
    assert_said(&err, "workload", "w one.txt, line 3: the file ends after 0 of 1 layers");
    err_free(&err);
    assert_null(import_texts(NETWORK, "", TRANSFORMER("3"), &err));
    assert_said(&err, "group", "a model-parallel group of 3 does not divide 8 ranks");
    err_free(&err);
}

// A list of algorithms that is shorter than the network leaves dimensions out of its operation's
// collectives; one warning for an operation that the job has, none for others.
static void test_short_list(void **state)
{
    (void)state;
    struct err err = {0};
    struct scenario *s = load("{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\","
                              "\"size\":4},{\"kind\":\"switch\",\"size\":2}]},"
                              "\"workload\":{\"kind\":\"training\",\"parallelism\":\"DATA\","
                              "\"layers\":[{\"name\":\"a\",\"wg\":{\"op\":\"all_reduce\","
                              "\"bytes\":9}},{\"name\":\"b\",\"wg\":{\"op\":\"all_reduce\","
                              "\"bytes\":9}}],"
                              "\"system\":{\"all-reduce-implementation\":\"ring\","
                              "\"all-to-all-implementation\":\"direct\"}}}",
                              &err);
    assert_non_null(s);
    assert_int_equal(err.n_items, 1);
    assert_true(err.items[0].warning);
    assert_said(&err, "a list of one algorithm",
                "workload.system: the list of algorithms for all_reduce is shorter than the "
                "network's 2 dimensions");
    scenario_free(s);
    err_free(&err);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_back_and_forth), cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_import), cmocka_unit_test(test_short_list),
        cmocka_unit_test(test_import_mistakes)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
