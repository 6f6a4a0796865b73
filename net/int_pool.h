// SPDX-License-Identifier: MIT
// Side pool of INT records: a slot per packet that gathers them, taken by the sender of data, passed on
// to the ACK, given back where either ends. Packets stay one cache line whether or not a policy needs
// INT.
#pragma once

#include "net/int_hop.h"

struct int_pool {
    struct int_hop *hops; // [slot * per_slot]
    uint32_t *next;       // of a free slot
    uint32_t per_slot;    // hops that a packet has room for
    uint32_t free_head;   // 0 = none: slot 0 is never given out
    uint32_t n_slots, n_used;
};

void int_pool_init(struct int_pool *pool, uint32_t per_slot);
void int_pool_free(struct int_pool *pool);
void int_pool_grow(struct int_pool *pool);

static inline uint32_t int_pool_take(struct int_pool *pool)
{
    if (pool->free_head == 0)
        int_pool_grow(pool);
    uint32_t slot = pool->free_head;
    pool->free_head = pool->next[slot];
    pool->n_used++;
    return slot;
}

static inline void int_pool_give(struct int_pool *pool, uint32_t slot)
{
    pool->next[slot] = pool->free_head;
    pool->free_head = slot;
    pool->n_used--;
}

static inline struct int_hop *int_pool_at(const struct int_pool *pool, uint32_t slot)
{
    return &pool->hops[(size_t)slot * pool->per_slot];
}
