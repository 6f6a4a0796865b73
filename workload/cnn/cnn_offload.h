// SPDX-License-Identifier: MIT
// A convolutional network whose training does not fit into the memory of a GPU: its layers as the
// chain of offload_schedule.h, the plan, and the memory that is left in use.
//
// Strategies serial and data. Each layer's output counts once, as the input of the next layer, or
// as often as the job says (`tensors`), where normalisations and activation functions keep theirs,
// too. Residual connections keep nothing of their own, as in cnn_shape.h. Weights, gradients and
// the optimizer's momentum stay on the GPU, or, out of core, on the host.
#pragma once

#include "workload/cnn/cnn_projection.h"
#include "workload/cnn/offload_plan.h"
#include "workload/gpu_memory/need.h"

enum cnn_swap_weights { CNN_WEIGHTS_AUTO, CNN_WEIGHTS_STAY, CNN_WEIGHTS_SWAP };
extern const char *const cnn_swap_weights[]; // "auto", "false", "true", NULL

struct cnn_offload_params { // as in a scenario, except the capacity
    bool out_of_core;
    double tensors;   // of the size of its output that a layer keeps
    int method;       // enum offload_method
    int swap_weights; // enum cnn_swap_weights; auto = where nothing fits while they stay
    uint64_t swap_bps;
    uint64_t update_bps;     // of the optimizer's memory traffic on the host, for a GPU
    uint64_t host_bytes;     // for a GPU; UINT64_MAX = any
    uint64_t capacity_bytes; // of the GPU
};

struct cnn_offload {
    struct offload_layer *layers;
    struct offload_chain chain;
    struct offload_plan plan;
    struct offload_schedule schedule;
    bool lacks_states;   // the host has no room for weights, gradients and optimizer states
    ps_t faster_ps;      // an iteration that is planned for a link of twice the rate
    double resident;     // parameters that stay on the GPU
    uint64_t item_bytes; // of a parameter and of its gradient
};

// Plan an iteration. `optimizer_bytes`: memory traffic of the optimizer by parameter. Returns false
// if it does not fit; the plan then has what is lacking. cnn_offload_free() in both cases.
bool cnn_offload_make(struct cnn_offload *o, const struct cnn_plan *plan,
                      const struct cnn_offload_params *params, uint64_t optimizer_bytes);
void cnn_offload_free(struct cnn_offload *o);

// Fill `need` for all ranks.
void cnn_offload_memory(const struct cnn_offload *o, const struct device *device, uint32_t ranks,
                        struct memory_need *need);
