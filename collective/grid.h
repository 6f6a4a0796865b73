// SPDX-License-Identifier: MIT
// The ranks of a job as a grid: groups along a dimension, and what a rank holds of a vector.
#pragma once

#include "collective/schedule.h"

// Dimension n_dims is the whole: one group of all ranks.
uint32_t coll_ranks(const struct coll_schedule *s);
uint32_t coll_group_size(const struct coll_schedule *s, uint32_t dim);
uint32_t coll_largest_group(const struct coll_schedule *s);
// Ranks that agree in the dimensions that are not in the bit set `dims`.
uint32_t coll_span(const struct coll_schedule *s, uint32_t dims);
uint32_t coll_n_groups(const struct coll_schedule *s, uint32_t dim);

// The group of a rank along a dimension, its place in it, and the way back.
uint32_t coll_group_of(const struct coll_schedule *s, uint32_t dim, uint32_t rank);
uint32_t coll_member_of(const struct coll_schedule *s, uint32_t dim, uint32_t rank);
uint32_t coll_rank_of(const struct coll_schedule *s, uint32_t dim, uint32_t group, uint32_t member);

struct coll_range {
    uint64_t first, end; // bytes of a vector
};

// The part of a chunk that a group works on in phase `i` of its `n`: the vector of its operation.
// Reduce-scatters leave every rank with a segment of what it had, all-gathers bring that back; a
// collective that only gathers begins with the parts that its phases will join. An all-to-all
// counts blocks of equal size: it keeps the whole chunk.
struct coll_range coll_phase_range(const struct coll_schedule *s, const struct coll_phase *phases,
                                   uint32_t n, uint32_t i, uint32_t group, struct coll_range chunk);
