// SPDX-License-Identifier: MIT
// Networks for the tests in this folder.
#pragma once

#include "sim/analytical/analytical.h"

#define GB (1073741824.0 / 1e9) // ASTRA-sim's "GB/s" in bytes per ns

static inline void network_add(struct analytical *a, enum topology_shape shape, uint32_t size,
                               int64_t latency_ns, double bytes_per_ns)
{
    a->dims[a->n_dims++] = (struct analytical_dim){.shape = shape,
                                                   .size = size,
                                                   .latency_ps = latency_ns * PS_PER_NS,
                                                   .bytes_per_ns = bytes_per_ns};
}
