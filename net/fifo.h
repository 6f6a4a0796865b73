// SPDX-License-Identifier: MIT
// FIFOs of packets by value over one shared pool of 8-packet chunks.
//
// By value and in chunks: a hop reads and writes memory in order, and queues that grow at different
// times share the same memory.
#pragma once

#include "net/packet.h"

#define FIFO_CHUNK 8
#define FIFO_NIL UINT32_MAX

struct fifo_pool {
    struct packet *packets; // [chunks * FIFO_CHUNK]; never moves
    uint32_t *next;         // of each chunk: in its FIFO, or in the free list
    uint32_t free_head;
    uint32_t n_free, n_chunks, cap_chunks;
    size_t reserved_bytes[2]; // address space of packets and next
};

struct fifo {
    uint32_t head, tail; // chunks
    uint32_t count;
    uint16_t head_at, tail_at; // slot of the first packet, and of the next push
};
_Static_assert(sizeof(struct fifo) == 16, "struct fifo is 16 bytes");

void fifo_pool_init(struct fifo_pool *pool);
void fifo_pool_free(struct fifo_pool *pool);
// Chunks in use: 0 once every FIFO is empty.
size_t fifo_pool_used(const struct fifo_pool *pool);
void fifo_pool_grow(struct fifo_pool *pool);

static inline struct fifo fifo_empty(void) { return (struct fifo){FIFO_NIL, FIFO_NIL, 0, 0, 0}; }

static inline uint32_t fifo_chunk_take(struct fifo_pool *pool)
{
    if (pool->free_head == FIFO_NIL)
        fifo_pool_grow(pool);
    uint32_t chunk = pool->free_head;
    pool->free_head = pool->next[chunk];
    pool->n_free--;
    return chunk;
}

static inline void fifo_push(struct fifo_pool *pool, struct fifo *f, const struct packet *p)
{
    if (f->count == 0) {
        f->head = f->tail = fifo_chunk_take(pool);
        f->head_at = f->tail_at = 0;
    } else if (f->tail_at == FIFO_CHUNK) {
        uint32_t chunk = fifo_chunk_take(pool);
        pool->next[f->tail] = chunk;
        f->tail = chunk;
        f->tail_at = 0;
    }
    pool->packets[f->tail * FIFO_CHUNK + f->tail_at++] = *p;
    f->count++;
}

// Fetch the memory that the next push will write.
static inline void fifo_hint_push(const struct fifo_pool *pool, const struct fifo *f)
{
    uint32_t chunk = f->tail_at == FIFO_CHUNK || f->count == 0 ? pool->free_head : f->tail;
    uint32_t at = f->tail_at == FIFO_CHUNK || f->count == 0 ? 0 : f->tail_at;
    if (chunk != FIFO_NIL)
        __builtin_prefetch(&pool->packets[chunk * FIFO_CHUNK + at], 1);
}

// The first packet of a FIFO that is not empty.
static inline struct packet *fifo_head(const struct fifo_pool *pool, const struct fifo *f)
{
    return &pool->packets[f->head * FIFO_CHUNK + f->head_at];
}

static inline void fifo_drop_head(struct fifo_pool *pool, struct fifo *f)
{
    f->head_at++;
    if (--f->count == 0 || f->head_at == FIFO_CHUNK) {
        uint32_t chunk = f->head;
        f->head = pool->next[chunk];
        f->head_at = 0;
        pool->next[chunk] = pool->free_head;
        pool->free_head = chunk;
        pool->n_free++;
    }
}
