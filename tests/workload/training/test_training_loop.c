// SPDX-License-Identifier: MIT
// The actions of a rank in a pass, by keyword, written by hand from the rules of ASTRA-sim 1.0; and
// the dimensions of the exchanges.
//
// An action is a verb, a layer and a part: c compute, i issue, u issue urgently, w wait; parts f
// forward, g input gradient, w weight gradient. A step of 1 ns is "." and the end is "E".
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "collective/algorithm/collective.h"
#include "workload/training/training_loop.h"

#define LAYERS 4

static struct training_spec spec_of(enum training_keyword keyword, struct training_layer *layers,
                                    size_t n)
{
    struct training_spec spec = {.keyword = (int)keyword, .layers = layers, .n_layers = n};
    for (size_t i = 0; i < n; i++) {
        layers[i] = (struct training_layer){.keyword = (int)keyword};
        for (int part = 0; part < TRAINING_PARTS; part++)
            layers[i].parts[part].op = TRAINING_NO_OP;
    }
    return spec;
}

static void assert_sequence(const struct training_spec *spec, uint64_t passes, const char *want)
{
    static const char parts[] = "fgw";
    struct training_walk walk = {0};
    char text[2048] = "";
    size_t n = 0;
    for (int i = 0; i < 200; i++) {
        struct loop_action a = training_next(spec, passes, &walk);
        char verb = a.verb == LOOP_COMPUTE ? 'c' : a.verb == LOOP_WAIT ? 'w' : a.urgent ? 'u' : 'i';
        if (a.verb == LOOP_END)
            break;
        if (a.verb == LOOP_STEP)
            n += (size_t)snprintf(text + n, sizeof text - n, ". ");
        else
            n += (size_t)snprintf(text + n, sizeof text - n, "%c%u%c ", verb, a.layer,
                                  parts[a.part]);
    }
    snprintf(text + n, sizeof text - n, "E");
    assert_string_equal(text, want);
    assert_int_equal(training_next(spec, passes, &walk).verb, LOOP_END); // the end is repeated
}

