// SPDX-License-Identifier: MIT
// A lower bound of the time of a phase that aggregators reduce.
#pragma once

#include "collective/algorithm/collective.h"
#include "sim/ideal/ideal_internal.h"

// Bytes that a rank of the group sends and receives in each of the trees, at least.
struct rank_bytes {
    uint64_t sent, received;
};
struct rank_bytes ideal_reduction_bytes(const struct coll_shape *shape, uint32_t rank);

// Returns the network node of the aggregator to which a rank of the group is attached in a tree.
uint32_t ideal_reduction_parent(const struct coll_shape *shape, uint32_t tree, uint32_t rank);

// `ranks`: [rank of the group] rank of the network. `enter_ps`: [same] begin of the rank's part;
// becomes the earliest end of that part.
void ideal_reduction(const struct ideals *ideals, const struct coll_shape *shape,
                     const uint32_t *ranks, uint32_t transport, double *enter_ps);
