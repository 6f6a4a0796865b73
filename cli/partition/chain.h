// SPDX-License-Identifier: MIT
// The best cut of a chain of items into successive parts, as stages of a pipeline.
//
// Every step of a synchronous pipeline lasts as long as its slowest stage, and then as long as its
// largest message. The cost of a cut is therefore the work of the longest part plus the largest
// boundary between two parts (the terms of Kahira et al., HPDC 2021, table 3, pipeline).
//
// The cut is exact. For every size that the largest boundary may have, cuts behind items with a
// larger one are left out, and the longest part is minimised by dynamic programming over prefixes:
// the longest of k parts of the first j items is the least, over i, of the longer of k - 1 parts of
// the first i items and the work of items i to j. Both are monotone in i, so that the best i grows
// with j, and a row of the table takes linear time.
#pragma once

#include <stdint.h>

struct chain {
    uint32_t n;
    const double *work;     // [n] of an item
    const double *boundary; // [n] of a cut behind an item, in the unit of the work
};

// The cost of parts that begin at first[0] = 0, .., first[parts - 1]; first[parts] = n.
double chain_cost(const struct chain *c, uint32_t parts, const uint32_t *first);

// Parts of as equal numbers of items as possible; fills first[parts + 1].
void chain_equal(uint32_t n, uint32_t parts, uint32_t *first);

// The cut of the least cost into 1 to n parts, none of them empty; fills first[parts + 1] and
// returns the cost.
double chain_cut(const struct chain *c, uint32_t parts, uint32_t *first);
