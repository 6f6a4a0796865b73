// SPDX-License-Identifier: MIT
// Text workloads of ASTRA-sim: every keyword with its arguments, and every error with its line.
// tests/theory/check_astra.py reads the public examples.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/collective.h"
#include "tests/config/load.h"
#include "workload/training/astra_workload.h"
#include "workload/training/training_layers.h"

#define A "a -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 5\n"
#define B "b -1 10 ALLTOALL 11 12 ALLGATHER 13 14 REDUCESCATTER 15 16\n"

static int read_text(const char *text, struct training_spec *spec, struct err *err)
{
    file_write("w.txt", text, strlen(text));
    int status = astra_workload_read(folder, "w.txt", "workload.file", spec, err);
    file_remove("w.txt");
    return status;
}

static void test_layers(void **state)
{
    (void)state;
    struct training_spec spec;
    struct err err = {0};
    assert_int_equal(read_text("DATA\t\t\r\n2\t\r\n" A "\r\n  " B "\n\n", &spec, &err), 0);
    assert_int_equal(spec.keyword, TRAINING_DATA);
    assert_int_equal(spec.n_layers, 2);
    const struct training_layer *a = &spec.layers[0], *b = &spec.layers[1];
    assert_string_equal(a->name, "a");
    assert_int_equal(a->parts[TRAINING_FWD].compute_ns, 1);
    assert_int_equal(a->parts[TRAINING_FWD].op, TRAINING_NO_OP);
    assert_int_equal(a->parts[TRAINING_IG].compute_ns, 2);
    assert_int_equal(a->parts[TRAINING_WG].compute_ns, 3);
    assert_int_equal(a->parts[TRAINING_WG].op, COLL_ALL_REDUCE);
    assert_int_equal(a->parts[TRAINING_WG].bytes, 4);
    assert_int_equal(a->update_delay_ns, 5);
    assert_int_equal(a->keyword, TRAINING_DATA);
    assert_int_equal(b->parts[TRAINING_FWD].op, COLL_ALL_TO_ALL);
    assert_int_equal(b->parts[TRAINING_FWD].bytes, 11);
    assert_int_equal(b->parts[TRAINING_IG].op, COLL_ALL_GATHER);
    assert_int_equal(b->parts[TRAINING_IG].bytes, 13);
    assert_int_equal(b->parts[TRAINING_WG].op, COLL_REDUCE_SCATTER);
    assert_int_equal(b->parts[TRAINING_WG].bytes, 15);
    assert_int_equal(b->update_delay_ns, 16);
    training_free(&spec);
    err_free(&err);
}

