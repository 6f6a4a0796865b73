// SPDX-License-Identifier: MIT
// Executes a collective's program on real vectors, messages arriving in random order.
#pragma once

#include "collective/collective.h"

// Supports, matching of sends and receives, execution, the right vectors at the end: asserts all.
void coll_machine_check(const struct coll_algorithm *a, const struct coll_shape *shape);

// The same of every count of ranks from 2 to `ranks_max`, odd sizes, and roots where there are any;
// `each` (or NULL) is called with every shape for assertions of its own.
void coll_machine_sweep(const struct coll_algorithm *a, struct coll_shape shape, uint32_t ranks_max,
                        void (*each)(const struct coll_algorithm *a, const struct coll_shape *s));

// Bytes that all ranks send together.
uint64_t coll_machine_total(const struct coll_algorithm *a, const struct coll_shape *shape);

uint32_t coll_machine_log2_up(uint32_t n); // ceil(log2 n)
