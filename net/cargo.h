// SPDX-License-Identifier: MIT
// What a packet carries for its ends and for captures, in a side pool: switches read it only where they
// add telemetry. The sender of data takes a slot, the ACK goes on with it, and it is given back where
// either ends. Packets of PFC and CNPs have none: their slot is 0, which stays zero.
#pragma once

#include <stdbool.h>

#include "net/int_hop.h"

struct cargo {
    ps_t sent_ps;           // data: left the sender; ack: that of the acknowledged packet
    uint32_t aux;           // data FIRST: message bytes (saturated); ack: MSN
    uint32_t sack_psn;      // nak of selective repeat: the packet that has arrived out of order
    uint32_t next;          // of a free slot
    uint16_t payload_bytes; // without padding
    bool gathers;           // INT records
    uint8_t int_hops;       // records so far
    uint8_t pint;           // PINT digest of the path so far
    uint8_t pad[7];
};
_Static_assert(sizeof(struct cargo) == 32, "struct cargo is half a cache line");

struct cargo_pool {
    struct cargo *slots;  // never moves
    struct int_hop *hops; // [slot * per_slot], NULL until a packet gathers
    uint32_t per_slot;    // hops that a packet has room for: to be set before one gathers
    uint32_t free_head;   // 0 = none: slot 0 is never given out
    uint32_t n_slots, n_used, cap_slots, n_hop_slots;
    size_t reserved_bytes;
};

void cargo_pool_init(struct cargo_pool *pool);
void cargo_pool_free(struct cargo_pool *pool);
void cargo_pool_grow(struct cargo_pool *pool);
void cargo_pool_grow_hops(struct cargo_pool *pool);

// A slot whose content is that of its last use.
static inline uint32_t cargo_take(struct cargo_pool *pool)
{
    if (pool->free_head == 0)
        cargo_pool_grow(pool);
    uint32_t slot = pool->free_head;
    pool->free_head = pool->slots[slot].next;
    pool->n_used++;
    return slot;
}

static inline void cargo_give(struct cargo_pool *pool, uint32_t slot)
{
    pool->slots[slot].next = pool->free_head;
    pool->free_head = slot;
    pool->n_used--;
}

static inline struct cargo *cargo_at(const struct cargo_pool *pool, uint32_t slot)
{
    return &pool->slots[slot];
}

// Fetch a packet's cargo and, of what it may gather, the records of the first hops. (Not inlined it would
// go: compilers take a function that only prefetches for one without effect.)
#define CARGO_FETCH_HOPS 6
__attribute__((always_inline)) static inline void cargo_fetch(const struct cargo_pool *pool,
                                                              uint32_t slot)
{
    __builtin_prefetch(cargo_at(pool, slot), 1);
    if (!pool->hops)
        return;
    const struct int_hop *hops = &pool->hops[(size_t)slot * pool->per_slot];
    for (uint32_t h = 0; h < CARGO_FETCH_HOPS; h += 2)
        __builtin_prefetch(hops + h, 1);
}

// From now on the packet gathers INT records.
static inline void cargo_gather(struct cargo_pool *pool, uint32_t slot)
{
    if (slot >= pool->n_hop_slots)
        cargo_pool_grow_hops(pool);
    pool->slots[slot].gathers = true;
}

// Its records, NULL where it gathers none.
static inline struct int_hop *cargo_hops(const struct cargo_pool *pool, uint32_t slot)
{
    return pool->slots[slot].gathers ? &pool->hops[(size_t)slot * pool->per_slot] : NULL;
}
