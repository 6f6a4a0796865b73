// SPDX-License-Identifier: MIT
// Addresses of ranks and switches in captures: the only place that invents them.
//
// Rank r is 10.0.0.0 + r + 1 in one flat 10/8 and 02:00:00 with the same low 24 bits, so rank 0 is
// 10.0.0.1 and 02:00:00:00:00:01. Holds 2^24 - 2 ranks. MACs are 48 bits in a uint64_t, first byte
// on the wire highest. Switches forward without rewriting MACs; theirs appear in PFC frames only.
#pragma once

#include <stdint.h>

static inline uint32_t rank_ip(uint32_t rank) { return UINT32_C(0x0a000000) + rank + 1; }

static inline uint64_t rank_mac(uint32_t rank)
{
    return UINT64_C(0x020000000000) | ((rank + 1) & UINT32_C(0xffffff));
}

static inline uint64_t switch_mac(uint32_t index)
{
    return UINT64_C(0x020001000000) | ((index + 1) & UINT32_C(0xffffff));
}
