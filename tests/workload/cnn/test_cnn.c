// SPDX-License-Identifier: MIT
// Convolutional networks: published numbers of parameters, the Oracle study's formulas term by term
// on a small network, cuts and stages against all others.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "workload/cnn/cnn_projection.h"

#define NEAR(got, want) assert_true(fabs((got) / (want)-1) < 1e-12)

static double parameters_of(int preset)
{
    struct cnn_model m = cnn_model_of(preset);
    double sum = 0;
    for (uint32_t i = 0; i < m.n; i++)
        sum += cnn_parameters(&m.layers[i]);
    cnn_model_free(&m);
    return sum;
}

// Of torchvision's models, and of the layers of MLPerf HPC's CosmoFlow, added by hand.
static void test_parameters(void **state)
{
    (void)state;
    assert_true(parameters_of(1) == 25557032);
    assert_true(parameters_of(2) == 60192808);
    assert_true(parameters_of(3) == 138357544);
    assert_true(parameters_of(4) == 5597604);
}

// 4.1e9 multiply-adds of ResNet-50, 15.5e9 of VGG-16 (He et al., 2016, and common counts).
static void test_operations(void **state)
{
    (void)state;
    const double wanted[] = {0, 4.1e9, 11.5e9, 15.5e9};
    for (int preset = 1; preset <= 3; preset++) {
        struct cnn_model m = cnn_model_of(preset);
        double flops = 0;
        for (uint32_t i = 0; i < m.n; i++)
            flops += m.layers[i].kind == CNN_POOL ? 0 : cnn_flops(&m.layers[i]);
        assert_true(fabs(flops / 2 / wanted[preset] - 1) < 0.02);
        cnn_model_free(&m);
    }
}

/* ---- a small network: two convolutions, a pool, and a connected layer ---- */

static struct cnn_layer small[] = {
    {"a", CNN_CONVOLUTION, 3, 8, {16, 16, 1}, {16, 16, 1}, {3, 3, 1}, 8},
    {"b", CNN_CONVOLUTION, 8, 16, {16, 16, 1}, {8, 8, 1}, {5, 5, 1}, 16},
    {"p", CNN_POOL, 16, 16, {8, 8, 1}, {4, 4, 1}, {2, 2, 1}, 0},
    {"f", CNN_CONNECTED, 16, 10, {4, 4, 1}, {1, 1, 1}, {1, 1, 1}, 10}};
static const struct cnn_model model = {small, 4, 4};
static const struct cnn_time times[] = {{100, 210, 5}, {50, 90, 7}, {10, 20, 0}, {30, 60, 3}};

#define X (768.0 + 2048 + 1024 + 256)         // inputs
#define Y (2048.0 + 1024 + 256 + 10)          // outputs
#define W (216.0 + 8 + 3200 + 16 + 2560 + 10) // parameters
#define B 24.0
#define D 4.0
#define ALPHA 1000.0
#define BETA 0.5

static struct cnn_plan plan_of(enum cnn_strategy strategy, uint32_t groups, uint32_t parts)
{
    return (struct cnn_plan){.model = &model,
                             .times = times,
                             .strategy = strategy,
                             .groups = groups,
                             .parts = parts,
                             .axes = {1, 1, 1},
                             .batch = (uint64_t)B,
                             .segments = 1,
                             .item_bytes = (uint64_t)D,
                             .alpha_ps = ALPHA,
                             .beta_ps = BETA,
                             .contention = 1,
                             .reuse = 0.75};
}

static void test_data(void **state)
{
    (void)state;
    struct cnn_plan p = plan_of(CNN_DATA, 6, 1);
    struct cnn_cost c = cnn_project(&p);
    NEAR(c.compute_ps, B / 6 * (190 + 380) + 15);
    NEAR(c.communication_ps, 2 * 5 * (ALPHA + W * D / 6 * BETA));
    NEAR(c.memory_bytes, 0.75 * D * (2 * B / 6 * (X + Y) + 2 * W));
    p = plan_of(CNN_SERIAL, 1, 1);
    c = cnn_project(&p);
    NEAR(c.compute_ps, B * 570 + 15);
    assert_true(c.communication_ps >= 0 && c.communication_ps <= 0);
}

static void test_channels(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct cnn_plan p = plan_of(i ? CNN_CHANNEL : CNN_FILTER, 1, 4);
        struct cnn_cost c = cnn_project(&p);
        NEAR(c.compute_ps, (B * 570 + 15) / 4);
        NEAR(c.communication_ps, 3 * 3 * (2 * ALPHA + B * (2048 + 1024) / 4 * D * BETA));
        NEAR(c.memory_bytes, 0.75 * D * (2 * B * (X + Y) + 2 * W / 4));
    }
    struct cnn_plan p = plan_of(CNN_DATA_FILTER, 3, 4);
    p.contention = 1.5;
    struct cnn_cost c = cnn_project(&p);
    NEAR(c.compute_ps, B / 12 * 570 + 15.0 / 4);
    NEAR(c.communication_ps, 3 * 3 * (2 * ALPHA + B / 3 * (2048 + 1024) / 4 * D * BETA) +
                                 2 * 2 * (ALPHA + W / 12 * D * 1.5 * BETA));
    NEAR(c.memory_bytes, 0.75 * D * (2 * B / 3 * (X + Y) + 2 * W / 4));
}

