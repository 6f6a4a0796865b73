// SPDX-License-Identifier: MIT
// A lower bound of the time of a phase that aggregators reduce.
#pragma once

#include "collective/collective.h"
#include "sim/sim_internal.h"

// `ranks`: [rank of the group] rank of the network. `enter_ps`: [same] when it begins; becomes when its
// part ends at the earliest.
void ideal_reduction(const struct sim *sim, const struct coll_shape *shape, const uint32_t *ranks,
                     uint32_t transport, double *enter_ps);
