// SPDX-License-Identifier: MIT
// NCCL's choice for a size: algorithm, protocol, channels and threads, and how the data is split
// over channels.
#pragma once

#include "collective/nccl/model.h"

// Bytes of the channels that get data.
struct nccl_split {
    uint32_t channels;
    uint64_t first, middle, last; // bytes of a channel; middle = 0: fewer than three channels
};

struct nccl_choice {
    enum nccl_algorithm algorithm;
    enum nccl_protocol protocol;
    uint64_t bytes;    // of the operation, as given
    double cost_us;    // by which it was chosen
    uint32_t channels; // at most; split.channels get data
    uint32_t threads;  // of a channel
    struct nccl_split split;
};

// Bit sets of algorithms and protocols that may be chosen (NCCL_ALGO, NCCL_PROTO).
#define NCCL_ANY_ALGORITHM ((1u << NCCL_ALGORITHMS) - 1)
#define NCCL_ANY_PROTOCOL ((1u << NCCL_PROTOCOLS) - 1)

// Returns the ranking cost in us of an operation of `bytes`: the larger side of all ranks together,
// as count times ranks of an all-gather. Negative = not possible here.
double nccl_cost_us(const struct nccl_model *model, enum nccl_function function,
                    enum nccl_algorithm algorithm, enum nccl_protocol protocol, uint64_t bytes);

// What may be chosen for a function: what the bit sets allow. RCCL takes any protocol of a ring
// where that is nothing.
struct nccl_allowed {
    unsigned algorithms, protocols;
};
struct nccl_allowed nccl_allowed(const struct nccl_model *model, enum nccl_function function,
                                 unsigned algorithms, unsigned protocols);

// Choose for one operation of `bytes` > 0 (as above). Returns false if none of the allowed
// algorithms and protocols is possible for this function here.
bool nccl_choose(const struct nccl_model *model, enum nccl_function function, uint64_t bytes,
                 unsigned algorithms, unsigned protocols, struct nccl_choice *choice);

// Bytes of a chunk on a channel that carries `channel_bytes`: user data for Simple, LL and LL128.
uint64_t nccl_chunk_bytes(const struct nccl_model *model, enum nccl_function function,
                          const struct nccl_choice *choice, uint64_t channel_bytes);
