// SPDX-License-Identifier: MIT
// The memory that the ranks of a cnn job need, by what it is for.
//
// Weights and gradients of the rank's parameters, the optimizer's momentum of 4 bytes, and inputs
// and outputs of the layers with their gradients, all as the strategy divides them: the terms of
// cnn_projection.h, which has no optimizer.
#pragma once

#include "workload/cnn/cnn_projection.h"
#include "workload/gpu_memory/need.h"

#define CNN_MOMENTUM_BYTES 4 // of a parameter

// Fill `need` for all ranks of a plan; to be freed with memory_need_free().
void cnn_memory(const struct cnn_plan *plan, const struct device *device, struct memory_need *need);
