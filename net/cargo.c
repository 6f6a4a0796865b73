// SPDX-License-Identifier: MIT
// Growth of the pool of what packets carry.
#include "net/cargo.h"

#include <stdlib.h>

#include "engine/memory.h"

#define CARGO_SLOTS (UINT32_C(1) << 27) // as many as packets; 4 GB if ever touched
#define CARGO_STEP 1024

void cargo_pool_init(struct cargo_pool *pool)
{
    *pool = (struct cargo_pool){.per_slot = 1, .n_slots = 1};
    pool->reserved_bytes = CARGO_SLOTS * sizeof *pool->slots;
    pool->slots = memory_reserve(&pool->reserved_bytes);
    pool->cap_slots = (uint32_t)(pool->reserved_bytes / sizeof *pool->slots);
}

void cargo_pool_free(struct cargo_pool *pool)
{
    if (pool->slots)
        memory_release(pool->slots, pool->reserved_bytes);
    free(pool->hops);
    *pool = (struct cargo_pool){0};
}

void cargo_pool_grow(struct cargo_pool *pool)
{
    uint32_t first = pool->n_slots, end = first + CARGO_STEP;
    if (end > pool->cap_slots)
        memory_exhausted(end, sizeof *pool->slots);
    for (uint32_t slot = end; slot-- > first;) {
        pool->slots[slot].next = pool->free_head;
        pool->free_head = slot;
    }
    pool->n_slots = end;
}

void cargo_pool_grow_hops(struct cargo_pool *pool)
{
    size_t n = pool->n_slots > 2 * pool->n_hop_slots ? pool->n_slots : 2 * pool->n_hop_slots;
    pool->hops = memory_resize(pool->hops, n * pool->per_slot, sizeof *pool->hops);
    pool->n_hop_slots = (uint32_t)n;
}
