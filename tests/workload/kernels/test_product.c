// SPDX-License-Identifier: MIT
// Times of products by hand, and against times measured on an H100.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "workload/kernels/attention.h"
#include "workload/kernels/product.h"

#define NEAR(got, want) assert_true(fabs((got) - (want)) <= 1e-9 * fabs(want))
#define MEMORY 0.7315 // of the bandwidth

// Ten multiprocessors of one operation a ps each; memory is no limit.
static struct kernel_gpu ten(void)
{
    struct kernel_gpu g = {.units = 10, .flops_ps = {10, 5, 20, 0, 0}, .attention_ps = 10};
    g.bytes_ps = 1e12;
    return g;
}

static double beyond_start(const struct kernel_gpu *g, const struct product *p)
{
    return product_ps(g, p) - KERNEL_START_PS;
}

static void test_waves(void **state)
{
    (void)state;
    struct kernel_gpu g = ten();
    struct product p = {.m = 256, .n = 1280, .k = 256, .count = 1}; // ten tiles of 256 x 128
    double wave = 2.0 * 256 * 128 * 256;
    NEAR(beyond_start(&g, &p), wave);
    p.n = 1281; // an eleventh column of tiles: two waves, of the smallest tile that is enough
    assert_true(beyond_start(&g, &p) > wave * 1.001 && beyond_start(&g, &p) <= 1.5 * wave);
    p.n = 2560;
    NEAR(beyond_start(&g, &p), 2 * wave);
    p.type = NUMBER_FP8; // twice the rate
    NEAR(beyond_start(&g, &p), wave);
    p.type = NUMBER_INT8;
    assert_true(isinf(product_ps(&g, &p)));
}

// One tile in ten parts of K is no choice, eight are.
static void test_split(void **state)
{
    (void)state;
    struct kernel_gpu g = ten();
    struct product p = {.m = 64, .n = 64, .k = 4096, .count = 1};
    NEAR(beyond_start(&g, &p), 2.0 * 64 * 64 * 512);
    p.k = 1000; // parts below 512 are not cut
    NEAR(beyond_start(&g, &p), 2.0 * 64 * 64 * 1000);
    p.count = 10; // each has a multiprocessor
    NEAR(beyond_start(&g, &p), 2.0 * 64 * 64 * 1000);
}

static void test_memory(void **state)
{
    (void)state;
    struct kernel_gpu g = ten();
    g.flops_ps[NUMBER_16BIT] = 1e12;
    g.bytes_ps = 2;
    struct product p = {.m = 16, .n = 128, .k = 256, .count = 1};
    double rows = 2 * 16 * 256, output = 2 * 16 * 128, weights = 128 * 256;
    NEAR(beyond_start(&g, &p), (rows + output + 2 * weights) / (MEMORY * 2));
    p.weight_bytes = 0.5; // quantised weights of 4 bits
    NEAR(beyond_start(&g, &p), (rows + output + 0.5 * weights) / (MEMORY * 2));
    p.sparsity = SPARSITY_STRUCTURED; // half of the weights, and 2 bits for each of these
    NEAR(beyond_start(&g, &p), (rows + output + (0.25 + 0.125) * weights) / (MEMORY * 2));
    p.sparsity = SPARSITY_UNSTRUCTURED;
    p.density = 0.01; // 4 bytes to say where
    NEAR(product_weight_bytes(&p), 0.01 * 4.5 * weights);
}

/* ---- against an H100 ---- */

#define LAUNCH_US 4.66 // of an empty kernel, in every measured time
#define SHAPES_MOST 600

struct row {
    char kind[32], type[16];
    double m, n, k, us;
};

static size_t rows_read(struct row *rows)
{
    FILE *file = fopen("tests/data/kernels/h100.csv", "r");
    char line[160];
    size_t n = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file)); // the header
    while (fgets(line, sizeof line, file) != NULL) {
        struct row *r = &rows[n];
        assert_int_equal(sscanf(line, "%31[^,],%15[^,],%lf,%lf,%lf,%lf", r->kind, r->type, &r->m,
                                &r->n, &r->k, &r->us),
                         6);
        assert_true(++n < SHAPES_MOST);
    }
    fclose(file);
    return n;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static struct kernel_gpu h100(void)
{
    return kernel_gpu_of(DEVICE_H100, devices[DEVICE_H100].peak_tflops,
                         devices[DEVICE_H100].memory_gbps);
}

// Relative errors of a type's products, sorted; returns their number. With a stride, of every
// second row from `first` on.
static size_t errors_of(const struct row *rows, size_t n, const char *name, enum number_type type,
                        size_t first, size_t stride, double least_us, double *errors)
{
    struct kernel_gpu g = h100();
    size_t found = 0, seen = 0;
    for (size_t i = 0; i < n; i++) {
        struct product p = {
            .m = rows[i].m, .n = rows[i].n, .k = rows[i].k, .count = 1, .type = type};
        if (strcmp(rows[i].kind, "product") != 0 || strcmp(rows[i].type, name) != 0 ||
            rows[i].us < least_us || seen++ % stride != first)
            continue;
        double us = product_ps(&g, &p) * 1e-6 + LAUNCH_US;
        errors[found++] = fabs(us / rows[i].us - 1);
    }
    qsort(errors, found, sizeof *errors, by_size);
    return found;
}

