// SPDX-License-Identifier: MIT
// Times of a transformer's parts: sums of kernels written out, and one efficiency for all.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "workload/kernels/attention.h"
#include "workload/kernels/product.h"
#include "workload/llm/llm_job.h"
#include "workload/llm/llm_time.h"

#define NEAR(got, want) assert_true(fabs((double)(got) - (want)) <= 1 + 1e-9 * (want))

// 8 heads of 64, two sequences of 1,024 tokens, two tensor-parallel ranks.
static struct llm_params job(void)
{
    struct llm_settings settings;
    const char *missing[8];
    memset(&settings, 0, sizeof settings);
    params_default(llm_kind.params, llm_kind.n_params, &settings);
    struct llm_params p = settings.params;
    p.layers = 4;
    p.hidden = 512;
    p.heads = 8;
    p.sequence = 1024;
    p.vocabulary = 8000;
    p.global_batch = p.micro_batch = 2;
    p.degrees[LLM_TENSOR] = 2;
    p.dropout = 0;
    assert_int_equal(llm_resolve(&p, missing, 8), 0);
    return p;
}

static double product(const struct llm_spec *s, double m, double n, double k)
{
    struct product p = {.m = m, .n = n, .k = k, .count = 1};
    return product_ps(&s->gpu, &p);
}

static void test_forward(void **state)
{
    (void)state;
    struct llm_params p = job();
    struct llm_spec s = llm_spec_of(&p);
    struct attention a = {.heads = 8, .rows = 1024, .columns = 1024, .head = 64, .causal = true};
    double elements = 2048 * 512 / 2, // sequence parallelism halves them
        residual = traffic_ps(&s.gpu, 4 * elements) + traffic_ps(&s.gpu, 6 * elements);
    assert_true(s.by_shape);
    NEAR(llm_part_ps(&s, LLM_PART_ATTENTION, 0, false), product(&s, 2048, 768, 512) +
                                                            attention_ps(&s.gpu, &a, false) +
                                                            product(&s, 2048, 512, 256) + residual);
    NEAR(llm_part_ps(&s, LLM_PART_FFN, 0, false), product(&s, 2048, 1024, 512) +
                                                      traffic_ps(&s.gpu, 4 * 2048 * 1024) +
                                                      product(&s, 2048, 512, 1024) + residual);
    NEAR(llm_part_ps(&s, LLM_PART_LOGITS, 0, false),
         product(&s, 2048, 4000, 512) + traffic_ps(&s.gpu, 8 * 2048 * 4000));
}

// Gradients of inputs and of weights, of each product.
static void test_backward(void **state)
{
    (void)state;
    struct llm_params p = job();
    struct llm_spec s = llm_spec_of(&p);
    NEAR(llm_part_ps(&s, LLM_PART_LOGITS, 0, true), product(&s, 2048, 512, 4000) +
                                                        product(&s, 4000, 512, 2048) +
                                                        traffic_ps(&s.gpu, 8 * 2048 * 4000));
    ps_t fused = llm_part_ps(&s, LLM_PART_ATTENTION, 0, true);
    p.recompute = RECOMPUTE_SELECTIVE; // is inside the kernel already
    s = llm_spec_of(&p);
    assert_true(llm_part_ps(&s, LLM_PART_ATTENTION, 0, true) == fused);
    p.attention = LLM_ATTENTION_UNFUSED; // scores again: their products, softmax
    struct llm_spec again = llm_spec_of(&p);
    p.recompute = RECOMPUTE_NONE;
    s = llm_spec_of(&p);
    struct product scores = {.m = 1024, .n = 1024, .k = 64, .count = 8},
                   values = {.m = 1024, .n = 64, .k = 1024, .count = 8};
    NEAR(llm_part_ps(&again, LLM_PART_ATTENTION, 0, true) -
             llm_part_ps(&s, LLM_PART_ATTENTION, 0, true),
         product_ps(&s.gpu, &scores) + product_ps(&s.gpu, &values) +
             traffic_ps(&s.gpu, 2.0 * 2 * 8 * 1024 * 1024));
}

static void test_types(void **state)
{
    (void)state;
    struct llm_params p = job();
    p.hidden = 8192;
    p.heads = 64;
    p.ffn = 32768;
    p.micro_batch = p.global_batch = 16;
    struct llm_spec s = llm_spec_of(&p);
    double wide = (double)llm_part_ps(&s, LLM_PART_FFN, 0, false);
    p.precision = NUMBER_FP8;
    s = llm_spec_of(&p);
    double narrow = (double)llm_part_ps(&s, LLM_PART_FFN, 0, false);
    assert_true(narrow < 0.6 * wide && narrow > 0.5 * wide); // kernels of memory stay
    p.precision = NUMBER_16BIT;
    p.sparsity = SPARSITY_STRUCTURED;
    s = llm_spec_of(&p);
    double sparse = (double)llm_part_ps(&s, LLM_PART_FFN, 0, false);
    assert_true(sparse < 0.95 * wide && sparse > 0.9 * wide);
}

static void test_one_efficiency(void **state)
{
    (void)state;
    struct llm_params p = job();
    p.efficiency = 0.5;
    struct llm_spec s = llm_spec_of(&p);
    double rate = 989.4 * 0.5;
    NEAR(llm_part_ps(&s, LLM_PART_LOGITS, 0, false), 2.0 * 2048 * 512 * 4000 / rate);
    NEAR(llm_part_ps(&s, LLM_PART_LOGITS, 0, true), 2 * 2.0 * 2048 * 512 * 4000 / rate);
    assert_true(llm_part_contention(&s, LLM_PART_FFN, 0, false) <= 0);
    p.contention = 0.25;
    s = llm_spec_of(&p);
    NEAR(1e6 * llm_part_contention(&s, LLM_PART_FFN, 0, false), 0.25e6);
}

// Logits are a product and a kernel of memory; at half speed and undisturbed.
static void test_contention(void **state)
{
    (void)state;
    struct llm_params p = job();
    p.contention = 0.5;
    struct llm_spec s = llm_spec_of(&p);
    double products = product(&s, 2048, 4000, 512), memory = traffic_ps(&s.gpu, 8 * 2048 * 4000);
    NEAR(1e6 * llm_part_contention(&s, LLM_PART_LOGITS, 0, false), 0.5e6);
    p.memory_contention = 0;
    s = llm_spec_of(&p);
    NEAR(1e6 * llm_part_contention(&s, LLM_PART_LOGITS, 0, false),
         1e6 * (1 - (products + memory) / (2 * products + memory)));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forward),    cmocka_unit_test(test_backward),
        cmocka_unit_test(test_types),      cmocka_unit_test(test_one_efficiency),
        cmocka_unit_test(test_contention),
    };
    return cmocka_run_group_tests_name("times of transformers", tests, NULL, NULL);
}
