// SPDX-License-Identifier: MIT
// Plans: the closed form of an iteration part by part, and the search against all layouts.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/plan/plan_search.h"
#include "workload/llm/llm_time.h"

#define NEAR(got, want) assert_true(fabs((got) / (want)-1) < 1e-6)
#define INNER 0.3 // bytes in a ps
#define OUTER 0.05
#define INNER_DELAY 1e5
#define OUTER_DELAY 3e6

static const struct plan_network network = {8, INNER, OUTER, INNER_DELAY, OUTER_DELAY};

static struct llm_params job(void)
{
    struct llm_params p = {.gated = 2,
                           .dropout = 2,
                           .layers = 16,
                           .hidden = 1024,
                           .heads = 16,
                           .sequence = 512,
                           .vocabulary = 32000,
                           .kv_heads = PARAM_AUTO,
                           .ffn = PARAM_AUTO,
                           .experts = 0,
                           .top_k = PARAM_AUTO,
                           .expert_ffn = PARAM_AUTO,
                           .optimizer_bytes = PARAM_AUTO,
                           .state_bytes = PARAM_AUTO,
                           .moe_every = 1,
                           .global_batch = 64,
                           .micro_batch = 1,
                           .iterations = 1,
                           .activation_bytes = 2,
                           .gradient_bytes = 2,
                           .parameter_bytes = 2,
                           .efficiency = 0.5,
                           .sequence_parallel = true,
                           .overlap = false,
                           .virtual_stages = 1,
                           .degrees = {1, 1, 1, 1, 1}};
    const char *missing[4];
    assert_int_equal(llm_resolve(&p, missing, 4), 0);
    return p;
}

static struct iteration_time time_of(const struct llm_params *p)
{
    struct llm_spec s = llm_spec_of(p);
    return iteration_time(&s, &network);
}

// Of a ring of n: a reduce-scatter or an all-gather.
static double ring(double n, double bytes, double rate, double delay)
{
    return (n - 1) * (delay + bytes / n / rate);
}

static void test_tensor(void **state)
{
    (void)state;
    struct llm_params p = job();
    p.degrees[LLM_TENSOR] = 8;
    struct iteration_time t = time_of(&p);
    // two blocks a layer and pass, gathered before and scattered after: 2 bsh elements of 2 bytes
    NEAR(t.tensor, 64 * 16 * 2 * 2 * 2 * ring(8, 512 * 1024 * 2, INNER, INNER_DELAY));
    assert_true(t.data <= 0 && t.bubble <= 0 && t.boundary <= 0);
    p.degrees[LLM_TENSOR] = 16; // beyond a server
    NEAR(time_of(&p).tensor, 64 * 16 * 8 * ring(16, 512 * 1024 * 2, OUTER, OUTER_DELAY));
}

static void test_pipeline(void **state)
{
    (void)state;
    struct llm_params p = job();
    struct iteration_time alone = time_of(&p);
    p.degrees[LLM_PIPELINE] = 4;
    struct iteration_time t = time_of(&p);
    struct llm_spec s = llm_spec_of(&p);
    double logits = 3 * (double)llm_part_ps(&s, LLM_PART_LOGITS, 0, false),
           layers = (alone.compute - 64 * logits) / 64; // of a micro-batch, forward and backward
    NEAR(t.bubble, 3 * layers / 4);
    NEAR(t.compute, 64 * (layers / 4 + logits));
    NEAR(t.boundary, 2 * 3 * (INNER_DELAY + 512 * 1024 * 2 / INNER)); // ranks 0 to 3: one server
    p.virtual_stages = 2;
    p.schedule = PIPELINE_INTERLEAVED;
    t = time_of(&p);
    NEAR(t.bubble, 3 * layers / 4 / 2);
    NEAR(t.boundary, 2 * 7 * (INNER_DELAY + 512 * 1024 * 2 / INNER));
    // stages of four ranks, two in each of two servers: of seven boundaries both chunks cross once,
    // and the way back crosses
    p.degrees[LLM_DATA] = 4;
    NEAR(time_of(&p).boundary, 2 * (3 * (OUTER_DELAY + 512 * 1024 * 2 / OUTER) +
                                    4 * (INNER_DELAY + 512 * 1024 * 2 / INNER)));
}

