// SPDX-License-Identifier: MIT
// Rings of packets by value, for what is in flight on a link: a ring doubles when it is full, its blocks
// are of one shared pool.
//
// A link holds what its length asks for, so a ring is soon as large as it gets, goes round in few cache
// lines, and neither push nor drop has anything to choose: a branch that goes both ways costs more than
// the slots left empty. Queues, whose lengths differ and change, are in net/fifo.h.
#pragma once

#include "net/packet.h"

#define RING_UNIT 8        // slots of the smallest block; blocks are powers of two of them
#define RING_SIZES 24      // of blocks
#define RING_KEEP_SLOTS 64 // an empty ring keeps a block of so many

struct ring_pool {
    struct packet *packets;    // [units * RING_UNIT]; never moves
    uint32_t free[RING_SIZES]; // lists of free blocks by size, RING_NIL = none
    uint32_t n_units, cap_units;
    uint64_t used_slots; // of blocks that rings hold
    size_t reserved_bytes;
};
#define RING_NIL UINT32_MAX

struct ring {
    uint32_t block; // first unit
    uint32_t head;  // slot of the first packet, below cap
    uint32_t count;
    uint32_t cap; // slots, a power of two; 0 = no block
};
_Static_assert(sizeof(struct ring) == 16, "struct ring is 16 bytes");

void ring_pool_init(struct ring_pool *pool);
void ring_pool_free(struct ring_pool *pool);
void ring_grow(struct ring_pool *pool, struct ring *r);       // twice the slots; packets move
void ring_give_block(struct ring_pool *pool, struct ring *r); // of an empty one

static inline struct ring ring_empty(void) { return (struct ring){0}; }

// Packet number `i` of a ring, the first is 0. Valid until the next push.
static inline struct packet *ring_at(const struct ring_pool *pool, const struct ring *r, uint32_t i)
{
    return &pool->packets[(size_t)r->block * RING_UNIT + ((r->head + i) & (r->cap - 1))];
}

// The first packet of a ring that is not empty.
static inline struct packet *ring_head(const struct ring_pool *pool, const struct ring *r)
{
    return &pool->packets[(size_t)r->block * RING_UNIT + r->head];
}

// A packet more: its place, to be written.
static inline struct packet *ring_push(struct ring_pool *pool, struct ring *r)
{
    if (r->count == r->cap)
        ring_grow(pool, r);
    return ring_at(pool, r, r->count++);
}

// The first packet goes; its place is no longer its own.
static inline void ring_drop_head(struct ring_pool *pool, struct ring *r)
{
    uint32_t left = --r->count;
    r->head = left ? (r->head + 1) & (r->cap - 1) : 0;
    if (r->cap > RING_KEEP_SLOTS && left == 0)
        ring_give_block(pool, r);
}
