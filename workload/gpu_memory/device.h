// SPDX-License-Identifier: MIT
// GPUs by name: what they compute, and what they hold.
#pragma once

#include <stdint.h>

struct device {
    const char *name;  // as in a scenario
    const char *title; // as in sentences
    double peak_tflops, memory_gbps;
    uint64_t memory_bytes; // decimal, as makers count
};

enum device_name {
    DEVICE_V100,
    DEVICE_A100,
    DEVICE_H100,
    DEVICE_H200,
    DEVICE_B200,
    DEVICE_MI300X,
    DEVICE_A100_40GB,
    DEVICES
};
extern const struct device devices[DEVICES];
extern const char *const device_names[]; // in this order, NULL-terminated
