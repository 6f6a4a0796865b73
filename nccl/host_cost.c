// SPDX-License-Identifier: MIT
#include "nccl/host_cost.h"

#define NS INT64_C(1000)             // ps
#define GBPS UINT64_C(8000000000)    // GB/s in bit/s

struct nccl_host_cost nccl_host_cost_of(enum nccl_gpu gpu)
{
    static const uint64_t copy[NCCL_GPUS][NCCL_PROTOCOLS] = {
        [NCCL_VOLTA] = {5 * GBPS, 20 * GBPS, 24 * GBPS},
        [NCCL_AMPERE] = {6 * GBPS, 20 * GBPS, 24 * GBPS},
        [NCCL_HOPPER] = {8 * GBPS, 367 * GBPS / 10, 40 * GBPS},
        [NCCL_BLACKWELL] = {16 * GBPS, 734 * GBPS / 10, 80 * GBPS},
    };
    struct nccl_host_cost cost = {
        .launch_ps = {6600 * NS, 14000 * NS, 8400 * NS},
        .primitive_ps = {300 * NS, 600 * NS, 1400 * NS},
        .link_ps = {300 * NS, 1000 * NS, 2000 * NS},
        .send_ps = {1000 * NS, 1500 * NS, 4000 * NS},
        .receive_ps = {500 * NS, 800 * NS, 6000 * NS},
        .proxy_ps = 500 * NS,
    };
    for (unsigned p = 0; p < NCCL_PROTOCOLS; p++)
        cost.block_bps[p] = copy[gpu][p];
    return cost;
}
