// SPDX-License-Identifier: MIT
// A job that trains a convolutional network, given by the shapes of its layers.
#pragma once

#include "workload/cnn/cnn_source.h"
#include "workload/contention.h"
#include "workload/gpu_memory/need.h"
#include "workload/kind.h"
#include "workload/nodes/input.h"

struct cnn_params { // as in a scenario
    int model, strategy, gpu;
    const char *shapes;
    uint64_t batch, iterations, parts, segments, cut_layers;
    uint64_t item_bytes, optimizer_bytes;
    double peak_tflops, memory_gbps, efficiency; // 0 = of the GPU's preset
    double contention_factor, memory_reuse;
    ps_t alpha_ps;
    uint64_t beta_bps;
    bool overlap;
    struct cnn_offload_params offload;
};

struct cnn_settings {
    struct cnn_params params;
    struct group_params group;
    struct contention_params contention;
    struct mapping_params mapping;
    struct group_choice choice;
    /* made by the reader */
    struct cnn_model model;
    struct cnn_time *times;     // [layers]
    uint32_t *stage;            // [parts + 1], of a pipeline
    struct cnn_offload offload; // without layers unless out of core
    struct cnn_program program;
    struct node_program nodes;
    struct memory_need memory;
    struct node_input input;
};

extern const struct job_kind cnn_kind;

// Times of a model's layers on one GPU, of which peak and bandwidth are set: the longer of products
// and memory traffic. A pass backward has twice the operations and bytes of one forward. free().
struct cnn_time *cnn_times(const struct cnn_model *m, const struct cnn_params *p);