// Two by two parts: borders of one element's width of layer a, two of layer b, one of the pool,
// along both axes; the connected layer is computed by all, who gather the pool's outputs.
static void test_spatial(void **state)
{
    (void)state;
    struct cnn_plan p = plan_of(CNN_SPATIAL, 1, 4);
    cnn_cut_axes(&model, 4, p.axes);
    assert_true(p.axes[0] == 2 && p.axes[1] == 2 && p.axes[2] == 1);
    p.cut = cnn_layers_cut(&model, p.axes);
    assert_int_equal(p.cut, 3);
    struct cnn_cost c = cnn_project(&p);
    double borders = 8.0 * (3 + 8) + 2 * 8 * (8 + 16) + 4.0 * (16 + 16);
    NEAR(c.compute_ps, B * ((160.0 + 320) / 4 + 90) + 15);
    NEAR(c.communication_ps, 2 * (2 * 3 * 2 * ALPHA + 2 * B * borders * D * BETA) +
                                 3 * (ALPHA + B * 256 / 4 * D * BETA) +
                                 2 * 3 * (ALPHA + (W - 2570) / 4 * D * BETA));
    // two groups of two, cut along one axis
    p = plan_of(CNN_DATA_SPATIAL, 2, 2);
    p.axes[0] = 2;
    p.cut = 3;
    c = cnn_project(&p);
    borders = 16.0 * (3 + 8) + 2 * 16 * (8 + 16) + 8.0 * (16 + 16);
    NEAR(c.communication_ps,
         2 * 2 * 3 * ALPHA + 2 * B / 2 * borders * D * BETA + (ALPHA + B / 2 * 256 / 2 * D * BETA) +
             2 * 3 * (ALPHA + (W - 2570) / 4 * D * BETA) + 2 * (ALPHA + 2570.0 / 2 * D * BETA));
}

static void test_pipeline(void **state)
{
    (void)state;
    uint32_t stage[4];
    cnn_stages(&model, times, 3, stage);
    assert_true(stage[0] == 0 && stage[1] == 1 && stage[3] == 4);
    struct cnn_plan p = plan_of(CNN_PIPELINE, 1, 3);
    p.stage = (const uint32_t[]){0, 1, 3, 4};
    p.segments = 8;
    struct cnn_cost c = cnn_project(&p);
    NEAR(c.compute_ps, B * 10 / 8 * (100 + 210) + 7);
    NEAR(c.communication_ps, 2 * 9 * (ALPHA + B / 8 * 2048 * D * BETA));
    NEAR(c.memory_bytes, 0.75 * D * (2 * B * (2048 + 1024 + 1024 + 256) + 2 * 3216.0));
}

/* ---- cuts ---- */

// The longest stage is as short as that of the best of all cuts.
static double best_cut(const struct cnn_time *t, uint32_t n, uint32_t parts)
{
    double own = 0, best = INFINITY;
    if (parts == 1) {
        for (uint32_t i = 0; i < n; i++)
            own += t[i].forward_ps + t[i].backward_ps;
        return own;
    }
    for (uint32_t first = 1; n - first + 1 >= parts; first++) {
        own += t[first - 1].forward_ps + t[first - 1].backward_ps;
        best = fmin(best, fmax(own, best_cut(t + first, n - first, parts - 1)));
    }
    return best;
}

static void test_stages(void **state)
{
    (void)state;
    struct rng rng = rng_init(1, RNG_WORKLOAD, 0);
    for (unsigned round = 0; round < 500; round++) {
        struct cnn_layer layers[9] = {0};
        struct cnn_time t[9] = {0};
        uint32_t n = 1 + (uint32_t)rng_below(&rng, 9), parts = 1 + (uint32_t)rng_below(&rng, n),
                 stage[10];
        for (uint32_t i = 0; i < n; i++)
            t[i].forward_ps = (double)rng_below(&rng, 20);
        cnn_stages(&(struct cnn_model){layers, n, n}, t, parts, stage);
        double longest = 0;
        assert_int_equal(stage[0], 0);
        assert_int_equal(stage[parts], n);
        for (uint32_t s = 0; s < parts; s++) {
            double own = 0;
            assert_true(stage[s] < stage[s + 1]);
            for (uint32_t i = stage[s]; i < stage[s + 1]; i++)
                own += t[i].forward_ps;
            longest = fmax(longest, own);
        }
        assert_true(fabs(longest - best_cut(t, n, parts)) < 1e-6);
    }
}

static void test_limits(void **state)
{
    (void)state;
    assert_true(cnn_most_parts(&model, CNN_DATA, 24) == 24);
    assert_true(cnn_most_parts(&model, CNN_FILTER, 24) == 8);
    assert_true(cnn_most_parts(&model, CNN_CHANNEL, 24) == 8);
    assert_true(cnn_most_parts(&model, CNN_PIPELINE, 24) == 4);
    assert_true(cnn_most_parts(&model, CNN_SPATIAL, 24) == 256);
    struct cnn_model resnet = cnn_model_of(1);
    assert_true(cnn_most_parts(&resnet, CNN_FILTER, 24) == 64); // as in the study
    assert_true(cnn_most_parts(&resnet, CNN_CHANNEL, 24) == 64);
    cnn_model_free(&resnet);
    assert_false(cnn_cuts(&small[1], (const uint32_t[]){16, 1, 1})); // a part without outputs
    assert_false(cnn_cuts(&small[1], (const uint32_t[]){9, 1, 1}));
    assert_true(cnn_cuts(&small[1], (const uint32_t[]){8, 1, 1}));
    assert_false(cnn_cuts(&small[3], (const uint32_t[]){1, 1, 1}));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parameters), cmocka_unit_test(test_operations),
        cmocka_unit_test(test_data),       cmocka_unit_test(test_channels),
        cmocka_unit_test(test_spatial),    cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_stages),     cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
