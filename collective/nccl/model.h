// SPDX-License-Identifier: MIT
// NCCL's table of costs: latency and bandwidth of every function, algorithm and protocol, and the
// threads of a channel.
#pragma once

#include "collective/nccl/nccl.h"

struct nccl_cost {
    double latency_us;
    double bw; // bytes of the operation over its time, GB/s; 0 = not possible here
};

struct nccl_model {
    struct nccl_cluster cluster;
    struct nccl_cost costs[NCCL_FUNCTIONS][NCCL_ALGORITHMS][NCCL_PROTOCOLS];
    uint32_t threads[NCCL_ALGORITHMS][NCCL_PROTOCOLS]; // at most
};

// Fill the table for a cluster of at least two ranks whose searches have been made.
void nccl_model_init(struct nccl_model *model, const struct nccl_cluster *cluster);
