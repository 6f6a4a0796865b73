// SPDX-License-Identifier: MIT
// Structs that consist of 64-bit counters only. They are added as a whole, so that a new counter
// needs no line where shards and processes are summed. The counters are integers, so the order of
// addition does not matter.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define COUNTERS(type)                                                                             \
    _Static_assert(sizeof(type) % sizeof(uint64_t) == 0, #type " has counters of 64 bits only")

#define COUNTERS_ADD(sum, more) counters_add(sum, more, sizeof *(sum))

// Add the counters of `more` to those of `sum`; both are structs of so many bytes.
static inline void counters_add(void *sum, const void *more, size_t bytes)
{
    uint64_t *to = sum;
    const uint64_t *from = more;
    for (size_t i = 0; i < bytes / sizeof *to; i++)
        to[i] += from[i];
}
