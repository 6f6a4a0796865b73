// SPDX-License-Identifier: MIT
// The numbers of channels of a communicator: of collectives, of NVLS, and of sends and receives.
#pragma once

#include "nccl/nccl.h"

struct nccl_channels {
    uint32_t rings;        // the ring's, copied
    uint32_t all;          // rings, or NVLS channels where these raise the number
    uint32_t nvls;         // 0 = no NVLS
    uint32_t p2p;          // a power of two
    uint32_t p2p_per_peer; // that one pair of ranks may use
};

// The channels of a cluster whose searches have been made. `nics`, `net_bw`: NICs of a GPU and
// their total rate in GB/s; neither matters with one server.
struct nccl_channels nccl_channels_of(const struct nccl_cluster *cluster, uint32_t nics,
                                      double net_bw);
