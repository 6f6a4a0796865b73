// SPDX-License-Identifier: MIT
// A set of byte ranges of a stream, in order, disjoint and not adjacent.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct byte_range {
    uint64_t start, end; // first byte, byte after the last
};

struct byte_ranges {
    struct byte_range *at; // in ascending order
    size_t n, cap;
};

// Add a range that the set holds completely or not at all. Returns the range of the set that then
// covers it; *added is set to whether it is new. May allocate memory.
struct byte_range ranges_add(struct byte_ranges *ranges, struct byte_range range, int *added);

// Remove the first range if it starts at `byte`. Returns its end, or `byte` if there is none.
uint64_t ranges_take(struct byte_ranges *ranges, uint64_t byte);

void ranges_free(struct byte_ranges *ranges);
