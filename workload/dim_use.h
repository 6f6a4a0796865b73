// SPDX-License-Identifier: MIT
// How much of the time a dimension has something in its queue: shares of equal steps of time.
#pragma once

#include <stddef.h>

#include "collective/phase.h"

#define DIM_USE_STEP_PS (10 * PS_PER_US)
#define DIM_USE_STEPS (1u << 20) // then steps become twice as long

struct dim_use {
    /* config */
    uint32_t n_dims;
    /* state */
    ps_t step_ps;
    double *busy_ps; // [step * n_dims + dim]
    size_t n, cap;   // steps
};

void dim_use_init(struct dim_use *u, uint32_t n_dims);
void dim_use_free(struct dim_use *u);

// A part `share` of the dimension's queues held something from `from` to `to`.
void dim_use_add(struct dim_use *u, uint32_t dim, ps_t from, ps_t to, double share);
