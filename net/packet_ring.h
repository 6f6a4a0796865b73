// SPDX-License-Identifier: MIT
// Rings of packets, stored by value, for packets in flight on a link. A full ring doubles; the
// blocks of all rings come from one shared pool.
//
// The number of packets in flight is bounded by the link's bandwidth-delay product, so a ring soon
// reaches its final size, stays within few cache lines, and push and drop need no unpredictable
// branch. Queues, whose lengths vary widely, use net/fifo.h.
#pragma once

#include "net/packet.h"

#define RING_UNIT 8        // slots of the smallest block; all blocks are powers of two of it
#define RING_SIZES 24      // number of block sizes
#define RING_KEEP_SLOTS 64 // an empty ring keeps a block of up to this many slots

struct ring_pool {
    struct packet *packets;    // [units * RING_UNIT]; never moves
    uint32_t free[RING_SIZES]; // list of free blocks for each size; RING_NIL = none
    uint32_t n_units, cap_units;
    uint64_t used_slots; // slots of the blocks in use by rings
    size_t reserved_bytes;
};
#define RING_NIL UINT32_MAX

struct ring {
    uint32_t block; // first unit of its block
    uint32_t head;  // slot of the first packet, less than cap
    uint32_t count;
    uint32_t cap; // slots, a power of two; 0 = no block
};
_Static_assert(sizeof(struct ring) == 16, "struct ring is 16 bytes");

void ring_pool_init(struct ring_pool *pool);
void ring_pool_free(struct ring_pool *pool);
void ring_grow(struct ring_pool *pool, struct ring *r);       // doubles the slots; packets move
void ring_free_block(struct ring_pool *pool, struct ring *r); // the ring must be empty

static inline struct ring ring_empty(void) { return (struct ring){0}; }

// Returns packet number `i` of a ring, counted from 0. Valid until the next push.
static inline struct packet *ring_at(const struct ring_pool *pool, const struct ring *r, uint32_t i)
{
    return &pool->packets[(size_t)r->block * RING_UNIT + ((r->head + i) & (r->cap - 1))];
}

// The first packet of a ring that is not empty.
static inline struct packet *ring_head(const struct ring_pool *pool, const struct ring *r)
{
    return &pool->packets[(size_t)r->block * RING_UNIT + r->head];
}

// Append a packet and return its place, which the caller writes.
static inline struct packet *ring_push(struct ring_pool *pool, struct ring *r)
{
    if (r->count == r->cap)
        ring_grow(pool, r);
    return ring_at(pool, r, r->count++);
}

// Remove the first packet. Its place must not be used any more.
static inline void ring_drop_head(struct ring_pool *pool, struct ring *r)
{
    uint32_t left = --r->count;
    r->head = left ? (r->head + 1) & (r->cap - 1) : 0;
    if (r->cap > RING_KEEP_SLOTS && left == 0)
        ring_free_block(pool, r);
}
