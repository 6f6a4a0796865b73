// SPDX-License-Identifier: MIT
// Groups for dimensions that are built once for each set of ranks with equal other coordinates.
#pragma once

#include "net/topology/graph.h"

// The ranks of a group: `first` + i * `stride`, i = 0 .. size - 1.
struct rank_group {
    uint32_t first, stride, size;
};

// Return the number of groups of dimension `dim`, and the group with a given index, in the order of
// their first ranks.
uint32_t rank_groups(const struct graph *g, uint32_t dim);
struct rank_group rank_group_at(const struct graph *g, uint32_t dim, uint32_t index);

static inline uint32_t group_rank(const struct rank_group *group, uint32_t i)
{
    return group->first + i * group->stride;
}
