// SPDX-License-Identifier: MIT
// What RCCL, AMD's library, does in its own way on MI300X (gfx942): numbers of channels, the table
// of costs, and how data is split over channels and cut into chunks. The rest is that of NCCL
// 2.21.5. Private to the room.
//
// Source: RCCL 2.21.5 of ROCm 6.3 (github.com/ROCm/rccl, commit 0cbce2a7), read for its rules and
// constants; places are named as file and function.
#pragma once

#include "collective/nccl/channels.h"
#include "collective/nccl/chunks.h"

#define RCCL_THREADS 256 // of a channel: four waves of 64 (include/device.h, NCCL_MAX_NTHREADS)

struct nccl_channels rccl_channels_of(const struct nccl_cluster *cluster,
                                      const struct nccl_settings *settings,
                                      const struct nccl_pair_limits *limits);

// The table of costs, and the part of a bandwidth that is reached at a size.
void rccl_model_init(struct nccl_model *model);
double rccl_correction(const struct nccl_cluster *cluster, enum nccl_algorithm algorithm,
                       enum nccl_protocol protocol, uint64_t bytes);

// Channels and threads of a choice for `bytes` of an operation, all ranks together.
void rccl_size_channels(const struct nccl_model *model, uint64_t bytes, struct nccl_choice *choice);
struct nccl_split rccl_split(enum nccl_protocol protocol, uint64_t bytes, uint32_t channels);

struct nccl_chunking rccl_chunking(const struct nccl_cluster *cluster, enum nccl_function function,
                                   const struct nccl_choice *choice, uint64_t channel_bytes);

// Whether a block of a tree sends all chunks up before it sends any down.
static inline bool rccl_goes_up_then_down(const struct nccl_cluster *cluster,
                                          enum nccl_protocol protocol)
{
    return cluster->rccl && protocol == NCCL_SIMPLE;
}
