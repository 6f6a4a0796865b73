// SPDX-License-Identifier: MIT
// CSV files of matrix products: the workload made of them is read again.
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/support.h"
#include "workload/training/astra_workload.h"
#include "workload/training/gemm_file.h"
#include "workload/training/training_layers.h"

#define PATH_BYTES 256
#define LAYERS_MAX 200

static void read_again(const struct gemm *layers, size_t n, enum gemm_parallel parallel,
                       struct err *err)
{
    struct gemm_params params;
    params_default(gemm_params, n_gemm_params, &params);
    params.group = parallel == GEMM_DATA ? 1 : 4;
    struct training_spec spec = gemm_training(layers, n, parallel, &params), again;
    if (training_check_sizes(&spec, "gemm.csv", err) == 0) {
        char *text = astra_workload_text(&spec);
        fuzz_write_text("workload.txt", text);
        if (astra_workload_read(fuzz_folder(), "workload.txt", "file", &again, err) == 0)
            training_free(&again);
        free(text);
    }
    training_free(&spec);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[PATH_BYTES];
    size_t n_layers;
    struct err err = {0};
    fuzz_write("gemm.csv", data, n);
    snprintf(path, sizeof path, "%.200s/gemm.csv", fuzz_folder());
    struct gemm *layers = gemm_file_read(path, &n_layers, &err);
    for (int parallel = GEMM_DATA; n_layers > 0 && n_layers < LAYERS_MAX && parallel <= GEMM_HYBRID;
         parallel++)
        read_again(layers, n_layers, (enum gemm_parallel)parallel, &err);
    gemms_free(layers, n_layers);
    err_free(&err);
    return 0;
}
