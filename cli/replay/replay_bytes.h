// SPDX-License-Identifier: MIT
// Big-endian loads, the counterparts of net/wire/bytes.h.
#pragma once

#include <stdint.h>

static inline uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }
static inline uint32_t get24(const uint8_t *at)
{
    return (uint32_t)at[0] << 16 | (uint32_t)get16(at + 1);
}
static inline uint32_t get32(const uint8_t *at)
{
    return (uint32_t)get16(at) << 16 | get16(at + 2);
}
static inline uint64_t get48(const uint8_t *at)
{
    return (uint64_t)get16(at) << 32 | get32(at + 2);
}