static void test_loops(void **state)
{
    (void)state;
    static const struct {
        enum training_keyword keyword;
        size_t layers;
        uint64_t passes;
        const char *want;
    } cases[] = {
        {TRAINING_DATA, 1, 1, "w0w c0f . c0w i0w . E"},
        {TRAINING_DATA, 2, 2,
         "w0w c0f . w1w c1f . c1w i1w . c1g . c0w i0w . w0w c0f . w1w c1f . c1w i1w . c1g . c0w "
         "i0w . E"},
        {TRAINING_MODEL, 2, 1,
         "w0w c0f i0f w0f . w1w c1f i1f w1f . c1g i1g . c1w w1g . c0g . c0w w0g . E"},
        {TRAINING_HYBRID_DATA_MODEL, 2, 1,
         "w0w c0f i0f w0f . w1w c1f i1f w1f . c1g i1g . c1w i1w w1g . c0g . c0w i0w w0g . E"},
        {TRAINING_HYBRID_MODEL_DATA, 1, 1, "w0w c0f i0f w0f . c0g . c0w i0w w0g . E"},
        {TRAINING_HYBRID_CUSTOMIZED, 1, 1, "w0w c0f i0f w0f . c0g . c0w i0w w0g . E"},
        {TRAINING_MICRO, 2, 3, "i0w i0w i0w E"},
        {TRAINING_DISTRIBUTED_INFERENCE, 2, 2,
         "w0w c0f i0f w0f . w1w c1f i1f w1f . w0w c0f i0f w0f . w1w c1f i1f w1f . E"},
        {TRAINING_DATA, 1, 0, "E"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training_layer layers[LAYERS];
        struct training_spec spec = spec_of(cases[i].keyword, layers, cases[i].layers);
        assert_sequence(&spec, cases[i].passes, cases[i].want);
    }
}

// A wait for a part without a collective, as after a weight gradient, ends immediately.
static void test_transformer(void **state)
{
    (void)state;
    struct training_layer layers[LAYERS];
    struct training_spec spec = spec_of(TRAINING_HYBRID_TRANSFORMER, layers, 2);
    assert_sequence(&spec, 1,
                    "w0w c0f i0f w0f . w1w c1f i1f w1f . c1g i1g w1g . c1w i1w w1g . c0g i0g "
                    "w0g . c0w i0w w0g . E");
}

// Layer 3 recomputes from layer 1, through layer 2, which later recomputes too.
static void test_redone_forward(void **state)
{
    (void)state;
    struct training_layer layers[LAYERS];
    uint32_t checkpoints[] = {1, 0}, initiates[] = {3, 2};
    struct training_spec spec = spec_of(TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD, layers, 4);
    spec.checkpoints = (struct training_marks){checkpoints, 2};
    spec.initiates = (struct training_marks){initiates, 2};
    assert_sequence(&spec, 1,
                    "w0w c0f i0f w0f . w1w c1f i1f w1f . w2w c2f i2f w2f . w3w c3f i3f w3f . . "
                    "w1w c1f i1f w1f . w2w c2f i2f w2f . c3g i3g w3g . c3w i3w w3g . . w1w c1f "
                    "i1f w1f . c2g i2g w2g . c2w i2w w2g . c1g i1g w1g . c1w i1w w1g . c0g i0g "
                    "w0g . c0w i0w w0g . E");
}

static void test_dlrm(void **state)
{
    (void)state;
    struct training_layer layers[LAYERS];
    struct training_spec spec = spec_of(TRAINING_HYBRID_DLRM, layers, 3);
    layers[0].parts[TRAINING_FWD].op = layers[0].parts[TRAINING_IG].op = COLL_ALL_TO_ALL;
    spec.last_bottom_layer = 1;
    assert_sequence(&spec, 1,
                    "w0w c0f u0f . w1w c1f w0f . w2w c2f . c2w i2w w2g . c2g u0g . c1w i1w w1g "
                    ". c1g . c0w i0w w0g . E");
    layers[1].parts[TRAINING_FWD].op = COLL_ALL_TO_ALL; // not the all-to-all of layer 0
    spec.keyword = TRAINING_HYBRID_DLRM_ENHANCED;
    assert_sequence(&spec, 1,
                    "w0w c0f u0f . w1w c1f w0f . w2w c2f . c2w i2w . c2g u0g . c1w i1w . c1g . "
                    "c0w i0w . E");
    spec.last_bottom_layer = 0;
    assert_sequence(&spec, 1,
                    "w0w c0f u0f w0f . w1w c1f . w2w c2f . c2w i2w . c2g . c1w i1w . c1g u0g . "
                    "c0w i0w . E");
    layers[0].parts[TRAINING_FWD].op = TRAINING_NO_OP; // without this collective no wait takes time
    spec.last_bottom_layer = 1;
    assert_sequence(&spec, 1,
                    "w0w c0f . w1w c1f w0f . w2w c2f . c2w i2w . c2g u0g . c1w i1w . c1g . c0w "
                    "i0w . E");
}

static void test_dims(void **state)
{
    (void)state;
    static const struct {
        enum training_keyword keyword;
        uint32_t layer, fwd, wg; // bit sets; those of ig equal those of fwd
    } cases[] = {
        {TRAINING_DATA, 0, 0, 7},
        {TRAINING_MICRO, 0, 0, 7},
        {TRAINING_MODEL, 1, 7, 0},
        {TRAINING_DISTRIBUTED_INFERENCE, 0, 7, 0},
        {TRAINING_HYBRID_DATA_MODEL, 1, 1, 6},
        {TRAINING_HYBRID_MODEL_DATA, 1, 6, 1},
        {TRAINING_HYBRID_TRANSFORMER, 0, 3, 4},
        {TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD, 1, 3, 4},
        {TRAINING_HYBRID_DLRM, 0, 7, 7},
        {TRAINING_HYBRID_DLRM, 1, 0, 7},
        {TRAINING_HYBRID_DLRM_ENHANCED, 0, 7, 7},
    };
    const struct coll_schedule schedule = {.n_dims = 3, .dim_size = {4, 2, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct training_layer layers[LAYERS];
        struct training_spec spec = spec_of(cases[i].keyword, layers, 2);
        uint32_t layer = cases[i].layer;
        spec.model_parallel = 8;
        assert_int_equal(training_dims(&spec, layer, TRAINING_FWD, &schedule), cases[i].fwd);
        assert_int_equal(training_dims(&spec, layer, TRAINING_IG, &schedule), cases[i].fwd);
        assert_int_equal(training_dims(&spec, layer, TRAINING_WG, &schedule), cases[i].wg);
    }
}

// With a group of one rank all dimensions are data parallel; with a group of all ranks none is. A
// layer of HYBRID_CUSTOMIZED has its own keyword.
static void test_dims_at_the_edges(void **state)
{
    (void)state;
    const struct coll_schedule schedule = {.n_dims = 2, .dim_size = {4, 2}};
    struct training_layer layers[LAYERS];
    struct training_spec spec = spec_of(TRAINING_HYBRID_TRANSFORMER, layers, 1);
    spec.model_parallel = 1;
    assert_int_equal(training_dims(&spec, 0, TRAINING_FWD, &schedule), 0);
    assert_int_equal(training_dims(&spec, 0, TRAINING_WG, &schedule), 3);
    spec.model_parallel = 8;
    assert_int_equal(training_dims(&spec, 0, TRAINING_FWD, &schedule), 3);
    assert_int_equal(training_dims(&spec, 0, TRAINING_WG, &schedule), 0);
    spec = spec_of(TRAINING_HYBRID_CUSTOMIZED, layers, 2);
    layers[0].keyword = TRAINING_HYBRID_MODEL_DATA;
    layers[1].keyword = TRAINING_DATA;
    assert_int_equal(training_dims(&spec, 0, TRAINING_IG, &schedule), 2);
    assert_int_equal(training_dims(&spec, 1, TRAINING_IG, &schedule), 0);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loops),          cmocka_unit_test(test_transformer),
        cmocka_unit_test(test_redone_forward), cmocka_unit_test(test_dlrm),
        cmocka_unit_test(test_dims),           cmocka_unit_test(test_dims_at_the_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
