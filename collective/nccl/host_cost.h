// SPDX-License-Identifier: MIT
// What NCCL costs beside the links: times of kernels, threads of a block and the proxy thread.
//
// A message takes these and the time of its packets. The sum of what a small message takes is held
// against NCCL's own table of latencies (graph/tuning.cc, hwLat and baseLat), which NVIDIA fitted
// to measurements; how a latency is divided into its parts, and what a proxy's thread can do in a
// second, is not in that table and is this model's assumption (docs/nccl.md).
#pragma once

#include "collective/nccl/nccl_machine.h"

// By protocol. Times in ps, rates in bit/s of user data.
struct nccl_host_cost {
    int64_t launch_ps[NCCL_PROTOCOLS];    // until a kernel's blocks run, and its end is seen
    int64_t primitive_ps[NCCL_PROTOCOLS]; // a block's threads wait for each other and for flags
    int64_t link_ps[NCCL_PROTOCOLS];      // of a message over NVLink, until it is seen
    int64_t tree_link_ps[NCCL_PROTOCOLS]; // the same on a tree
    int64_t send_ps[NCCL_PROTOCOLS];      // from the block's flag to the NIC, by the proxy
    int64_t receive_ps[NCCL_PROTOCOLS];   // from the NIC to the block
    int64_t proxy_ps;                     // that the proxy's thread is busy with a message
    uint64_t check_bps;                   // at which it looks at lines of LL; 0 = no limit
    uint64_t block_bps[NCCL_PROTOCOLS];   // that a block copies or reduces; 0 = no limit
};

// The default costs of a machine.
struct nccl_host_cost nccl_host_cost_of(const struct nccl_machine *machine);

// Those of RCCL on MI300X.
struct nccl_host_cost rccl_host_cost(void);
