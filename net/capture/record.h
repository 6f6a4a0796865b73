// SPDX-License-Identifier: MIT
// A captured packet in memory, without its payload of zeros.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/units.h"

struct record {
    ps_t time_ps;
    uint32_t interface;
    uint32_t length;     // of the whole frame
    uint32_t zero_bytes; // payload that is kept of it
    uint16_t head_bytes, tail_bytes, option_bytes;
    size_t next;     // of net/capture/record_heap.h
    uint8_t bytes[]; // head, tail, options in the form of pcapng
};

// Bytes that the frame has in a file.
static inline size_t record_kept(const struct record *r)
{
    return (size_t)r->head_bytes + r->zero_bytes + r->tail_bytes;
}

// Bytes of the record in memory, a multiple of its alignment.
static inline size_t record_size(const struct record *r)
{
    size_t n = sizeof *r + r->head_bytes + r->tail_bytes + r->option_bytes;
    return (n + 7) & ~(size_t)7;
}
