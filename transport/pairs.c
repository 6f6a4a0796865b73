// SPDX-License-Identifier: MIT
// A hash table with open addressing and linear probing.
#include "transport/pairs.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "engine/rng.h"

static size_t slot_of(const struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                      uint64_t channel)
{
    uint64_t key = hash_mix((uint64_t)src << 32 | dst) ^ hash_mix(hash_mix(job) + channel);
    size_t i = hash_mix(key) & (t->cap - 1);
    for (; t->used[i]; i = (i + 1) & (t->cap - 1)) {
        const struct pair *p = &t->slots[i];
        if (p->src == src && p->dst == dst && p->job == job && p->channel == channel)
            break;
    }
    return i;
}

static void grow(struct pair_table *t)
{
    struct pair_table old = *t;
    t->cap = old.cap ? old.cap * 2 : 64;
    t->slots = memory_zeroed(t->cap, sizeof *t->slots);
    t->used = memory_zeroed(t->cap, 1);
    for (size_t i = 0; i < old.cap; i++)
        if (old.used[i]) {
            const struct pair *p = &old.slots[i];
            size_t at = slot_of(t, p->src, p->dst, p->job, p->channel);
            t->slots[at] = *p;
            t->used[at] = 1;
        }
    pairs_free(&old);
}

struct pair *pairs_get(struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                       uint64_t channel)
{
    if (2 * t->n >= t->cap)
        grow(t);
    size_t at = slot_of(t, src, dst, job, channel);
    if (!t->used[at]) {
        t->used[at] = 1;
        t->n++;
        t->slots[at] = (struct pair){src, dst, job, channel, UINT32_MAX, 0};
    }
    return &t->slots[at];
}

void pairs_free(struct pair_table *t)
{
    free(t->slots);
    free(t->used);
}
