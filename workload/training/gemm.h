// SPDX-License-Identifier: MIT
// Training loops from the matrix products of a network's layers: compute times from a roofline or a
// systolic array, volumes from the kind of parallelism.
#pragma once

#include "engine/base/param.h"
#include "workload/training/training_spec.h"

// A layer in the forward pass: an M x K matrix times a K x N matrix. M counts the rows of a rank's
// batch.
struct gemm {
    char *name;
    uint64_t m, n, k;
};

enum gemm_compute { GEMM_ROOFLINE, GEMM_SYSTOLIC, GEMM_TILES };
enum gemm_dataflow { GEMM_OUTPUT_STATIONARY, GEMM_WEIGHT_STATIONARY, GEMM_INPUT_STATIONARY };
enum gemm_parallel { GEMM_DATA, GEMM_MODEL, GEMM_HYBRID };
extern const char *const gemm_parallels[]; // "data", "model", "hybrid", NULL

struct gemm_params {
    int compute, dataflow;
    uint64_t element_bytes, group;
    double tflops, memory_gbs; // roofline: 1e12 operations/s, 1e9 B/s
    uint64_t array_height, array_width;
    double clock_ghz;
    int gpu, type, sparsity; // tiles: workload/kernels/product.h
    double weight_bytes, density;
    ps_t update_delay_ps;
};
extern const struct param gemm_params[];
extern const size_t n_gemm_params;

// Keys that only `compute` tiles takes, NULL-terminated.
extern const char *const gemm_tile_keys[];

// What is wrong with the settings together, and in *key which of them; NULL = nothing.
const char *gemm_refused(const struct gemm_params *p, const char **key);

// Time of one product in ns, rounded up. With `weights`, its second factor has the weights, which
// may be sparse or quantised.
uint64_t gemm_ns(const struct gemm_params *p, uint64_t m, uint64_t n, uint64_t k, bool weights);

// Cycles of a systolic array for one product.
uint64_t gemm_cycles(const struct gemm_params *p, uint64_t m, uint64_t n, uint64_t k);

// Make a training job from the layers; training_free() it.
struct training_spec gemm_training(const struct gemm *layers, size_t n, enum gemm_parallel parallel,
                                   const struct gemm_params *p);
