// SPDX-License-Identifier: MIT
// DLRM by hand: placement of tables, exchanged bytes, compute times.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collective/algorithm/collective.h"
#include "workload/training/dlrm.h"

// Three tables: 4 columns of 10 lookups, 8 of one, 4 of one. Batch 5, elements of 4 bytes, 1 GB/s.
static struct dlrm_table tables[] = {{100, 4, 10}, {50, 8, 1}, {30, 4, 1}};
static uint64_t bottom[] = {6, 4}, top[] = {3, 1};

static struct dlrm_spec model(int sharding)
{
    struct dlrm_spec d = {
        .tables = tables, .n_tables = 3, .bottom = bottom, .top = top, .n_bottom = 2, .n_top = 2};
    params_default(dlrm_params, n_dlrm_params, &d.params);
    params_default(gemm_params, n_gemm_params, &d.params.machine);
    d.params.batch = 5;
    d.params.sharding = sharding;
    d.params.column_shards = 2;
    d.params.dense_features = 7;
    d.params.machine.element_bytes = 4;
    d.params.machine.memory_gbs = 1;
    d.params.machine.tflops = 1e6; // dense layers are limited by memory bandwidth
    return d;
}

// Lookups 40, 8, 4: the first on rank 0, the others on rank 1; 4 and 12 columns.
static void test_whole_tables(void **state)
{
    (void)state;
    struct dlrm_spec d = model(DLRM_TABLE);
    uint64_t *bytes = dlrm_rank_bytes(&d, 2);
    assert_int_equal(bytes[0], 5 * 2 * 4 * 4);
    assert_int_equal(bytes[1], 5 * 2 * 12 * 4);
    free(bytes);
    bytes = dlrm_rank_bytes(&d, 5); // more ranks than tables
    assert_int_equal(bytes[0] + bytes[1] + bytes[2], 5 * 5 * 16 * 4);
    assert_int_equal(bytes[3] + bytes[4], 0);
    free(bytes);
    struct training_spec t = dlrm_training(&d, 2);
    const struct training_step *fwd = &t.layers[0].parts[TRAINING_FWD];
    const struct training_step *ig = &t.layers[0].parts[TRAINING_IG];
    assert_int_equal(t.keyword, TRAINING_HYBRID_DLRM);
    assert_int_equal(fwd->op, COLL_ALL_TO_ALL);
    assert_int_equal(fwd->n_rank_bytes, 2);
    assert_int_equal(fwd->bytes, 480);
    assert_false(fwd->of_receiver);
    assert_true(ig->of_receiver);
    assert_int_equal(ig->rank_bytes[0], 160);
    assert_int_equal(fwd->compute_ns, 40 * 10 * 4); // rank 0: 40 columns of all 10 samples
    assert_int_equal(t.layers[0].parts[TRAINING_WG].compute_ns, 2 * 40 * 10 * 4);
    training_free(&t);
}

// The second table on rank 0 and the others on rank 1: 8 columns of one lookup there, 4 of 10 and 4
// of one here.
static void test_placement(void **state)
{
    (void)state;
    struct dlrm_spec d = model(DLRM_TABLE);
    uint32_t placement[] = {1, 0, 1};
    d.placement = placement;
    uint64_t *bytes = dlrm_rank_bytes(&d, 2);
    assert_int_equal(bytes[0], 5 * 2 * 8 * 4);
    assert_int_equal(bytes[1], 5 * 2 * 8 * 4);
    free(bytes);
    struct training_spec t = dlrm_training(&d, 2);
    assert_int_equal(t.layers[0].parts[TRAINING_FWD].compute_ns, 44 * 10 * 4);
    training_free(&t);
}

// Halves of all tables: each rank has one half of each table, so all ranks are equal.
static void test_columns(void **state)
{
    (void)state;
    struct dlrm_spec d = model(DLRM_COLUMN);
    uint64_t *bytes = dlrm_rank_bytes(&d, 2);
    assert_int_equal(bytes[0], 5 * 2 * 8 * 4);
    assert_int_equal(bytes[1], 5 * 2 * 8 * 4);
    free(bytes);
}

static void test_rows_and_copies(void **state)
{
    (void)state;
    struct dlrm_spec d = model(DLRM_ROW);
    struct training_spec t = dlrm_training(&d, 2);
    assert_int_equal(t.layers[0].parts[TRAINING_FWD].op, COLL_ALL_TO_ALL);
    assert_int_equal(t.layers[0].parts[TRAINING_FWD].bytes, 5 * 2 * 16 * 4);
    assert_null(t.layers[0].parts[TRAINING_FWD].rank_bytes);
    assert_int_equal(t.layers[0].parts[TRAINING_FWD].compute_ns, 52 * 5 * 4);
    training_free(&t);
    d = model(DLRM_DATA);
    t = dlrm_training(&d, 2);
    assert_int_equal(t.layers[0].parts[TRAINING_FWD].op, TRAINING_NO_OP);
    assert_int_equal(t.layers[0].parts[TRAINING_IG].op, TRAINING_NO_OP);
    assert_int_equal(t.layers[0].parts[TRAINING_WG].op, COLL_ALL_REDUCE);
    assert_int_equal(t.layers[0].parts[TRAINING_WG].bytes, (400 + 400 + 120) * 4);
    training_free(&t);
}

