// SPDX-License-Identifier: MIT
// Compute times and volumes of matrix products, by hand.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collective/algorithm/collective.h"
#include "workload/training/gemm.h"

static struct gemm_params defaults(void)
{
    struct gemm_params p;
    params_default(gemm_params, n_gemm_params, &p);
    return p;
}

// A 4 x 8 array at 2 GHz and a product of 10 x 20 by 20 x 30 (M 10, N 30, K 20):
//   os: ceil(10/4) ceil(30/8) = 3 * 4 folds of 2*4 + 8 + 20 - 2 = 34 cycles: 408
//   ws: ceil(20/4) ceil(30/8) = 5 * 4 folds of 2*4 + 8 + 10 - 2 = 24: 480
//   is: ceil(20/4) ceil(10/8) = 5 * 2 folds of 2*4 + 8 + 30 - 2 = 44: 440
static void test_systolic(void **state)
{
    (void)state;
    static const uint64_t cycles[] = {408, 480, 440};
    struct gemm_params p = defaults();
    p.compute = GEMM_SYSTOLIC;
    p.array_height = 4, p.array_width = 8, p.clock_ghz = 2;
    for (int d = GEMM_OUTPUT_STATIONARY; d <= GEMM_INPUT_STATIONARY; d++) {
        p.dataflow = d;
        assert_int_equal(gemm_cycles(&p, 10, 30, 20), cycles[d]);
        assert_int_equal(gemm_ns(&p, 10, 30, 20, true), cycles[d] / 2);
    }
    // A product that fits into one fold. TPU v1's array, 256 x 256, ws: 2*256 + 256 + 100 - 2.
    p.array_height = p.array_width = 256, p.dataflow = GEMM_WEIGHT_STATIONARY, p.clock_ghz = 0.7;
    assert_int_equal(gemm_cycles(&p, 100, 256, 256), 866);
    assert_int_equal(gemm_ns(&p, 100, 256, 256, true), 1238); // 1237.1 rounded up
}

// 100 Tflop/s and 1000 GB/s, 2-byte elements: 1024^3 takes 2.147e9 / 1e5 = 21474.8 ns of compute; 1
// x 1000 by 1000 x 1000 moves (1000 + 1e6 + 1000) * 2 B in 2004 ns.
static void test_roofline(void **state)
{
    (void)state;
    struct gemm_params p = defaults();
    p.tflops = 100, p.memory_gbs = 1000;
    assert_int_equal(gemm_ns(&p, 1024, 1024, 1024, true), 21475);
    assert_int_equal(gemm_ns(&p, 1, 1000, 1000, true), 2004);
}

static void test_no_wrap(void **state)
{
    (void)state;
    struct gemm_params p = defaults();
    p.array_height = p.array_width = 1;
    assert_int_equal(gemm_cycles(&p, 1000000000, 1000000000, 1000000000), UINT64_MAX);
    p.tflops = 0.001;
    assert_true(gemm_ns(&p, 1000000000, 1000000000, 1000000000, true) ==
                UINT64_C(1000000000000000000));
}

static void test_volumes(void **state)
{
    (void)state;
    static char name[] = "fc";
    const struct gemm layer = {name, 32, 1000, 512};
    struct gemm_params p = defaults();
    p.tflops = 1, p.memory_gbs = 1e6, p.group = 8, p.update_delay_ps = 5 * PS_PER_NS;
    static const struct {
        int keyword, fwd, ig, wg;
        uint64_t fwd_bytes, ig_bytes, wg_bytes, fwd_ns;
    } want[] = {
        {TRAINING_DATA, TRAINING_NO_OP, TRAINING_NO_OP, COLL_ALL_REDUCE, 0, 0, 512 * 1000 * 2,
         32768},
        {TRAINING_MODEL, COLL_ALL_GATHER, COLL_ALL_REDUCE, TRAINING_NO_OP, 32 * 125 * 2,
         32 * 512 * 2, 0, 4096},
        {TRAINING_HYBRID_DATA_MODEL, COLL_ALL_GATHER, COLL_ALL_REDUCE, COLL_ALL_REDUCE,
         32 * 125 * 2, 32 * 512 * 2, 512 * 125 * 2, 4096},
    };
    for (int kind = GEMM_DATA; kind <= GEMM_HYBRID; kind++) {
        struct training_spec spec = gemm_training(&layer, 1, (enum gemm_parallel)kind, &p);
        const struct training_step *parts = spec.layers[0].parts;
        assert_int_equal(spec.keyword, want[kind].keyword);
        assert_int_equal(spec.layers[0].update_delay_ns, 5);
        assert_int_equal(parts[TRAINING_FWD].op, want[kind].fwd);
        assert_int_equal(parts[TRAINING_IG].op, want[kind].ig);
        assert_int_equal(parts[TRAINING_WG].op, want[kind].wg);
        assert_int_equal(parts[TRAINING_FWD].bytes, want[kind].fwd_bytes);
        assert_int_equal(parts[TRAINING_IG].bytes, want[kind].ig_bytes);
        assert_int_equal(parts[TRAINING_WG].bytes, want[kind].wg_bytes);
        // 2 M N K operations in all three, at 1 Tflop/s
        for (int part = 0; part < TRAINING_PARTS; part++)
            assert_int_equal(parts[part].compute_ns, want[kind].fwd_ns);
        training_free(&spec);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_systolic), cmocka_unit_test(test_roofline),
        cmocka_unit_test(test_no_wrap), cmocka_unit_test(test_volumes)};
    return cmocka_run_group_tests_name("gemm", tests, NULL, NULL);
}
