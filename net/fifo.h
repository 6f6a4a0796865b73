// SPDX-License-Identifier: MIT
// FIFOs of packets, stored by value in chunks of one shared pool, for queues.
//
// Packets in a chunk are written and read sequentially, queues that grow at different times share
// the same memory, and the chunk just read is the next one written. Packets in flight on links are
// in net/packet_ring.h.
#pragma once

#include "net/packet.h"

#define FIFO_CHUNK 16
#define FIFO_NIL UINT32_MAX

struct fifo_pool {
    struct packet *packets; // [chunks * FIFO_CHUNK]; never moves
    uint32_t *next;         // next chunk of the same FIFO, or of the free list
    uint32_t free_head;
    uint32_t n_chunks, cap_chunks;
    size_t reserved_bytes[2]; // reserved address space of packets and of next
};

struct fifo {
    uint32_t head, tail; // first and last chunk
    uint32_t count;
    uint16_t head_at, tail_at; // slot of the first packet; slot of the next push (FIFO_CHUNK =
                               // chunk is full)
};
_Static_assert(sizeof(struct fifo) == 16, "struct fifo is 16 bytes");

void fifo_pool_init(struct fifo_pool *pool);
void fifo_pool_free(struct fifo_pool *pool);
// Returns the number of chunks in use: 0 if every FIFO is empty.
size_t fifo_pool_used(const struct fifo_pool *pool);
void fifo_pool_grow(struct fifo_pool *pool);

static inline struct fifo fifo_empty(void) { return (struct fifo){0, 0, 0, 0, FIFO_CHUNK}; }

static inline uint32_t fifo_chunk_alloc(struct fifo_pool *pool)
{
    if (pool->free_head == FIFO_NIL)
        fifo_pool_grow(pool);
    uint32_t chunk = pool->free_head;
    pool->free_head = pool->next[chunk];
    return chunk;
}

// Append a chunk to the FIFO.
static inline void fifo_extend(struct fifo_pool *pool, struct fifo *f)
{
    uint32_t chunk = fifo_chunk_alloc(pool);
    if (f->count == 0) {
        f->head = chunk;
        f->head_at = 0;
    } else {
        pool->next[f->tail] = chunk;
    }
    f->tail = chunk;
    f->tail_at = 0;
}

// Returns the place of the next packet. The last chunk must not be full.
static inline struct packet *fifo_place(const struct fifo_pool *pool, const struct fifo *f)
{
    return &pool->packets[f->tail * FIFO_CHUNK + f->tail_at];
}

// Append a packet and return its place, which the caller writes.
static inline struct packet *fifo_push(struct fifo_pool *pool, struct fifo *f)
{
    if (f->tail_at == FIFO_CHUNK)
        fifo_extend(pool, f);
    struct packet *place = fifo_place(pool, f);
    f->tail_at++;
    f->count++;
    return place;
}

// Returns the first packet of a FIFO that is not empty.
static inline struct packet *fifo_head(const struct fifo_pool *pool, const struct fifo *f)
{
    return &pool->packets[f->head * FIFO_CHUNK + f->head_at];
}

// Returns the last packet of a FIFO that is not empty.
static inline struct packet *fifo_last(const struct fifo_pool *pool, const struct fifo *f)
{
    return &pool->packets[f->tail * FIFO_CHUNK + f->tail_at - 1];
}

// A walk over the packets of a FIFO from its head; the walk ends after `count` of them.
struct fifo_walk {
    uint32_t chunk;
    uint16_t at;
};
static inline struct fifo_walk fifo_walk(const struct fifo *f)
{
    return (struct fifo_walk){f->head, f->head_at};
}
static inline const struct packet *fifo_next(const struct fifo_pool *pool, struct fifo_walk *w)
{
    const struct packet *p = &pool->packets[w->chunk * FIFO_CHUNK + w->at];
    if (++w->at == FIFO_CHUNK) {
        w->chunk = pool->next[w->chunk];
        w->at = 0;
    }
    return p;
}

static inline void fifo_drop_head(struct fifo_pool *pool, struct fifo *f)
{
    uint32_t chunk = f->head;
    f->head_at++;
    if (--f->count > 0 && f->head_at < FIFO_CHUNK)
        return;
    f->head_at = 0;
    if (f->count == 0)
        f->tail_at = FIFO_CHUNK;
    else
        f->head = pool->next[chunk];
    pool->next[chunk] = pool->free_head;
    pool->free_head = chunk;
}
