// SPDX-License-Identifier: MIT
// Time of a matrix product on a GPU, by its shape.
//
// The output is cut into tiles, each computed by one multiprocessor over the whole of K, or over a
// part of it where few tiles would leave multiprocessors without work (split-K). A multiprocessor
// has the same share of the rate that large products reach; the tiles run in waves, the last of
// which may be partly empty:
//
//   time = a kernel's start + max(waves * 2 tm tn K / split / (rate / units),
//                                 bytes / (share of the memory bandwidth))
//
// with the best of the tiles 256 x 128 to 64 x 64 and of splits by 1, 2, 4 and 8, which sum up
// partial results of 4 bytes. Source of tiles and waves: NVIDIA, Matrix Multiplication Background,
// User's Guide (2023), chapters 2 and 3. The two shares and the start are fitted to 363 shapes
// measured on an H100 (docs/kernels.md).
#pragma once

#include <stdint.h>

#include "workload/kernels/gpu.h"

#define KERNEL_START_PS 1.5e6 // of a kernel behind others, beyond its work

enum sparsity { SPARSITY_NONE, SPARSITY_STRUCTURED, SPARSITY_UNSTRUCTURED };
extern const char *const sparsities[]; // "none", "2:4", "unstructured", NULL

// M x K times K x N; the second factor has the weights.
struct product {
    double m, n, k;
    double count; // products of this shape at once (experts, heads)
    enum number_type type;
    double weight_bytes; // of a stored weight; 0 = of the type (quantised weights are smaller)
    enum sparsity sparsity;
    double density; // unstructured: share of weights that are not 0
};

// Time in ps; infinite if the GPU has no matrix unit of the type.
double product_ps(const struct kernel_gpu *g, const struct product *p);

// Bytes of the stored weights, with the indices of sparse ones.
double product_weight_bytes(const struct product *p);