static void test_keywords(void **state)
{
    (void)state;
    static const char *const heads[TRAINING_KEYWORDS] = {
        [TRAINING_HYBRID_TRANSFORMER] = "HYBRID_TRANSFORMER model_parallel_NPU_group: 4",
        [TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD] =
            "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 checkpoints: 2 0 1 "
            "checkpoint_initiates: 1 1",
        [TRAINING_HYBRID_DLRM] = "HYBRID_DLRM 0",
        [TRAINING_HYBRID_DLRM_ENHANCED] = "HYBRID_DLRM_ENHANCED\t0",
    };
    for (int k = 0; k < TRAINING_KEYWORDS; k++) {
        struct training_spec spec;
        struct err err = {0};
        char text[512];
        snprintf(text, sizeof text, "%s\n2\n%s", heads[k] ? heads[k] : training_keywords[k],
                 k == TRAINING_HYBRID_CUSTOMIZED ? "a 0 1 NONE 0 2 NONE 0 3 NONE 4 5 MODEL\n"
                                                   "b 0 1 NONE 0 2 NONE 0 3 NONE 4 5 DATA\n"
                                                 : A B);
        assert_int_equal(read_text(text, &spec, &err), 0);
        assert_int_equal(spec.keyword, k);
        bool group =
            k == TRAINING_HYBRID_TRANSFORMER || k == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
        assert_int_equal(spec.model_parallel, group ? 4 : 0);
        if (k == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD) {
            assert_int_equal(spec.checkpoints.n, 2);
            assert_int_equal(spec.checkpoints.layers[1], 1);
            assert_int_equal(spec.initiates.n, 1);
        }
        int own = k == TRAINING_HYBRID_CUSTOMIZED ? TRAINING_MODEL : k;
        assert_int_equal(spec.layers[0].keyword, own);
        training_free(&spec);
        err_free(&err);
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want;
    } cases[] = {
        {"", "workload.file: w.txt, line 1: the file is empty"},
        {"\n\n", "the file is empty"},
        {"data\n1\n" A, "w.txt, line 1: unknown keyword \"data\""},
        {"\nDATTA\n1\n" A, "line 2: unknown keyword \"DATTA\"; did you mean \"DATA\"?"},
        {"DATA 4\n1\n" A, "line 1: 1 words too many after the keyword, from \"4\" on"},
        {"DATA", "the file ends before the number of layers"},
        {"DATA\n" A, "line 2: 12 words, not the number of layers"},
        {"DATA\n0\n", "line 2: \"0\" is not a number of layers from 1"},
        {"DATA\n-1\n", "line 2: \"-1\" is not a number of layers"},
        {"DATA\n1 1\n" A, "2 words, not the number of layers"},
        {"DATA\n99999999999999999999\n", "is not a number of layers"},
        {"DATA\n2\n" A, "line 4: the file ends after 1 of 2 layers"},
        {"DATA\n1\n" A B, "line 4: more layers than the 1 of line 2"},
        {"DATA\n1\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4\n", "line 3: 11 columns, not 12"},
        {"DATA\n1\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 4 5 6\n", "line 3: 13 columns, not 12"},
        {"HYBRID_CUSTOMIZED\n1\n" A, "line 3: 12 columns, not 13"},
        {"HYBRID_CUSTOMIZED\n1\na 0 1 NONE 0 2 NONE 0 3 NONE 4 5 WHAT\n",
         "line 3: unknown keyword \"WHAT\""},
        {"HYBRID_CUSTOMIZED\n1\na 0 1 NONE 0 2 NONE 0 3 NONE 4 5 MICRO\n",
         "line 3: keyword MICRO is not allowed for a single layer"},
        {"DATA\n1\n\xff -1 1 NONE 0 2 NONE 0 3 NONE 4 5\n",
         "line 3: the layer's name is not UTF-8 text"},
        {"DATA\n1\na x 1 NONE 0 2 NONE 0 3 NONE 4 5\n", "line 3: column 2 \"x\""},
        {"DATA\n1\na -1 x NONE 0 2 NONE 0 3 NONE 4 5\n", "line 3: fwd compute \"x\""},
        {"DATA\n1\na -1 1 NONE 0 -2 NONE 0 3 NONE 4 5\n", "line 3: ig compute \"-2\""},
        {"DATA\n1\na -1 1 NONE 0 2 NONE 0 3.5 NONE 4 5\n", "line 3: wg compute \"3.5\""},
        {"DATA\n1\na -1 1 NONE 0 2 ALLREDUC 0 3 NONE 4 5\n",
         "line 3: ig type: unknown \"ALLREDUC\"; did you mean \"ALLREDUCE\"?"},
        {"DATA\n1\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 9223372036854775809 5\n",
         "line 3: wg bytes \"9223372036854775809\" is not a whole number from 0 to"},
        {"DATA\n1\na -1 1 NONE 0 2 NONE 0 3 ALLREDUCE 99999999999999999999 5\n", "wg bytes"},
        {"DATA\n1\na -1 1 NONE 0 2 NONE 0 3 NONE 4 late\n", "line 3: update_delay \"late\""},
        {"HYBRID_DLRM\n2\n" A B, "line 1: the last bottom layer \"\""},
        {"HYBRID_DLRM 1\n2\n" A B, "line 1: the last bottom layer 1 is not below the last layer 1"},
        {"HYBRID_TRANSFORMER\n2\n" A B, "line 1: \"model_parallel_NPU_group:\" is expected"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: 0\n2\n" A B,
         "line 1: the model-parallel group has no rank"},
        {"HYBRID_TRANSFORMER model_parallel_NPU_group: four\n2\n" A B, "the model-parallel group "},
#define FWD "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 "
        {FWD "\n2\n" A B, "line 1: \"checkpoints:\" is expected, not \"\""},
        {FWD "checkpoints: 3 0 1\n2\n" A B,
         "checkpoints: 3 layers are declared, but 2 words follow"},
        {FWD "checkpoints: 1 0 0 checkpoint_initiates: 1 1\n2\n" A B,
         "\"checkpoint_initiates:\" is expected, not \"0\""},
        {FWD "checkpoints: 1 2 checkpoint_initiates: 1 1\n2\n" A B,
         "line 1: checkpoints: layer 2 is not one of 0 to 1"},
        {FWD "checkpoints: 1 1 checkpoint_initiates: 1 0\n2\n" A B,
         "checkpoint_initiates: no checkpoint at or below layer 0"},
        {FWD "checkpoints: 1 1 checkpoint_initiates: 1 1 1\n2\n" A B, "1 words too many"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training_spec spec;
        struct err err = {0};
        if (read_text(cases[i].text, &spec, &err) == 0)
            fail_msg("read: %s", cases[i].text);
        assert_null(spec.layers);
        assert_said(&err, cases[i].text, cases[i].want);
        err_free(&err);
    }
}

static void test_not_a_text(void **state)
{
    (void)state;
    struct training_spec spec;
    struct err err = {0};
    assert_int_equal(astra_workload_read(folder, "none.txt", "workload.file", &spec, &err), -1);
    assert_said(&err, "none", "workload.file: ");
    file_write("w.txt", "DATA\n\0", 6);
    assert_int_equal(astra_workload_read(folder, "w.txt", "workload.file", &spec, &err), -1);
    file_remove("w.txt");
    assert_said(&err, "NUL", "w.txt is not a text file");
    err_free(&err);
}

// A file that is truncated anywhere is either read or refused.
static void test_cut(void **state)
{
    (void)state;
    static const char text[] = FWD "checkpoints: 2 0 1 checkpoint_initiates: 1 1\n2\n" A B;
    for (size_t n = 0; n < sizeof text - 1; n++) {
        char part[sizeof text] = {0};
        struct training_spec spec;
        struct err err = {0};
        memcpy(part, text, n);
        bool read = read_text(part, &spec, &err) == 0;
        assert_int_equal(read, err.n_errors == 0);
        // without the last digit or the last line feed the file remains valid
        if (n < sizeof text - 4)
            assert_false(read);
        training_free(&spec);
        err_free(&err);
    }
}

static void test_group(void **state)
{
    (void)state;
    static const struct {
        uint64_t group;
        uint32_t dims[3];
        const char *want;
    } cases[] = {
        {1, {4, 4, 4}, NULL},
        {4, {4, 4, 4}, NULL},
        {2, {4, 4, 4}, NULL},
        {8, {4, 4, 4}, NULL},
        {64, {4, 4, 4}, NULL},
        {16, {16, 16, 1}, NULL},
        {6, {2, 3, 5}, NULL},
        {3, {4, 4, 4}, "a model-parallel group of 3 does not divide 64 ranks"},
        {128, {4, 4, 4}, "a model-parallel group of 128 does not divide 64 ranks"},
        {3, {2, 3, 5}, "must be the product of leading dimension sizes"},
        {10, {2, 3, 5}, "must be the product of leading dimension sizes"},
        {0, {4, 4, 4}, NULL}, // no such keyword
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training_spec spec = {.model_parallel = cases[i].group};
        struct err err = {0};
        int status = training_check_group(&spec, cases[i].dims, 3, "workload", &err);
        assert_int_equal(status, cases[i].want != NULL ? -1 : 0);
        if (cases[i].want != NULL)
            assert_said(&err, "group", cases[i].want);
        err_free(&err);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layers),   cmocka_unit_test(test_keywords),
        cmocka_unit_test(test_mistakes), cmocka_unit_test(test_not_a_text),
        cmocka_unit_test(test_cut),      cmocka_unit_test(test_group)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
