// SPDX-License-Identifier: MIT
// One attempt of the topology search: how many channels of a given rate fit into a server, each a
// chain through all its GPUs with a NIC at its ends. Private to the room.
//
// The search goes depth first, takes the rate of a channel from every link that it uses, and stops
// after a number of visits to GPUs. Its result therefore depends on the order of its tries, which
// is NCCL's.
#pragma once

#include "collective/nccl/nccl_paths.h"
#include "collective/nccl/nccl_search.h"

// A set of demands, and the channels that were found for them.
struct nccl_attempt {
    enum nccl_pattern pattern;
    uint8_t type_intra, type_inter; // the farthest paths that may be used
    uint8_t cross_nic;
    bool same_channels;
    int32_t intra_mb, inter_mb;
    uint32_t least, most; // channels that are worth keeping, and enough
    uint32_t channels;
    int32_t hops;
    struct nccl_order order[NCCL_SEARCH_CHANNELS];
};

#define NCCL_ALL_FOUND (-1) // visits left when `most` channels were found

struct nccl_chains {
    const struct nccl_paths *paths;
    struct nccl_attempt now, best;
    int64_t visits;
    int32_t left_mb[NCCL_WIRING_LINKS];
    int32_t port_left_mb[NCCL_SERVER_NICS];
    uint64_t used[NCCL_SERVER_GPUS]; // by channel
    // NICs to try from each GPU, and at last from all of them, the preferred ones first.
    uint8_t exits[NCCL_SERVER_GPUS + 1][NCCL_SERVER_NICS];
    uint32_t n_exits[NCCL_SERVER_GPUS + 1];
};

void nccl_chains_init(struct nccl_chains *chains, const struct nccl_paths *paths);

// Tries `now` within a number of visits, and keeps it in `best` where it is better. Returns the
// visits left: 0 when they were used up, or NCCL_ALL_FOUND.
int64_t nccl_chains_try(struct nccl_chains *chains, int64_t visits);

/* ---- parts of an attempt ---- */

// The GPUs to try after `gpu` that the channel has not passed, the best one first; returns how many
// were written to `next`. `to_nic`: whether the channel still has to reach a NIC; `soon`: from the
// next GPU already.
uint32_t nccl_chains_next(const struct nccl_chains *chains, uint32_t gpu, bool to_nic, bool soon,
                          uint8_t *next);
