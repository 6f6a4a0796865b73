// SPDX-License-Identifier: MIT
// Contention of a collective's own messages inside the fabric.
#pragma once

#include "collective/algorithm/collective.h"
#include "sim/ideal/ideal.h"

// Add to `busy_ps` [port] the time for which each link transmits a message, spread evenly over all
// shortest paths between the ranks.
void ideal_add_message(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t transport,
                       double bytes, double *busy_ps);

// The time that links between switches add to the ideal time of a collective of one phase, if
// switches spread its messages evenly over all shortest paths, or each takes one of them (ecmp); -1
// = not known (more messages than `limit`, or messages that pass through other ranks).
// `spread_all`: spread also where switches choose by flow. `ranks`: [member] as in
// ideal_collective_ps().
ps_t ideal_contention_ps(const struct ideals *ideals, const uint32_t *ranks,
                         const struct coll_algorithm *algorithm, const struct coll_shape *shape,
                         uint32_t transport, bool spread_all, uint64_t limit);
