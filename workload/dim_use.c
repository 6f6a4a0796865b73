// SPDX-License-Identifier: MIT
// Busy time by steps, in memory that is bounded however long a run is.
#include "workload/dim_use.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

void dim_use_init(struct dim_use *u, uint32_t n_dims)
{
    *u = (struct dim_use){.n_dims = n_dims, .step_ps = DIM_USE_STEP_PS};
}

void dim_use_free(struct dim_use *u) { free(u->busy_ps); }

static void steps_double(struct dim_use *u)
{
    size_t pairs = (u->n + 1) / 2, width = u->n_dims;
    for (size_t i = 0; i < pairs; i++)
        for (size_t d = 0; d < width; d++) {
            double second = 2 * i + 1 < u->n ? u->busy_ps[(2 * i + 1) * width + d] : 0;
            u->busy_ps[i * width + d] = u->busy_ps[2 * i * width + d] + second;
        }
    u->n = pairs;
    u->step_ps *= 2;
}

static void steps_reach(struct dim_use *u, ps_t to)
{
    while ((to - 1) / u->step_ps >= DIM_USE_STEPS)
        steps_double(u);
    size_t n = (size_t)((to - 1) / u->step_ps) + 1;
    if (n <= u->n)
        return;
    if (n > u->cap) {
        u->cap = n < 2 * u->cap ? 2 * u->cap : n;
        u->busy_ps = memory_resize(u->busy_ps, u->cap * u->n_dims, sizeof *u->busy_ps);
    }
    memset(u->busy_ps + u->n * u->n_dims, 0, (n - u->n) * u->n_dims * sizeof *u->busy_ps);
    u->n = n;
}

void dim_use_add(struct dim_use *u, uint32_t dim, ps_t from, ps_t to, double share)
{
    if (to <= from)
        return;
    steps_reach(u, to);
    while (from < to) {
        size_t step = (size_t)(from / u->step_ps);
        ps_t end = (ps_t)(step + 1) * u->step_ps;
        end = end < to ? end : to;
        u->busy_ps[step * u->n_dims + dim] += share * (double)(end - from);
        from = end;
    }
}
