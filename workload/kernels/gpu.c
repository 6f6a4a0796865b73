// SPDX-License-Identifier: MIT
// Peaks and multiprocessors are from the makers' data sheets, dense: V100 (2017), A100 (2020), H100
// (2022), HGX B200 (2024), MI300X (2023).
//
// The share of the peak that large products reach is measured on an H100 SXM (docs/kernels.md): 75
// % on average over 363 shapes, 93 % of the best shape's 80 % in a public collection of best shapes
// (Bekman, Machine Learning Engineering, 2025), which has 87 % for A100 and 51 % for MI300X; their
// shares are 93 % of these. V100 and B200 are assumed to be as H100. 8-bit integers and TF32 have
// shares of their own, measured on the H100 too.
#include "workload/kernels/gpu.h"

#include <stddef.h>

const char *const number_types[] = {"16bit", "tf32", "fp8", "int8", "fp4", NULL};

double number_bytes(enum number_type type)
{
    static const double bytes[NUMBER_TYPES] = {2, 4, 1, 1, 0.5};
    return bytes[type];
}

#define H100_SHARE 0.7455 // of 16-bit products, measured
#define INT8_RATIO 0.55   // share of int8's peak over that of 16 bits, measured on an H100
#define TF32_RATIO 0.98   // likewise

struct units {
    double n;                   // multiprocessors
    double share;               // of the peak, by large products
    double peaks[NUMBER_TYPES]; // over the peak of 16 bits
};

static const struct units units[DEVICES] = {
    [DEVICE_V100] = {80, H100_SHARE, {1, 0, 0, 0, 0}},
    [DEVICE_A100] = {108, 0.81, {1, 0.5, 0, 2, 0}},
    [DEVICE_H100] = {132, H100_SHARE, {1, 0.5, 2, 2, 0}},
    [DEVICE_H200] = {132, H100_SHARE, {1, 0.5, 2, 2, 0}},
    [DEVICE_B200] = {148, H100_SHARE, {1, 0.5, 2, 2, 4}},
    [DEVICE_MI300X] = {304, 0.48, {1, 0.5, 2, 2, 0}},
    [DEVICE_A100_40GB] = {108, 0.81, {1, 0.5, 0, 2, 0}},
};

struct kernel_gpu kernel_gpu_of(enum device_name gpu, double peak_tflops, double memory_gbps)
{
    static const double ratios[NUMBER_TYPES] = {1, TF32_RATIO, 1, INT8_RATIO, 1};
    const struct units *u = &units[gpu];
    struct kernel_gpu g = {.units = u->n,
                           .attention_ps = peak_tflops,
                           .bytes_ps = memory_gbps * 1e-3,
                           .structured = gpu != DEVICE_V100};
    for (int type = 0; type < NUMBER_TYPES; type++)
        g.flops_ps[type] = peak_tflops * u->share * u->peaks[type] * ratios[type];
    return g;
}
