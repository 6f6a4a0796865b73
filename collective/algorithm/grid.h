// SPDX-License-Identifier: MIT
// The ranks of a job as a grid: groups along a dimension, and the part of a vector that a rank
// holds.
#pragma once

#include "collective/algorithm/schedule.h"

// Dimension number n_dims means all dimensions together: one group of all ranks.
uint32_t coll_ranks(const struct coll_schedule *s);
uint32_t coll_group_size(const struct coll_schedule *s, uint32_t dim);
uint32_t coll_largest_group(const struct coll_schedule *s);
// Number of ranks that agree in the dimensions outside the bit set `dims`.
uint32_t coll_span(const struct coll_schedule *s, uint32_t dims);
uint32_t coll_n_groups(const struct coll_schedule *s, uint32_t dim);

// The aggregators of a group, or NULL.
const struct coll_reduction *coll_reduction_of(const struct coll_schedule *s, uint32_t dim,
                                               uint32_t group);

// The group of a rank along a dimension, the rank's index in the group, and the inverse of both.
uint32_t coll_group_of(const struct coll_schedule *s, uint32_t dim, uint32_t rank);
uint32_t coll_member_of(const struct coll_schedule *s, uint32_t dim, uint32_t rank);
uint32_t coll_rank_of(const struct coll_schedule *s, uint32_t dim, uint32_t group, uint32_t member);

struct coll_range {
    uint64_t first, end; // bytes of a vector
};

// The part of a chunk that is the input vector of a group's operation in phase `i` of `n`. A
// reduce-scatter leaves every rank with one segment of its part, and the matching all-gather
// restores the part. A collective of all-gathers only starts with the segments that its phases
// join. An all-to-all exchanges equal blocks and keeps the whole chunk.
struct coll_range coll_phase_range(const struct coll_schedule *s, const struct coll_phase *phases,
                                   uint32_t n, uint32_t i, uint32_t group, struct coll_range chunk);
