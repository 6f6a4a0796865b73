// SPDX-License-Identifier: MIT
// The packet numbers of a connection that have been seen: ranges of numbers that do not wrap.
//
// At most SEEN_RANGES are kept. When there would be more, the gap between the two lowest counts as
// seen: packets that old are missing in the capture rather than late.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SEEN_RANGES 64

struct seen_range {
    int64_t begin, end; // end is not part of the range
};

struct seen {
    struct seen_range *ranges; // ascending, with gaps between them
    uint32_t n, cap;
};

// Add the numbers begin..end-1. Returns true if `begin` was not among those seen.
bool seen_add(struct seen *seen, int64_t begin, int64_t end);
// True if all numbers begin..end-1 have been seen.
bool seen_covers(const struct seen *seen, int64_t begin, int64_t end);
void seen_free(struct seen *seen);
