// SPDX-License-Identifier: MIT
// Lists of ranks with ranges: "0-15", "0-3,8-11", or a list that holds such texts and numbers.
#pragma once

#include "engine/text/read.h"

#define RANKS_MAX 262144 // of a network

// Replace texts of ranges at `place` by the ranks that they name, in the scenario itself, so that
// everything that reads or writes it later sees a list of numbers. Other values are left as they
// are. `n_ranks`: number of ranks of the network, 0 = unknown. Returns false with one error if a
// range cannot be read or leaves the ranks.
bool ranks_expand(struct reader *r, struct place *place, uint32_t n_ranks);
