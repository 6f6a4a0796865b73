// SPDX-License-Identifier: MIT
// Groups of ranks. Ranks are numbered with the innermost dimension first, so a group is an
// arithmetic progression.
#include "net/topology/group.h"

uint32_t rank_groups(const struct graph *g, uint32_t dim) { return g->n_ranks / g->dim_size[dim]; }

struct rank_group rank_group_at(const struct graph *g, uint32_t dim, uint32_t index)
{
    uint32_t stride = 1, size = g->dim_size[dim];
    for (uint32_t d = 0; d < dim; d++)
        stride *= g->dim_size[d];
    return (struct rank_group){index / stride * stride * size + index % stride, stride, size};
}
