// SPDX-License-Identifier: MIT
// Matrix products from CSV: headings in capitals and small letters, and what is no heading.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/config/load.h"
#include "workload/training/gemm_file.h"

static struct gemm *read_text(const char *text, size_t *n, struct err *err)
{
    char path[256];
    in_folder(path, sizeof path, "products.csv");
    file_write("products.csv", text, strlen(text));
    struct gemm *layers = gemm_file_read(path, n, err);
    file_remove("products.csv");
    return layers;
}

static void test_headings(void **state)
{
    (void)state;
    static const char *const headings[] = {"", "Layer,M,N,K,\n", "Layer,m,n,k\n",
                                           "name, m, N, k\n"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        struct err err = {0};
        char text[100];
        size_t n;
        snprintf(text, sizeof text, "%sconv1,3136,64,27\nfc,1,10,20,\n", headings[i]);
        struct gemm *layers = read_text(text, &n, &err);
        assert_int_equal(err.n_errors, 0);
        assert_int_equal(n, 2);
        assert_string_equal(layers[0].name, "conv1");
        assert_int_equal(layers[0].m, 3136);
        assert_int_equal(layers[0].n, 64);
        assert_int_equal(layers[0].k, 27);
        gemms_free(layers, n);
        err_free(&err);
    }
}

// Columns in another order would be read as other sizes; a heading stands in the first line only.
static void test_no_headings(void **state)
{
    (void)state;
    static const char *const texts[] = {"Layer,M,K,N\nfc,1,10,20\n", "fc,1,10,20\nLayer,M,N,K\n"};
    for (size_t i = 0; i < 2; i++) {
        struct err err = {0};
        size_t n = 7;
        assert_null(read_text(texts[i], &n, &err));
        assert_int_equal(n, 0);
        assert_int_equal(err.n_errors, 1);
        assert_said(&err, texts[i], " is not a size from 1 to ");
        err_free(&err);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_headings),
                                       cmocka_unit_test(test_no_headings)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
