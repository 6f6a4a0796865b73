// SPDX-License-Identifier: MIT
// Dense 16-bit matrix operations, memory bandwidth and memory, from the makers' data sheets: V100
// SXM2 32 GB (NVIDIA, 2020), A100 SXM 80 GB and 40 GB (NVIDIA, 2021), H100 SXM 80 GB, H200 SXM
// 141 GB, B200 as in HGX B200 (1.44 TB for eight), MI300X (AMD, 192 GB).
#include "workload/gpu_memory/device.h"

#include <stddef.h>

#define GB UINT64_C(1000000000)

const struct device devices[DEVICES] = {
    [DEVICE_V100] = {"v100", "V100", 125, 900, 32 * GB},
    [DEVICE_A100] = {"a100", "A100", 312, 2039, 80 * GB},
    [DEVICE_H100] = {"h100", "H100", 989.4, 3350, 80 * GB},
    [DEVICE_H200] = {"h200", "H200", 989.4, 4800, 141 * GB},
    [DEVICE_B200] = {"b200", "B200", 2250, 8000, 180 * GB},
    [DEVICE_MI300X] = {"mi300x", "MI300X", 1307.4, 5300, 192 * GB},
    [DEVICE_A100_40GB] = {"a100_40gb", "A100 40 GB", 312, 1555, 40 * GB},
};

const char *const device_names[] = {"v100", "a100",   "h100",      "h200",
                                    "b200", "mi300x", "a100_40gb", NULL};
