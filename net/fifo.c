// SPDX-License-Identifier: MIT
// The pool behind the FIFOs.
#include "net/fifo.h"

#include <string.h>

#include "engine/memory.h"

#define POOL_UNITS (UINT32_C(1) << 24) // 134 million packets, 4 GB if ever touched

void fifo_pool_init(struct fifo_pool *pool)
{
    *pool = (struct fifo_pool){.reserved_bytes = POOL_UNITS * FIFO_UNIT * sizeof *pool->packets};
    memset(pool->free, 0xff, sizeof pool->free);
    pool->packets = memory_reserve(&pool->reserved_bytes);
    pool->cap_units = (uint32_t)(pool->reserved_bytes / FIFO_UNIT / sizeof *pool->packets);
}

void fifo_pool_free(struct fifo_pool *pool)
{
    if (pool->packets)
        memory_release(pool->packets, pool->reserved_bytes);
    *pool = (struct fifo_pool){0};
}

// The list that blocks of `cap` slots are in.
static uint32_t *list_of(struct fifo_pool *pool, uint32_t cap)
{
    return &pool->free[__builtin_ctz(cap / FIFO_UNIT)];
}

// A free block keeps the number of the next one in its first packet.
static uint32_t *next_of(const struct fifo_pool *pool, uint32_t block)
{
    return &pool->packets[(size_t)block * FIFO_UNIT].psn;
}

static uint32_t block_take(struct fifo_pool *pool, uint32_t cap)
{
    uint32_t *list = list_of(pool, cap), block = *list;
    pool->used_slots += cap;
    if (block != FIFO_NIL) {
        *list = *next_of(pool, block);
        return block;
    }
    if (pool->n_units + cap / FIFO_UNIT > pool->cap_units)
        memory_exhausted((size_t)pool->n_units * FIFO_UNIT + cap, sizeof *pool->packets);
    block = pool->n_units;
    pool->n_units += cap / FIFO_UNIT;
    return block;
}

void fifo_give_block(struct fifo_pool *pool, struct fifo *f)
{
    if (f->cap > 0) {
        *next_of(pool, f->block) = *list_of(pool, f->cap);
        *list_of(pool, f->cap) = f->block;
        pool->used_slots -= f->cap;
    }
    *f = fifo_empty();
}

void fifo_grow(struct fifo_pool *pool, struct fifo *f)
{
    struct fifo wide = {.count = f->count, .cap = f->cap ? 2 * f->cap : FIFO_UNIT};
    wide.block = block_take(pool, wide.cap);
    for (uint32_t i = 0; i < f->count; i++)
        *fifo_at(pool, &wide, i) = *fifo_at(pool, f, i);
    fifo_give_block(pool, f);
    *f = wide;
}