static void check(const char *what, const double *errors, size_t n, double median, double most)
{
    print_message("   %s: %zu shapes, error %.1f %% median, %.1f %% of nine in ten, %.1f %% most\n",
                  what, n, 100 * errors[n / 2], 100 * errors[n * 9 / 10], 100 * errors[n - 1]);
    assert_true(n >= 5 && errors[n / 2] < median && errors[n - 1] < most);
}

static void test_h100(void **state)
{
    (void)state;
    struct row *rows = calloc(SHAPES_MOST, sizeof *rows);
    double *errors = calloc(SHAPES_MOST, sizeof *errors);
    size_t n = rows_read(rows), found = errors_of(rows, n, "bf16", NUMBER_16BIT, 0, 2, 0, errors);
    check("16 bits, even rows", errors, found, 0.065, 0.25);
    found = errors_of(rows, n, "bf16", NUMBER_16BIT, 1, 2, 0, errors);
    check("16 bits, odd rows", errors, found, 0.065, 0.25);
    found = errors_of(rows, n, "fp8", NUMBER_FP8, 0, 1, 0, errors);
    check("fp8", errors, found, 0.06, 0.16);
    found = errors_of(rows, n, "tf32", NUMBER_TF32, 0, 1, 20, errors);
    check("tf32 from 20 us on", errors, found, 0.08, 0.18);
    found = errors_of(rows, n, "int8", NUMBER_INT8, 0, 1, 100, errors);
    check("int8 from 100 us on", errors, found, 0.06, 0.22);
    free(rows);
    free(errors);
}

static void test_sparse_h100(void **state)
{
    (void)state;
    struct kernel_gpu g = h100();
    struct row *rows = calloc(SHAPES_MOST, sizeof *rows);
    size_t n = rows_read(rows), structured = 0, csr = 0;
    for (size_t i = 0; i < n; i++) {
        struct product p = {.m = rows[i].m, .n = rows[i].n, .k = rows[i].k, .count = 1};
        bool two_of_four = strcmp(rows[i].type, "sparse24") == 0;
        if (strcmp(rows[i].kind, "product") != 0 ||
            (!two_of_four && strncmp(rows[i].type, "csr", 3) != 0) ||
            (two_of_four && rows[i].us < 600)) // the wrapper's time
            continue;
        if (two_of_four && rows[i].m < 1024)
            continue; // as slow as 1.3 ms at 256 rows: another kernel
        if (!two_of_four)
            p.density = atof(rows[i].type + 3);
        p.type = two_of_four ? NUMBER_16BIT : NUMBER_TF32;
        p.sparsity = two_of_four ? SPARSITY_STRUCTURED : SPARSITY_UNSTRUCTURED;
        double us = product_ps(&g, &p) * 1e-6 + LAUNCH_US;
        if (two_of_four || rows[i].us > 200) // below, launches and few rows
            assert_true(fabs(us / rows[i].us - 1) < (two_of_four ? 0.08 : 0.3));
        structured += two_of_four;
        csr += !two_of_four;
    }
    assert_true(structured >= 4 && csr == 12);
    free(rows);
}

static void test_attention_h100(void **state)
{
    (void)state;
    struct kernel_gpu g = h100();
    struct row *rows = calloc(SHAPES_MOST, sizeof *rows);
    double errors[64];
    size_t n = rows_read(rows), found = 0;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(rows[i].kind, "attention", 9) != 0 || rows[i].n < 2048)
            continue;
        struct attention a = {.heads = rows[i].m,
                              .rows = rows[i].n,
                              .columns = rows[i].n,
                              .head = rows[i].k,
                              .causal = strstr(rows[i].kind, "causal") != NULL};
        double us = attention_ps(&g, &a, strstr(rows[i].kind, "backward") != NULL) * 1e-6;
        errors[found++] = fabs((us + LAUNCH_US) / rows[i].us - 1);
    }
    qsort(errors, found, sizeof *errors, by_size);
    check("attention from 2,048 tokens on", errors, found, 0.07, 0.3);
    free(rows);
}

static void test_traffic_h100(void **state)
{
    (void)state;
    struct kernel_gpu g = h100();
    struct row *rows = calloc(SHAPES_MOST, sizeof *rows);
    double errors[64];
    size_t n = rows_read(rows), found = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(rows[i].kind, "memory") == 0)
            errors[found++] = fabs((traffic_ps(&g, rows[i].m) * 1e-6 + LAUNCH_US) / rows[i].us - 1);
    qsort(errors, found, sizeof *errors, by_size);
    check("kernels that wait for memory", errors, found, 0.12, 0.6);
    free(rows);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waves),        cmocka_unit_test(test_split),
        cmocka_unit_test(test_memory),       cmocka_unit_test(test_h100),
        cmocka_unit_test(test_sparse_h100),  cmocka_unit_test(test_attention_h100),
        cmocka_unit_test(test_traffic_h100),
    };
    return cmocka_run_group_tests_name("kernels", tests, NULL, NULL);
}
