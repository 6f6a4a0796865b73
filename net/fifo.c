// SPDX-License-Identifier: MIT
// The pool behind the FIFOs.
#include "net/fifo.h"

#include <stdlib.h>

#include "engine/memory.h"

void fifo_pool_init(struct fifo_pool *pool) { *pool = (struct fifo_pool){.free_head = FIFO_NIL}; }

void fifo_pool_free(struct fifo_pool *pool)
{
    free(pool->packets);
    free(pool->next);
    fifo_pool_init(pool);
}

size_t fifo_pool_used(const struct fifo_pool *pool) { return pool->n_chunks - pool->n_free; }

void fifo_pool_grow(struct fifo_pool *pool)
{
    size_t old = pool->n_chunks, now = old ? old + old / 2 : 256;
    pool->packets = memory_resize(pool->packets, now * FIFO_CHUNK, sizeof *pool->packets);
    pool->next = memory_resize(pool->next, now, sizeof *pool->next);
    for (size_t i = now; i-- > old;) {
        pool->next[i] = pool->free_head;
        pool->free_head = (uint32_t)i;
    }
    pool->n_free += (uint32_t)(now - old);
    pool->n_chunks = now;
}
