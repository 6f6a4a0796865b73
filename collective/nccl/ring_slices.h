// SPDX-License-Identifier: MIT
// The slices of a rank on a channel's ring, in the order in which the rank handles them.
//
// A loop covers a chunk of each rank (all-reduce) or a chunk (others). In each step of it a rank
// sends one chunk, slice by slice, which has come from the rank before it in the step before, with
// the same loop and slice. That is the only dependency, so slices follow each other around the
// ring.
#pragma once

#include "collective/nccl/chunks.h"

struct nccl_ring_part {
    enum nccl_function function;
    enum nccl_protocol protocol;
    struct nccl_chunking chunking;
    uint32_t ranks, at; // position on the ring, counted from rank 0; of a chain from its begin
    uint64_t bytes;     // of the channel (struct nccl_split)
    uint32_t element_bytes;
};

struct nccl_slice {
    uint32_t loop, step, slice;
    bool receives, sends, reduces;
    uint64_t bytes; // of user data; 0 = of a short chunk, and sent all the same
};

uint64_t nccl_ring_length(const struct nccl_ring_part *part); // slices in all
struct nccl_slice nccl_ring_slice(const struct nccl_ring_part *part, uint64_t i);

// Bytes of a slice of a chunk of `bytes`, which is cut into chunk_steps / slice_steps of them.
uint64_t nccl_slice_bytes(const struct nccl_chunking *chunking, uint32_t element_bytes,
                          uint64_t bytes, uint32_t slice);
