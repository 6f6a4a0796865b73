// SPDX-License-Identifier: MIT
// Growth of the pool of INT records.
#include "net/int_pool.h"

#include <stdlib.h>

#include "engine/memory.h"

void int_pool_init(struct int_pool *pool, uint32_t per_slot)
{
    *pool = (struct int_pool){.per_slot = per_slot};
}

void int_pool_free(struct int_pool *pool)
{
    free(pool->hops);
    free(pool->next);
    *pool = (struct int_pool){0};
}

void int_pool_grow(struct int_pool *pool)
{
    uint32_t n = pool->n_slots ? 2 * pool->n_slots : 1024;
    uint32_t first = pool->n_slots ? pool->n_slots : 1;
    pool->hops = memory_resize(pool->hops, (size_t)n * pool->per_slot, sizeof *pool->hops);
    pool->next = memory_resize(pool->next, n, sizeof *pool->next);
    for (uint32_t slot = first; slot < n; slot++)
        pool->next[slot] = slot + 1 < n ? slot + 1 : 0;
    pool->free_head = first;
    pool->n_slots = n;
}
