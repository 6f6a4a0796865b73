// SPDX-License-Identifier: MIT
// `memory`: jobs that fit, jobs that are refused with one sentence, and what is not known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/config/load.h"
#include "workload/gpu_memory/need.h"

// A scenario of `ranks` GPUs on a switch with one more key at the top, and one job.
static struct scenario *load_job(unsigned ranks, const char *root, const char *job, struct err *err)
{
    char text[2048];
    snprintf(text, sizeof text,
             "{\"name\":\"t\",%s\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":%u}]},"
             "\"workload\":{%s}}",
             root, ranks, job);
    return load(text, err);
}

#define GPT3 "\"kind\":\"llm\",\"model\":\"gpt3_175b\",\"global_batch\":64"

// What is wrong, in one sentence with the largest kind and what would help most.
static void test_refused(void **state)
{
    static const struct {
        unsigned ranks;
        const char *root, *job, *want;
    } cases[] = {
        {8, "", GPT3 ",\"data\":8",
         "workload: needs 3.08 TB a GPU (weights 350 GB, gradients 350 GB, optimizer 2.10 TB, "
         "activations 276 GB), H100 has 80 GB: most are optimizer states, `zero` 3 would leave "},
        {8, "", GPT3 ",\"data\":8", "and a larger `tensor` or `pipeline` divides it"},
        {8, "", GPT3 ",\"data\":8", "(`memory.fit` warn runs it all the same)"},
        {64, "", GPT3 ",\"tensor\":8,\"pipeline\":8,\"gpu\":\"a100\",\"micro_batch\":2",
         "A100 has 80 GB: most are activations, `recompute` selective would leave "},
        {64, "", GPT3 ",\"tensor\":8,\"pipeline\":8,\"gpu\":\"a100_40gb\"", "A100 40 GB has 40 GB"},
        {64, "", GPT3 ",\"tensor\":8,\"pipeline\":2,\"data\":4,\"recompute\":\"full\"",
         "most are optimizer states, `zero` 1 would leave "},
        {64, "", GPT3 ",\"tensor\":8,\"pipeline\":8,\"gpu\":\"v100\",\"recompute\":\"full\"",
         "most are optimizer states, a larger `tensor` or `pipeline` divides them"},
        {64, "\"memory\":{\"capacity\":\"1GB\",\"reserve\":\"100MB\"},",
         GPT3 ",\"tensor\":8,\"pipeline\":8", "a GPU has 1 GB, less a reserve of 100 MB: "},
        {8, "\"memory\":{\"capacity\":\"1MB\"},",
         "\"kind\":\"training\",\"parallelism\":\"DATA\",\"layers\":[{\"name\":\"a\",\"wg\":{"
         "\"op\":\"all_reduce\",\"bytes\":\"1MB\"}}]",
         "workload: needs at least 8.00 MB a GPU (weights 1.00 MB, gradients 1.00 MB, optimizer "
         "6.00 MB), a GPU has 1 MB: most are optimizer states, a larger model-parallel group"},
        {8, "\"memory\":{\"capacity\":\"1MB\"},",
         "\"kind\":\"training\",\"parallelism\":\"DATA\",\"layers\":[{\"name\":\"a\",\"weights\":"
         "\"0B\",\"activations\":\"8MB\"}]",
         "needs 8.00 MB a GPU (activations 8.00 MB), a GPU has 1 MB: most are activations, "
         "`checkpoints`"},
        {8, "\"memory\":{\"capacity\":\"1GB\"},",
         "\"kind\":\"training\",\"dlrm\":{\"sharding\":\"data\"}", "would divide the tables"},
        {64, "\"memory\":{\"reserve\":\"90GB\"},",
         GPT3 ",\"tensor\":8,\"pipeline\":8,\"recompute\":\"full\"",
         "H100 has 80 GB, less a reserve of 90 GB: "},
        {8, "\"memory\":{\"capacity\":\"1GB\",\"reserve\":\"1GB\"},", GPT3 ",\"data\":8",
         "memory.reserve: leaves nothing of `capacity`"},
        {64, "\"memory\":{\"fit\":\"maybe\"},",
         GPT3 ",\"tensor\":8,\"pipeline\":8,\"recompute\":\"full\"", "memory.fit: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct scenario *scenario = load_job(cases[i].ranks, cases[i].root, cases[i].job, &err);
        assert_null(scenario);
        assert_said(&err, cases[i].job, cases[i].want);
        assert_int_equal(err.n_errors, 1);
        err_free(&err);
    }
}

// Accepted: jobs that fit into the GPU's memory, jobs on GPUs whose memory is not known, and jobs
// with `memory.fit` warn or off.
static void test_accepted(void **state)
{
    static const struct {
        unsigned ranks;
        const char *root, *job;
        size_t warnings;
    } cases[] = {
        {8, "\"memory\":{\"fit\":\"warn\"},", GPT3 ",\"data\":8", 1},
        {8, "\"memory\":{\"fit\":\"off\"},", GPT3 ",\"data\":8", 0},
        {8, "\"memory\":{\"capacity\":\"4TB\"},", GPT3 ",\"data\":8", 0},
        {64, "", GPT3 ",\"tensor\":8,\"pipeline\":8,\"recompute\":\"full\"", 0},
        // a training job names no GPU
        {8, "",
         "\"kind\":\"training\",\"parallelism\":\"DATA\",\"layers\":[{\"name\":\"a\",\"wg\":{"
         "\"op\":\"all_reduce\",\"bytes\":\"100TB\"}}]",
         0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = {0};
        struct scenario *scenario = load_job(cases[i].ranks, cases[i].root, cases[i].job, &err);
        assert_non_null(scenario);
        assert_int_equal(err.n_errors, 0);
        assert_int_equal(err.n_items, cases[i].warnings);
        scenario_free(scenario);
        err_free(&err);
    }
}

// A training job on a known machine has the memory of its GPUs.
static void test_machine(void **state)
{
    static const struct {
        const char *machine, *want;
    } cases[] = {{"dgx_h100", "H100 has 80 GB"},  {"dgx_a100", "A100 has 80 GB"},
                 {"dgx2", "V100 has 32 GB"},      {"dgx_b200", "B200 has 180 GB"},
                 {"mi300x", "MI300X has 192 GB"}, {"gh200", NULL}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        struct err err = {0};
        snprintf(text, sizeof text,
                 "{\"name\":\"t\",\"topology\":{\"machine\":\"%s\",\"nodes\":2},\"workload\":[{"
                 "\"kind\":\"training\",\"parallelism\":\"DATA\",\"layers\":[{\"name\":\"a\","
                 "\"wg\":{\"op\":\"all_reduce\",\"bytes\":\"100GB\"}}]}]}",
                 cases[i].machine);
        struct scenario *scenario = load(text, &err);
        assert_true((scenario == NULL) == (cases[i].want != NULL));
        if (cases[i].want != NULL) {
            assert_said(&err, text, cases[i].want);
            assert_said(&err, text, "workload[0]: needs at least 800 GB a GPU");
        }
        scenario_free(scenario);
        err_free(&err);
    }
}

static const struct memory_need *need_of(const struct scenario *scenario)
{
    const struct job_spec *job = &scenario_spec(scenario)->jobs[0];
    return job->kind->memory(job);
}

// Layers of a training job: what is given replaces what the exchanges show, and checkpoints keep
// only their own activations until an initiating layer recomputes.
static void test_training(void **state)
{
    static const char job[] =
        "\"kind\":\"training\",\"parallelism\":\"HYBRID_TRANSFORMER_FWD_IN_BCKWD\","
        "\"model_parallel\":2,\"checkpoints\":[0,2],\"checkpoint_initiates\":[1,3],\"layers\":["
        "{\"name\":\"a\",\"activations\":\"1MB\",\"wg\":{\"op\":\"all_reduce\",\"bytes\":\"2MB\"}},"
        "{\"name\":\"b\",\"activations\":\"10MB\",\"weights\":\"4MB\"},"
        "{\"name\":\"c\",\"fwd\":{\"op\":\"all_gather\",\"bytes\":\"50MB\"}},"
        "{\"name\":\"d\",\"activations\":\"1000MB\"}]";
    static const uint64_t mb[] = {1, 1, 101, 101, 1101, 101, 11, 1}; // kept within each step
    struct err err = {0};
    struct scenario *scenario = load_job(4, "", job, &err);
    (void)state;
    assert_non_null(scenario);
    const struct memory_need *need = need_of(scenario);
    assert_int_equal(need->n_classes, 1);
    assert_int_equal(need->classes[0].ranks, 4);
    assert_string_equal(need->classes[0].when, "backward pass of layer d");
    assert_true(need->at_least);
    const struct footprint *most = memory_need_most(need);
    assert_int_equal(most->bytes[FOOTPRINT_WEIGHTS], 6000000);
    assert_int_equal(most->bytes[FOOTPRINT_OPTIMIZER], 36000000);
    assert_int_equal(most->bytes[FOOTPRINT_COMMUNICATION], 100000000);
    assert_int_equal(need->n_steps, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(need->steps[i].within.bytes[FOOTPRINT_ACTIVATIONS], mb[i] * 1000000);
    scenario_free(scenario);
    err_free(&err);
}

// Tables of a recommendation model: of the rank with the largest ones, by how they are sharded.
static void test_tables(void **state)
{
    static const struct {
        const char *sharding;
        double rows; // of 64 columns of 4 bytes, on a rank
    } cases[] = {{"table", 2e6}, {"row", 5e6 / 4}, {"column", 5e6 / 4}, {"data", 5e6}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char job[512];
        struct err err = {0};
        snprintf(job, sizeof job,
                 "\"kind\":\"training\",\"dlrm\":{\"sharding\":\"%s\",\"n_tables\":5,\"rows\":"
                 "1000000,\"bottom\":[64],\"top\":[1]}",
                 cases[i].sharding);
        struct scenario *scenario = load_job(4, "", job, &err);
        assert_non_null(scenario);
        double dense = 4 * (13 * 64 + (6 * 5 / 2 + 64)); // weights of the two dense layers
        assert_int_equal(memory_need_most(need_of(scenario))->bytes[FOOTPRINT_WEIGHTS],
                         cases[i].rows * 256 + dense);
        scenario_free(scenario);
        err_free(&err);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused), cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_machine), cmocka_unit_test(test_training),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