static void test_data(void **state)
{
    (void)state;
    struct llm_params p = job();
    double layer = 12.0 * 1024 * 1024 + 2 * 1024, tables = 2 * 32000.0 * 1024,
           parameters = 16 * layer + tables;
    p.degrees[LLM_DATA] = 16;
    NEAR(time_of(&p).data, 2 * ring(16, 2 * parameters, OUTER, OUTER_DELAY));
    p.zero = 1; // scattered once, gathered once
    NEAR(time_of(&p).data, 2 * ring(16, 2 * parameters, OUTER, OUTER_DELAY));
    double alone = time_of(&p).optimizer;
    p.zero = 0;
    NEAR(time_of(&p).optimizer, 16 * alone);
    p.overlap = true; // hidden but for the last layer and the embedding, at least
    double hidden = time_of(&p).data;
    assert_true(hidden < 2 * ring(16, 2 * parameters, OUTER, OUTER_DELAY));
    assert_true(hidden >= 2 * ring(16, 2 * (layer + tables), OUTER, OUTER_DELAY));
    p.degrees[LLM_DATA] = 4; // in a server
    p.overlap = false;
    NEAR(time_of(&p).data, 2 * ring(4, 2 * parameters, INNER, INNER_DELAY));
}

static void test_experts(void **state)
{
    (void)state;
    struct llm_params p = job();
    p.experts = 16;
    p.top_k = 2;
    p.expert_ffn = 4096;
    p.degrees[LLM_EXPERT] = 16;
    // dispatch and combine, forward and backward, of every layer: half of the tokens leave a server
    double bytes = 512.0 * 2 * 1024 * 2, leaves = OUTER_DELAY + bytes / 2 / OUTER;
    NEAR(time_of(&p).expert, 4 * 16 * 4 * leaves);
}

/* ---- the search ---- */

static uint64_t product(const struct llm_params *p)
{
    uint64_t n = 1;
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        n *= p->degrees[d];
    return n;
}

// All degrees by trying every number.
static size_t count_degrees(const struct plan_question *q)
{
    size_t n = 0;
    struct llm_params p = q->job;
    uint64_t *d = p.degrees, most = q->gpus;
    for (d[LLM_TENSOR] = 1; d[LLM_TENSOR] <= q->network.server; d[LLM_TENSOR]++)
        for (d[LLM_CONTEXT] = 1; d[LLM_CONTEXT] <= 16; d[LLM_CONTEXT] *= 2)
            for (d[LLM_EXPERT] = 1; d[LLM_EXPERT] <= most; d[LLM_EXPERT]++)
                for (d[LLM_PIPELINE] = 1; d[LLM_PIPELINE] <= most; d[LLM_PIPELINE]++)
                    for (d[LLM_DATA] = 1; d[LLM_DATA] <= most; d[LLM_DATA]++)
                        n += product(&p) == q->gpus && p.heads % d[LLM_TENSOR] == 0 &&
                             p.layers % d[LLM_PIPELINE] == 0 &&
                             (p.experts > 0 ? p.experts : 1) % d[LLM_EXPERT] == 0 &&
                             p.sequence % (d[LLM_CONTEXT] * d[LLM_TENSOR]) == 0 &&
                             p.global_batch % (d[LLM_DATA] * d[LLM_EXPERT]) == 0;
    return n;
}

static void test_search(void **state)
{
    (void)state;
    for (unsigned with = 0; with < 2; with++) {
        struct plan_question q = {.job = job(), .gpus = 24, .network = network};
        q.job.experts = with ? 6 : 0;
        q.job.heads = 12;
        q.job.hidden = 768;
        q.job.layers = 12;
        q.job.sequence = 384;
        q.job.global_batch = 48;
        struct plan_found f;
        plan_search(&q, &f);
        assert_int_equal(f.n, count_degrees(&q));
        assert_int_equal(f.legal, f.fit);
        for (size_t i = 0; i < f.n; i++) {
            assert_int_equal(product(&f.layouts[i].params), 24);
            NEAR(time_of(&f.layouts[i].params).total, f.layouts[i].time.total);
            assert_true(i == 0 || f.layouts[i - 1].time.total <= f.layouts[i].time.total);
        }
        // with less memory fewer fit, and none needs more than there is
        q.capacity_bytes = f.least_bytes + (f.layouts[0].memory_bytes - f.least_bytes) / 2;
        struct plan_found less;
        plan_search(&q, &less);
        assert_true(less.fit < f.fit && less.legal == f.legal && less.n <= f.n && less.n > 0);
        for (size_t i = 0; i < less.n; i++)
            assert_true(less.layouts[i].memory_bytes <= q.capacity_bytes);
        free(less.layouts);
        q.capacity_bytes = f.least_bytes - 1;
        plan_search(&q, &less);
        assert_true(less.n == 0 && less.fit == 0 && less.least_bytes == f.least_bytes);
        free(less.layouts);
        free(f.layouts);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensor), cmocka_unit_test(test_pipeline),
        cmocka_unit_test(test_data),   cmocka_unit_test(test_experts),
        cmocka_unit_test(test_search),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
