// SPDX-License-Identifier: MIT
// Dimensions built once for every group of ranks that share all other coordinates.
#pragma once

#include "topology/graph.h"

// The ranks of a group: `first` + i * `stride`, i = 0 .. size - 1.
struct rank_group {
    uint32_t first, stride, size;
};

// How many groups dimension `dim` has, and the one of that index, in order of their first ranks.
uint32_t rank_groups(const struct graph *g, uint32_t dim);
struct rank_group rank_group_at(const struct graph *g, uint32_t dim, uint32_t index);

static inline uint32_t group_rank(const struct rank_group *group, uint32_t i)
{
    return group->first + i * group->stride;
}
