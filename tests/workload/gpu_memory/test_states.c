// SPDX-License-Identifier: MIT
// Model states by ZeRO stage, and what optimizers keep and move.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "workload/gpu_memory/footprint.h"
#include "workload/gpu_memory/optimizer.h"

static uint64_t total(double parameters, double replicas, unsigned zero)
{
    const struct state_bytes bytes = {2, 2, optimizer_state_bytes(OPTIMIZER_ADAM, 2)};
    struct footprint f = footprint_states(parameters, replicas, zero, &bytes);
    return footprint_total(&f);
}

// Rajbhandari et al., SC 2020, figure 1: 7.5 billion parameters, 64 GPUs, mixed-precision Adam:
// 120, 31.4, 16.6 and 1.9 GB. The figure rounds to a tenth: 120, 31.40625, 16.640625, 1.875.
static void figure_1(void **state)
{
    (void)state;
    assert_int_equal(total(7.5e9, 64, 0), 120000000000);
    assert_int_equal(total(7.5e9, 64, 1), 31406250000);
    assert_int_equal(total(7.5e9, 64, 2), 16640625000);
    assert_int_equal(total(7.5e9, 64, 3), 1875000000);
}

// Table 1 of the same paper: GB of model states by degree of data parallelism. Printed values are
// rounded to three digits.
static void table_1(void **state)
{
    static const struct {
        double replicas, parameters, gb[3];
    } rows[] = {
        {1, 7.5e9, {120, 120, 120}},      {4, 7.5e9, {52.5, 41.3, 30}},
        {16, 7.5e9, {35.6, 21.6, 7.5}},   {64, 7.5e9, {31.4, 16.6, 1.88}},
        {256, 7.5e9, {30.4, 15.4, 0.47}}, {1024, 7.5e9, {30.1, 15.1, 0.12}},
        {1, 128e9, {2048, 2048, 2048}},   {16, 128e9, {608, 368, 128}},
        {1024, 128e9, {513, 257, 2}},     {64, 1e12, {4187, 2218, 250}},
        {1024, 1e12, {4011, 2013, 15.6}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned zero = 1; zero <= 3; zero++) {
            double want = rows[i].gb[zero - 1], step = want >= 100 ? 1 : want >= 10 ? 0.1 : 0.01;
            double got = (double)total(rows[i].parameters, rows[i].replicas, zero) / 1e9;
            // a half of the last printed digit; the paper cuts 21.56 to 21.6 and 30.47 to 30.4
            assert_true(got - want < step && want - got < step);
        }
}

// Each kind by itself: what a stage shards is divided, the rest is not.
static void kinds(void **state)
{
    const struct state_bytes bytes = {2, 4, 12};
    (void)state;
    for (unsigned zero = 0; zero <= 3; zero++) {
        struct footprint f = footprint_states(1e6, 8, zero, &bytes);
        assert_int_equal(f.bytes[FOOTPRINT_WEIGHTS], zero >= 3 ? 250000 : 2000000);
        assert_int_equal(f.bytes[FOOTPRINT_GRADIENTS], zero >= 2 ? 500000 : 4000000);
        assert_int_equal(f.bytes[FOOTPRINT_OPTIMIZER], zero >= 1 ? 1500000 : 12000000);
        assert_int_equal(f.bytes[FOOTPRINT_ACTIVATIONS], 0);
        static const enum footprint_kind largest[] = {FOOTPRINT_OPTIMIZER, FOOTPRINT_GRADIENTS,
                                                      FOOTPRINT_WEIGHTS, FOOTPRINT_OPTIMIZER};
        assert_int_equal(footprint_largest(&f), largest[zero]);
    }
}

// K = 12 of mixed-precision Adam, which reads 16 and writes 14 bytes (section 3.1); without a
// master copy its two moments.
static void optimizers(void **state)
{
    (void)state;
    assert_int_equal(optimizer_state_bytes(OPTIMIZER_ADAM, 2), 12);
    assert_int_equal(optimizer_state_bytes(OPTIMIZER_ADAM, 4), 8);
    assert_int_equal(optimizer_state_bytes(OPTIMIZER_ADAM_8BIT, 2), 6);
    assert_int_equal(optimizer_state_bytes(OPTIMIZER_MOMENTUM, 2), 8);
    assert_int_equal(optimizer_state_bytes(OPTIMIZER_SGD, 2), 4);
    assert_int_equal(optimizer_state_bytes(OPTIMIZER_SGD, 4), 0);
    assert_int_equal(optimizer_traffic_bytes(OPTIMIZER_ADAM, 2), 30);
    assert_int_equal(optimizer_traffic_bytes(OPTIMIZER_ADAM, 4), 28);
    assert_int_equal(optimizer_traffic_bytes(OPTIMIZER_SGD, 4), 12);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_1),
        cmocka_unit_test(table_1),
        cmocka_unit_test(kinds),
        cmocka_unit_test(optimizers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
