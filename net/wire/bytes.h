// SPDX-License-Identifier: MIT
// Big-endian stores. Each returns the byte after the last one written, so that a header is encoded
// by a list of calls.
#pragma once

#include <stdint.h>

static inline uint8_t *put8(uint8_t *at, uint8_t v)
{
    *at = v;
    return at + 1;
}
static inline uint8_t *put16(uint8_t *at, uint16_t v)
{
    return put8(put8(at, (uint8_t)(v >> 8)), (uint8_t)v);
}
static inline uint8_t *put24(uint8_t *at, uint32_t v)
{
    return put16(put8(at, (uint8_t)(v >> 16)), (uint16_t)v);
}
static inline uint8_t *put32(uint8_t *at, uint32_t v)
{
    return put16(put16(at, (uint16_t)(v >> 16)), (uint16_t)v);
}
static inline uint8_t *put48(uint8_t *at, uint64_t v)
{
    return put32(put16(at, (uint16_t)(v >> 32)), (uint32_t)v);
}
static inline uint8_t *put64(uint8_t *at, uint64_t v)
{
    return put32(put32(at, (uint32_t)(v >> 32)), (uint32_t)v);
}
