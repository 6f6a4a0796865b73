// SPDX-License-Identifier: MIT
// Time of attention in one kernel (Dao et al., FlashAttention, NeurIPS 2022), which keeps no
// scores in memory and computes them again in the backward pass, and of kernels that wait for
// memory.
#pragma once

#include <stdbool.h>

#include "workload/kernels/gpu.h"

struct attention {
    double heads;         // of all sequences together, on this GPU
    double rows, columns; // of the matrix of scores: tokens of the queries, and of the keys
    double head;          // size of a head
    bool causal;          // the scores of keys behind the query are masked
};

// Time in ps of one pass. Blocks of 128 rows of a head run in waves over the multiprocessors.
double attention_ps(const struct kernel_gpu *g, const struct attention *a, bool backward);

// Time in ps of a kernel that reads and writes so many bytes, such as a normalisation.
double traffic_ps(const struct kernel_gpu *g, double bytes);
