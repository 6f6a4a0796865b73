// SPDX-License-Identifier: MIT
// What several of NCCL's rules share.
#pragma once

#include "collective/nccl/nccl.h"

// Returns the largest k with 2^k <= n; -1 for 0.
static inline int nccl_log2(uint64_t n)
{
    int k = -1;
    for (; n > 0; n >>= 1)
        k++;
    return k;
}

// Returns the least power of two that is at least n.
static inline uint32_t nccl_power_of_two(uint32_t n)
{
    uint32_t power = 1;
    while (power < n)
        power *= 2;
    return power;
}

// Returns the bits of a number below `power`, a power of two, in reverse.
static inline uint32_t nccl_mirrored(uint32_t value, uint32_t power)
{
    uint32_t sum = 0;
    for (uint32_t up = 1, down = power / 2; up < power; up *= 2, down /= 2)
        sum |= value & up ? down : 0;
    return sum;
}

// Returns the least multiple of `to` that is at least n.
static inline uint64_t nccl_round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

// True where each rank contributes, or keeps, one part of the data.
static inline bool nccl_scatters(enum nccl_function function)
{
    return function == NCCL_ALL_GATHER || function == NCCL_REDUCE_SCATTER;
}

// True where the data goes along a chain of ranks, from a root or to it.
static inline bool nccl_is_chain(enum nccl_function function)
{
    return function == NCCL_BROADCAST || function == NCCL_REDUCE;
}