// 7 -> 6 -> 4, then 4 vectors: 6 pairs and the 4 -> 3 -> 1. Weights are all-reduced.
static void test_dense_layers(void **state)
{
    (void)state;
    static const uint64_t in[] = {7, 6, 10, 3}, out[] = {6, 4, 3, 1};
    struct dlrm_spec d = model(DLRM_TABLE);
    struct training_spec t = dlrm_training(&d, 2);
    assert_int_equal(t.n_layers, 5);
    assert_int_equal(t.last_bottom_layer, 2);
    for (int i = 0; i < 4; i++) {
        const struct training_step *parts = t.layers[i + 1].parts;
        assert_int_equal(t.layers[i + 1].keyword, TRAINING_HYBRID_DLRM);
        assert_int_equal(parts[TRAINING_WG].op, COLL_ALL_REDUCE);
        assert_int_equal(parts[TRAINING_WG].bytes, in[i] * out[i] * 4);
        assert_int_equal(parts[TRAINING_FWD].compute_ns,
                         (5 * in[i] + in[i] * out[i] + 5 * out[i]) * 4); // all matrices once
    }
    assert_string_equal(t.layers[2].name, "bottom_1");
    assert_string_equal(t.layers[4].name, "top_1");
    training_free(&t);
}

/* ---- tiers ---- */

#define CLOSE(got, want) assert_true(fabs((got) - (want)) <= 1e-6 * (want))

static void test_zipf(void **state)
{
    (void)state;
    CLOSE(zipf_share(25, 100, 0), 0.25); // all rows alike
    CLOSE(zipf_share(2, 4, 1), (1 + 1 / 2.0) / (1 + 1 / 2.0 + 1 / 3.0 + 1 / 4.0));
    CLOSE(zipf_share(5, 5, 1), 1.0);
    double hot = 0, all = 0; // beyond the terms that are added one by one
    for (double i = 1; i <= 1e6; i++) {
        all += pow(i, -0.8);
        hot += i <= 2e4 ? pow(i, -0.8) : 0;
    }
    CLOSE(zipf_share(2e4, 1e6, 0.8), hot / all);
}

// One table of 1,000 rows of 64 bytes, 64 kB, all rows alike; two ranks share a host. A quarter is
// in the GPU, a half in the host and a quarter on its SSD.
static void test_tiers(void **state)
{
    (void)state;
    struct dlrm_table one[] = {{1000, 16, 10}};
    struct dlrm_spec d = model(DLRM_TABLE);
    d.tables = one;
    d.n_tables = 1;
    d.params.tiers.hbm = 16000;
    d.params.tiers.ddr = 64000;
    d.params.tiers.skew = 0;
    d.params.tiers.ranks_per_host = 2;
    d.params.tiers.ddr_gbs = 8;
    d.params.tiers.link_gbs = 2; // less than the rank's half of the host's memory
    d.params.tiers.ssd_gbs = 1;
    struct training_spec t = dlrm_training(&d, 1);
    double lookups = 5 * 10, hbm = lookups * 64 / 1, // 1 GB/s
        ddr = lookups * 0.5 * 64 / 2, ssd = lookups * 0.25 * 4096 * 2 / 1;
    assert_int_equal(t.layers[0].parts[TRAINING_FWD].compute_ns, hbm + ddr + ssd);
    assert_int_equal(t.layers[0].parts[TRAINING_WG].compute_ns, 2 * hbm + ddr + ssd);
    assert_int_equal(t.layers[0].held.weight_bytes, 16000);
    assert_int_equal(t.layers[0].held.state_bytes, 1000); // of the rows that are here
    training_free(&t);
    d.params.tiers.hbm = 64000; // all of it
    t = dlrm_training(&d, 1);
    assert_int_equal(t.layers[0].parts[TRAINING_FWD].compute_ns, hbm);
    training_free(&t);
    d.params.tiers.hbm = 16000;
    d.params.tiers.skew = 1; // the hottest quarter takes more than its share
    t = dlrm_training(&d, 1);
    assert_true((double)t.layers[0].parts[TRAINING_FWD].compute_ns < hbm + 0.5 * (ddr + ssd));
    training_free(&t);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zipf),         cmocka_unit_test(test_tiers),
        cmocka_unit_test(test_whole_tables), cmocka_unit_test(test_placement),
        cmocka_unit_test(test_columns),      cmocka_unit_test(test_rows_and_copies),
        cmocka_unit_test(test_dense_layers),
    };
    return cmocka_run_group_tests_name("dlrm", tests, NULL, NULL);
}
