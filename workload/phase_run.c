// SPDX-License-Identifier: MIT
// Memory of phase runs.
#include "workload/phase_run.h"

#include <stdlib.h>

#include "engine/memory.h"

void phase_pool_free(struct phase_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++) {
        for (uint32_t m = 0; m < pool->runs[i]->n_members; m++)
            walk_free(&pool->runs[i]->walks[m]);
        free(pool->runs[i]);
    }
    free(pool->runs);
}

struct phase_run *phase_run_take(struct phase_pool *pool, uint32_t dim, uint32_t members)
{
    struct phase_run *run = pool->free[dim];
    if (run) {
        pool->free[dim] = run->next_free;
        return run;
    }
    if (pool->n == pool->cap)
        pool->runs = memory_grow(pool->runs, &pool->cap, sizeof(struct phase_run *));
    run = memory_zeroed(1, sizeof *run + members * sizeof *run->walks);
    run->id = (uint32_t)pool->n;
    run->dim = dim;
    run->n_members = members;
    for (uint32_t m = 0; m < members; m++) {
        run->walks[m].run = run;
        run->walks[m].member = m;
    }
    pool->runs[pool->n++] = run;
    return run;
}

void phase_run_give(struct phase_pool *pool, struct phase_run *run)
{
    for (uint32_t m = 0; m < run->n_members; m++)
        walk_reset(&run->walks[m]);
    run->n_ready = run->n_done = 0;
    run->ready_ps = 0;
    run->next_free = pool->free[run->dim];
    pool->free[run->dim] = run;
}
