// SPDX-License-Identifier: MIT
// What kernels reach on a GPU: the rate of its matrix units by type of number, the bandwidth of its
// memory, and how many multiprocessors share the tiles of a product.
#pragma once

#include <stdbool.h>

#include "workload/gpu_memory/device.h"

// Types of the factors of a product; sums are kept in at least 16 bits.
enum number_type { NUMBER_16BIT, NUMBER_TF32, NUMBER_FP8, NUMBER_INT8, NUMBER_FP4, NUMBER_TYPES };
extern const char *const number_types[]; // in this order, NULL-terminated
double number_bytes(enum number_type type);

struct kernel_gpu {
    double units;                  // multiprocessors
    double flops_ps[NUMBER_TYPES]; // that large products reach; 0 = no matrix unit of the type
    double attention_ps;           // 16-bit peak, of which attention reaches shares (attention.h)
    double bytes_ps;               // memory bandwidth of the data sheet
    bool structured;               // its units leave out two of four weights
};

// `peak_tflops` (of dense 16-bit products) and `memory_gbps` replace those of the GPU; other types
// keep their ratio to the peak of 16 bits.
struct kernel_gpu kernel_gpu_of(enum device_name gpu, double peak_tflops, double memory_gbps);
