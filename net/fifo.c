// SPDX-License-Identifier: MIT
// The pool of chunks behind the FIFOs.
#include "net/fifo.h"

#include <stdlib.h>

#include "engine/base/memory.h"

#define POOL_CHUNKS (UINT32_C(1) << 23) // 134 million packets; 4 GB if all of it is used
#define POOL_STEP 256

void fifo_pool_init(struct fifo_pool *pool)
{
    *pool = (struct fifo_pool){.free_head = FIFO_NIL};
    pool->reserved_bytes[0] = POOL_CHUNKS * FIFO_CHUNK * sizeof *pool->packets;
    pool->packets = memory_reserve(&pool->reserved_bytes[0]);
    pool->cap_chunks = (uint32_t)(pool->reserved_bytes[0] / FIFO_CHUNK / sizeof *pool->packets);
    pool->reserved_bytes[1] = pool->cap_chunks * sizeof *pool->next;
    pool->next = memory_reserve(&pool->reserved_bytes[1]);
}

void fifo_pool_free(struct fifo_pool *pool)
{
    memory_release(pool->packets, pool->reserved_bytes[0]);
    memory_release(pool->next, pool->reserved_bytes[1]);
    *pool = (struct fifo_pool){.free_head = FIFO_NIL};
}

size_t fifo_pool_used(const struct fifo_pool *pool)
{
    size_t used = pool->n_chunks;
    for (uint32_t chunk = pool->free_head; chunk != FIFO_NIL; chunk = pool->next[chunk])
        used--;
    return used;
}

void fifo_pool_grow(struct fifo_pool *pool)
{
    uint32_t old = pool->n_chunks, now = old + POOL_STEP;
    if (now > pool->cap_chunks || now * sizeof *pool->next > pool->reserved_bytes[1])
        memory_exhausted((size_t)now * FIFO_CHUNK, sizeof *pool->packets);
    for (uint32_t i = now; i-- > old;) {
        pool->next[i] = pool->free_head;
        pool->free_head = i;
    }
    pool->n_chunks = now;
}
