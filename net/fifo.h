// SPDX-License-Identifier: MIT
// FIFOs of packets by value: rings that double when they are full, of blocks from one shared pool.
//
// By value: a hop writes and reads memory in order. A ring is as small as what it has held asks for, so
// a busy link goes round in few cache lines; one that has grown gives its block back when it is empty.
#pragma once

#include "net/packet.h"

#define FIFO_UNIT 8        // slots of the smallest block; blocks are powers of two of them
#define FIFO_SIZES 24      // of blocks
#define FIFO_KEEP_SLOTS 64 // an empty FIFO keeps a block of so many

struct fifo_pool {
    struct packet *packets;    // [units * FIFO_UNIT]; never moves
    uint32_t free[FIFO_SIZES]; // lists of free blocks by size, FIFO_NIL = none
    uint32_t n_units, cap_units;
    uint64_t used_slots; // of blocks that FIFOs hold
    size_t reserved_bytes;
};
#define FIFO_NIL UINT32_MAX

struct fifo {
    uint32_t block; // first unit
    uint32_t head;  // slot of the first packet, modulo cap
    uint32_t count;
    uint32_t cap; // slots, a power of two; 0 = no block
};
_Static_assert(sizeof(struct fifo) == 16, "struct fifo is 16 bytes");

void fifo_pool_init(struct fifo_pool *pool);
void fifo_pool_free(struct fifo_pool *pool);
void fifo_grow(struct fifo_pool *pool, struct fifo *f);       // twice the slots; packets move
void fifo_give_block(struct fifo_pool *pool, struct fifo *f); // of an empty FIFO

static inline struct fifo fifo_empty(void) { return (struct fifo){0}; }

// Packet number `i` of a FIFO, the first is 0. Valid until the next push.
static inline struct packet *fifo_at(const struct fifo_pool *pool, const struct fifo *f, uint32_t i)
{
    return &pool->packets[(size_t)f->block * FIFO_UNIT + ((f->head + i) & (f->cap - 1))];
}

// The first packet of a FIFO that is not empty.
static inline struct packet *fifo_head(const struct fifo_pool *pool, const struct fifo *f)
{
    return fifo_at(pool, f, 0);
}

// A packet more: its place, to be written.
static inline struct packet *fifo_push(struct fifo_pool *pool, struct fifo *f)
{
    if (f->count == f->cap)
        fifo_grow(pool, f);
    return fifo_at(pool, f, f->count++);
}

static inline void fifo_hint_next(const struct fifo_pool *pool, const struct fifo *f, uint32_t i)
{
    __builtin_prefetch(fifo_at(pool, f, i), 1);
}

// Fetch the memory that the next push will write.
static inline void fifo_hint_push(const struct fifo_pool *pool, const struct fifo *f)
{
    __builtin_prefetch(fifo_at(pool, f, f->count), 1);
}

// The first packet goes; its place is no longer its own.
static inline void fifo_drop_head(struct fifo_pool *pool, struct fifo *f)
{
    uint32_t left = --f->count;
    f->head = left ? f->head + 1 : 0;
    if (f->cap > FIFO_KEEP_SLOTS && left == 0)
        fifo_give_block(pool, f);
}
