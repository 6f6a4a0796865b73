// SPDX-License-Identifier: MIT
// The topology search: the channels of a server for rings, trees or NVLS, their rates, and the
// GPUs and NICs of each. Private to the room.
#pragma once

#include "collective/nccl/nccl_paths.h"

#define NCCL_SEARCH_CHANNELS 64 // before copying: as many as RCCL finds; NCCL finds half of them

// GPUs by vertex, in the order of the chain; NICs by which it enters and leaves the server. Of
// NVLS only the first GPU counts.
struct nccl_order {
    uint8_t gpu[NCCL_SERVER_GPUS];
    int16_t nic[2]; // -1 = none
};

struct nccl_search {
    struct nccl_graph graph;
    struct nccl_order order[NCCL_SEARCH_CHANNELS];
};

// Searches for rings, then trees with as many channels, then NVLS, as far as there is any. Returns
// false without memory.
bool nccl_search_server(const struct nccl_paths *paths, const struct nccl_settings *settings,
                        struct nccl_search *ring, struct nccl_search *tree,
                        struct nccl_search *nvls);

// Searches for NVLS among `gpus` GPUs, ignoring NICs. Writes the sum of the bandwidths of all heads
// that it finds to *gbytes, in GB/s. Returns false if there is no memory.
bool nccl_search_nvlinks(const struct nccl_machine *machine, const struct nccl_settings *settings,
                         uint64_t gpus, double *gbytes);
