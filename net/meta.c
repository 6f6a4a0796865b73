// SPDX-License-Identifier: MIT
// Growth of the pool of packet meta-data.
#include "net/meta.h"

#include <stdlib.h>

#include "engine/memory.h"

#define META_SLOTS (UINT32_C(1) << 27) // as many as packets; 4 GB if all of it is used
#define META_STEP 1024

void meta_pool_init(struct meta_pool *pool)
{
    *pool = (struct meta_pool){.per_slot = 1, .n_slots = 1};
    pool->reserved_bytes = META_SLOTS * sizeof *pool->slots;
    pool->slots = memory_reserve(&pool->reserved_bytes);
    pool->cap_slots = (uint32_t)(pool->reserved_bytes / sizeof *pool->slots);
}

void meta_pool_free(struct meta_pool *pool)
{
    if (pool->slots)
        memory_release(pool->slots, pool->reserved_bytes);
    free(pool->hops);
    free(pool->sacks);
    free(pool->waits);
    free(pool->notes);
    *pool = (struct meta_pool){0};
}

void meta_pool_grow(struct meta_pool *pool)
{
    uint32_t first = pool->n_slots, end = first + META_STEP;
    if (end > pool->cap_slots)
        memory_exhausted(end, sizeof *pool->slots);
    for (uint32_t slot = end; slot-- > first;) {
        pool->slots[slot].next = pool->free_head;
        pool->free_head = slot;
    }
    pool->n_slots = end;
}

void meta_pool_grow_hops(struct meta_pool *pool)
{
    size_t n = pool->n_slots > 2 * pool->n_hop_slots ? pool->n_slots : 2 * pool->n_hop_slots;
    pool->hops = memory_resize(pool->hops, n * pool->per_slot, sizeof *pool->hops);
    pool->n_hop_slots = (uint32_t)n;
}

void meta_pool_grow_sacks(struct meta_pool *pool)
{
    size_t n = pool->n_slots > 2 * pool->n_sack_slots ? pool->n_slots : 2 * pool->n_sack_slots;
    pool->sacks = memory_resize(pool->sacks, n * META_SACKS, sizeof *pool->sacks);
    pool->n_sack_slots = (uint32_t)n;
}

void meta_pool_grow_waits(struct meta_pool *pool)
{
    size_t n = pool->n_slots > 2 * pool->n_wait_slots ? pool->n_slots : 2 * pool->n_wait_slots;
    pool->waits = memory_resize(pool->waits, n, sizeof *pool->waits);
    pool->n_wait_slots = (uint32_t)n;
}

void meta_clear_note(struct meta_pool *pool, uint32_t slot)
{
    if (slot >= pool->n_note_slots) {
        size_t n = pool->n_slots > 2 * pool->n_note_slots ? pool->n_slots : 2 * pool->n_note_slots;
        pool->notes = memory_resize(pool->notes, n, sizeof *pool->notes);
        pool->n_note_slots = (uint32_t)n;
    }
    pool->notes[slot].set = 0;
}

void meta_add_wait(struct meta_pool *pool, uint32_t slot, uint32_t port, ps_t wait_ps)
{
    struct meta_waits *w = &pool->waits[slot];
    if (w->n == META_WAITS) {
        w->wait_ps[META_WAITS - 1] += wait_ps;
        return;
    }
    w->port[w->n] = port;
    w->wait_ps[w->n++] = wait_ps;
}
