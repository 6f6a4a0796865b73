// SPDX-License-Identifier: MIT
// What an optimizer keeps and moves, as sums of the bytes of its parts.
#include "workload/gpu_memory/optimizer.h"

#include <stddef.h>

#define SINGLE UINT64_C(4) // bytes of a number in single precision

const char *const optimizer_names[] = {"adam", "adam_8bit", "momentum", "sgd", NULL};

static uint64_t moment_bytes(enum optimizer optimizer)
{
    static const uint64_t bytes[] = {[OPTIMIZER_ADAM] = 2 * SINGLE,
                                     [OPTIMIZER_ADAM_8BIT] = 2,
                                     [OPTIMIZER_MOMENTUM] = SINGLE,
                                     [OPTIMIZER_SGD] = 0};
    return bytes[optimizer];
}

uint64_t optimizer_state_bytes(enum optimizer optimizer, uint64_t parameter_bytes)
{
    return moment_bytes(optimizer) + (parameter_bytes < SINGLE ? SINGLE : 0);
}

// It reads master copy (or parameter), moments and gradient, and writes master copy (or parameter),
// moments, and the parameter besides its master copy.
uint64_t optimizer_traffic_bytes(enum optimizer optimizer, uint64_t parameter_bytes)
{
    uint64_t kept = SINGLE + moment_bytes(optimizer);
    return kept + SINGLE + kept + (parameter_bytes < SINGLE ? parameter_bytes : 0);
}
