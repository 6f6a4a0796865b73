// SPDX-License-Identifier: MIT
// The messages of a rank to the next one on a channel's ring, in the order in which it sends them.
//
// A message depends on one other: that of the step before, from the previous rank, with the same
// loop and slice. Nothing else orders them, so slices follow each other around the ring.
#pragma once

#include "nccl/chunks.h"

struct nccl_send {
    uint32_t loop, step, slice;
    uint64_t bytes;      // of user data; 0 = a slice of a short chunk, which is sent all the same
    uint64_t wire_bytes; // of the write
};

struct nccl_ring_part {
    enum nccl_function function;
    enum nccl_protocol protocol;
    struct nccl_chunking chunking;
    uint32_t ranks, at; // position on the ring, counted from rank 0; of a chain from its begin
    uint64_t bytes;     // of the channel (struct nccl_split)
    uint32_t element_bytes;
};

// Call `each` for every message that the rank sends to the next one. The last rank of a chain
// (broadcast, reduce) sends none.
void nccl_ring_sends(const struct nccl_ring_part *part,
                     void (*each)(void *ctx, const struct nccl_send *send), void *ctx);
