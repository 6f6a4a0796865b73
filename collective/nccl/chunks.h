// SPDX-License-Identifier: MIT
// Buffers, steps, chunks and slices: how the data of a channel is cut into messages.
//
// A connection has a buffer of NCCL_STEPS steps. A chunk is what the loop of an algorithm handles
// at once, in up to chunk_steps steps; a slice of it is what one network message carries.
#pragma once

#include "collective/nccl/nccl_choice.h"

#define NCCL_STEPS 8 // of a connection's buffer

struct nccl_chunking {
    uint64_t chunk_bytes;              // of user data
    uint32_t chunk_steps, slice_steps; // steps of the buffer that a chunk and a slice take
    uint64_t steps;                    // of the buffers that the operation takes, of one connection
    // The last loop of an operation has less data than the others, so its chunks are smaller: they
    // are rounded up to a multiple of so many bytes.
    uint32_t rest_align;
};

// Bytes of user data in a step of the buffers, which have 4 MiB (Simple) unless the cluster says
// otherwise, 512 KiB (LL; RCCL: 256 KiB) and 4,800 KiB (LL128); and bytes on the wire of `bytes` of
// user data.
uint64_t nccl_step_bytes(const struct nccl_cluster *cluster, enum nccl_protocol protocol);
uint64_t nccl_wire_bytes(enum nccl_protocol protocol, uint64_t bytes);

// Cut `channel_bytes` of an operation, the bytes of one channel in struct nccl_split.
struct nccl_chunking nccl_chunking(const struct nccl_model *model, enum nccl_function function,
                                   const struct nccl_choice *choice, uint64_t channel_bytes);
