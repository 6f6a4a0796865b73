// SPDX-License-Identifier: MIT
// The numbers of channels of a communicator: of collectives, of NVLS, and of sends and receives.
#pragma once

#include "collective/nccl/environment.h"
#include "collective/nccl/nccl.h"

struct nccl_channels {
    uint32_t found; // rings that the topology search found; the others are copies of them
    uint32_t made;  // with their copies; the second half of these has the other trees
    uint32_t kept;  // copied as often as the library's rules say, at most to the user's upper limit
    uint32_t rings; // and copied again up to the user's lower limit
    uint32_t all;   // rings, or NVLS channels where these raise the number
    uint32_t nvls;  // 0 = no NVLS
    uint32_t p2p;   // a power of two
    uint32_t p2p_per_peer; // that one pair of ranks may use
};

// What bounds the channels of a pair of ranks.
struct nccl_pair_limits {
    uint32_t nics;  // that one GPU uses
    double net_bw;  // their total rate in GB/s; of no matter with one server
    uint32_t local; // channels of a pair in one server; 0 = no such pair
};

// The channels of a cluster whose searches have been made. `settings` may be NULL.
struct nccl_channels nccl_channels_of(const struct nccl_cluster *cluster,
                                      const struct nccl_settings *settings,
                                      const struct nccl_pair_limits *limits);

// The channel below `made` that a channel of rings and trees is a copy of.
uint32_t nccl_channel_original(const struct nccl_channels *channels, uint32_t channel);
