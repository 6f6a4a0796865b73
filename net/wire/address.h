// SPDX-License-Identifier: MIT
// Addresses of ranks and switches in captures. No other file defines addresses.
//
// Rank r has the IPv4 address 10.0.0.0 + r + 1 in one flat 10/8 network and the MAC 02:00:00
// followed by the same low 24 bits, so rank 0 is 10.0.0.1 and 02:00:00:00:00:01. There is room for
// 2^24 - 2 ranks. A MAC is the low 48 bits of a uint64_t, with the first byte on the wire as the
// highest. Switches do not rewrite MACs when they forward; a switch MAC appears only in PFC frames.
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
