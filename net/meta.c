// SPDX-License-Identifier: MIT
// Growth of the pool of packet meta-data.
#include "net/meta.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "engine/base/memory.h"

#define META_SLOTS (UINT32_C(1) << 27) // as many as packets; 4 GB if all of it is used
#define META_STEP 1024

void meta_pool_init(struct meta_pool *pool)
{
    *pool = (struct meta_pool){.per_slot = 1, .n_slots = 1};
    pool->reserved_bytes = META_SLOTS * sizeof *pool->slots;
    pool->slots = memory_reserve(&pool->reserved_bytes);
    pool->cap_slots = (uint32_t)(pool->reserved_bytes / sizeof *pool->slots);
}

/* ---- one array for the pools of several shards ---- */

// State that the pools of several shards share. Arrays beside the slots reserve their full size as
// address space from the beginning, because an array must not move while another shard uses it.
struct meta_share {
    atomic_uint n_slots; // slots that the pools have taken
    uint32_t n_pools;    // pools that are in use
    size_t hop_bytes, sack_bytes, wait_bytes, note_bytes;
};

// Reserve an array with `size` bytes for each slot; *cap is lowered to what there is room for.
static void *reserve(size_t *bytes, size_t size, uint32_t *cap)
{
    *bytes = (size_t)*cap * size;
    void *p = memory_reserve(bytes);
    *cap = *bytes / size < *cap ? (uint32_t)(*bytes / size) : *cap;
    return p;
}

// Reserve the arrays beside the slots.
static struct meta_share *share_new(struct meta_pool *pool, uint32_t n)
{
    struct meta_share *share = memory_zeroed(1, sizeof *share);
    uint32_t cap = pool->cap_slots;
    atomic_init(&share->n_slots, 1);
    share->n_pools = n;
    if (pool->keeps_hops)
        pool->hops = reserve(&share->hop_bytes, pool->per_slot * sizeof *pool->hops, &cap);
    pool->sacks = reserve(&share->sack_bytes, META_SACKS * sizeof *pool->sacks, &cap);
    pool->waits = reserve(&share->wait_bytes, sizeof *pool->waits, &cap);
    if (pool->keeps_notes)
        pool->notes = reserve(&share->note_bytes, sizeof *pool->notes, &cap);
    pool->cap_slots = pool->n_hop_slots = pool->n_sack_slots = cap;
    pool->n_wait_slots = pool->n_note_slots = cap;
    return share;
}

void meta_pools_share(const struct meta_pool *pool, struct meta_pool **pools, uint32_t n)
{
    struct meta_pool all;
    meta_pool_init(&all);
    all.per_slot = pool->per_slot;
    all.keeps_notes = pool->keeps_notes;
    all.keeps_hops = pool->keeps_hops;
    if (n > 1)
        all.share = share_new(&all, n);
    for (uint32_t i = 0; i < n; i++)
        *pools[i] = all;
}

static void share_free(struct meta_pool *pool)
{
    struct meta_share *share = pool->share;
    if (--share->n_pools > 0)
        return;
    memory_release(pool->slots, pool->reserved_bytes);
    memory_release(pool->hops, share->hop_bytes);
    memory_release(pool->sacks, share->sack_bytes);
    memory_release(pool->waits, share->wait_bytes);
    memory_release(pool->notes, share->note_bytes);
    free(share);
}

bool meta_pool_low(const struct meta_pool *pool)
{
    uint32_t n = pool->share ? atomic_load(&pool->share->n_slots) : pool->n_slots;
    return n > pool->cap_slots - pool->cap_slots / 16;
}

/* ---- life and growth ---- */

void meta_pool_free(struct meta_pool *pool)
{
    if (pool->share) {
        share_free(pool);
        *pool = (struct meta_pool){0};
        return;
    }
    if (pool->slots)
        memory_release(pool->slots, pool->reserved_bytes);
    free(pool->hops);
    free(pool->sacks);
    free(pool->waits);
    free(pool->notes);
    *pool = (struct meta_pool){0};
}

void meta_pool_grow(struct meta_pool *pool)
{
    uint32_t first =
        pool->share ? atomic_fetch_add(&pool->share->n_slots, META_STEP) : pool->n_slots;
    uint32_t end = first + META_STEP;
    if (end > pool->cap_slots)
        memory_exhausted(end, sizeof *pool->slots);
    for (uint32_t slot = end; slot-- > first;) {
        pool->slots[slot].next = pool->free_head;
        pool->free_head = slot;
    }
    pool->n_slots = end;
}

void meta_pool_grow_hops(struct meta_pool *pool)
{
    size_t n = pool->n_slots > 2 * pool->n_hop_slots ? pool->n_slots : 2 * pool->n_hop_slots;
    pool->hops = memory_resize(pool->hops, n * pool->per_slot, sizeof *pool->hops);
    pool->n_hop_slots = (uint32_t)n;
}

void meta_pool_grow_sacks(struct meta_pool *pool)
{
    size_t n = pool->n_slots > 2 * pool->n_sack_slots ? pool->n_slots : 2 * pool->n_sack_slots;
    pool->sacks = memory_resize(pool->sacks, n * META_SACKS, sizeof *pool->sacks);
    pool->n_sack_slots = (uint32_t)n;
}

void meta_pool_grow_waits(struct meta_pool *pool)
{
    size_t n = pool->n_slots > 2 * pool->n_wait_slots ? pool->n_slots : 2 * pool->n_wait_slots;
    pool->waits = memory_resize(pool->waits, n, sizeof *pool->waits);
    pool->n_wait_slots = (uint32_t)n;
}

void meta_clear_note(struct meta_pool *pool, uint32_t slot)
{
    if (slot >= pool->n_note_slots) {
        size_t n = pool->n_slots > 2 * pool->n_note_slots ? pool->n_slots : 2 * pool->n_note_slots;
        pool->notes = memory_resize(pool->notes, n, sizeof *pool->notes);
        pool->n_note_slots = (uint32_t)n;
    }
    pool->notes[slot].set = 0;
}

void meta_add_wait(struct meta_pool *pool, uint32_t slot, uint32_t port, ps_t wait_ps)
{
    struct meta_waits *w = &pool->waits[slot];
    if (w->n == META_WAITS) {
        w->wait_ps[META_WAITS - 1] += wait_ps;
        return;
    }
    w->port[w->n] = port;
    w->wait_ps[w->n++] = wait_ps;
}
