// SPDX-License-Identifier: MIT
// The pool of blocks behind the rings.
#include "net/packet_ring.h"

#include <string.h>

#include "engine/base/memory.h"

#define POOL_UNITS (UINT32_C(1) << 24) // 134 million packets; 4 GB if all of it is used

void ring_pool_init(struct ring_pool *pool)
{
    *pool = (struct ring_pool){.reserved_bytes = POOL_UNITS * RING_UNIT * sizeof *pool->packets};
    memset(pool->free, 0xff, sizeof pool->free);
    pool->packets = memory_reserve(&pool->reserved_bytes);
    pool->cap_units = (uint32_t)(pool->reserved_bytes / RING_UNIT / sizeof *pool->packets);
}

void ring_pool_free(struct ring_pool *pool)
{
    if (pool->packets)
        memory_release(pool->packets, pool->reserved_bytes);
    *pool = (struct ring_pool){0};
}

// Returns the list of free blocks with `cap` slots.
static uint32_t *list_of(struct ring_pool *pool, uint32_t cap)
{
    return &pool->free[__builtin_ctz(cap / RING_UNIT)];
}

// A free block stores the number of the next free block in its first packet.
static uint32_t *next_of(const struct ring_pool *pool, uint32_t block)
{
    return &pool->packets[(size_t)block * RING_UNIT].entropy;
}

static uint32_t block_alloc(struct ring_pool *pool, uint32_t cap)
{
    uint32_t *list = list_of(pool, cap), block = *list;
    pool->used_slots += cap;
    if (block != RING_NIL) {
        *list = *next_of(pool, block);
        return block;
    }
    if (pool->n_units + cap / RING_UNIT > pool->cap_units)
        memory_exhausted((size_t)pool->n_units * RING_UNIT + cap, sizeof *pool->packets);
    block = pool->n_units;
    pool->n_units += cap / RING_UNIT;
    return block;
}

void ring_free_block(struct ring_pool *pool, struct ring *r)
{
    if (r->cap > 0) {
        *next_of(pool, r->block) = *list_of(pool, r->cap);
        *list_of(pool, r->cap) = r->block;
        pool->used_slots -= r->cap;
    }
    *r = ring_empty();
}

void ring_grow(struct ring_pool *pool, struct ring *r)
{
    struct ring wide = {.count = r->count, .cap = r->cap ? 2 * r->cap : RING_UNIT};
    wide.block = block_alloc(pool, wide.cap);
    for (uint32_t i = 0; i < r->count; i++)
        *ring_at(pool, &wide, i) = *ring_at(pool, r, i);
    ring_free_block(pool, r);
    *r = wide;
}
