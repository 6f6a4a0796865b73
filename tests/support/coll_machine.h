// SPDX-License-Identifier: MIT
// Executes the program of a collective on real vectors, with messages arriving in random order.
#pragma once

#include "collective/algorithm/collective.h"

// Assert everything: supported shapes, matching sends and receives, execution, correct vectors at
// the end.
void coll_machine_check(const struct coll_algorithm *a, const struct coll_shape *shape);

// The same for every number of ranks from 2 to `ranks_max`, for odd sizes, and for all roots if the
// operation has a root. `each` (or NULL) is called with every shape for further assertions.
void coll_machine_sweep(const struct coll_algorithm *a, struct coll_shape shape, uint32_t ranks_max,
                        void (*each)(const struct coll_algorithm *a, const struct coll_shape *s));

// Returns the bytes that all ranks send in total.
uint64_t coll_machine_total(const struct coll_algorithm *a, const struct coll_shape *shape);

uint32_t coll_machine_log2_up(uint32_t n); // ceil(log2 n)
