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
    uint32_t n_chunks, cap_chunks;
    size_t reserved_bytes[2]; // address space of packets and next
};

struct fifo {
    uint32_t head, tail; // chunks
    uint32_t count;
    uint16_t head_at, tail_at; // slot of the first packet, and of the next push (FIFO_CHUNK: none)
};
_Static_assert(sizeof(struct fifo) == 16, "struct fifo is 16 bytes");

void fifo_pool_init(struct fifo_pool *pool);
void fifo_pool_free(struct fifo_pool *pool);
// Chunks in use: 0 once every FIFO is empty.
size_t fifo_pool_used(const struct fifo_pool *pool);
void fifo_pool_grow(struct fifo_pool *pool);

static inline struct fifo fifo_empty(void)
{
    return (struct fifo){FIFO_NIL, FIFO_NIL, 0, 0, FIFO_CHUNK};
}

static inline uint32_t fifo_chunk_take(struct fifo_pool *pool)
{
    if (pool->free_head == FIFO_NIL)
        fifo_pool_grow(pool);
    uint32_t chunk = pool->free_head;
    pool->free_head = pool->next[chunk];
    return chunk;
}

static inline void fifo_chunk_give(struct fifo_pool *pool, uint32_t chunk)
{
    pool->next[chunk] = pool->free_head;
    pool->free_head = chunk;
}

// One more chunk: the first, or behind the last.
static inline void fifo_extend(struct fifo_pool *pool, struct fifo *f)
{
    uint32_t chunk = fifo_chunk_take(pool);
    if (f->count == 0) {
        f->head = chunk;
        f->head_at = 0;
    } else {
        pool->next[f->tail] = chunk;
    }
    f->tail = chunk;
    f->tail_at = 0;
}

static inline void fifo_push(struct fifo_pool *pool, struct fifo *f, const struct packet *p)
{
    if (f->tail_at == FIFO_CHUNK)
        fifo_extend(pool, f);
    pool->packets[f->tail * FIFO_CHUNK + f->tail_at++] = *p;
    f->count++;
}

// Fetch the memory that the next push will write.
static inline void fifo_hint_push(const struct fifo_pool *pool, const struct fifo *f)
{
    uint32_t chunk = f->tail_at == FIFO_CHUNK ? pool->free_head : f->tail;
    uint32_t at = f->tail_at == FIFO_CHUNK ? 0 : f->tail_at;
    if (chunk != FIFO_NIL)
        __builtin_prefetch(&pool->packets[chunk * FIFO_CHUNK + at], 1);
}

// The first packet of a FIFO that is not empty.
static inline struct packet *fifo_head(const struct fifo_pool *pool, const struct fifo *f)
{
    return &pool->packets[f->head * FIFO_CHUNK + f->head_at];
}

// Takes the first packet off; where it was stays as it is until its chunk is given back. Returns the
// chunk that fifo_chunk_give is due for, or FIFO_NIL.
static inline uint32_t fifo_take_head(const struct fifo_pool *pool, struct fifo *f)
{
    uint32_t chunk = f->head;
    f->head_at++;
    if (--f->count == 0) {
        f->tail_at = FIFO_CHUNK;
        return chunk;
    }
    if (f->head_at < FIFO_CHUNK)
        return FIFO_NIL;
    f->head = pool->next[chunk];
    f->head_at = 0;
    return chunk;
}

static inline void fifo_drop_head(struct fifo_pool *pool, struct fifo *f)
{
    uint32_t chunk = fifo_take_head(pool, f);
    if (chunk != FIFO_NIL)
        fifo_chunk_give(pool, chunk);
}
