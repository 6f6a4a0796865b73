// SPDX-License-Identifier: MIT
// Pairs in the order in which they came, and a hash table of their indices with linear probing.
#include "transport/sender/pairs.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

static uint64_t key_of(uint32_t job, uint64_t channel) { return (uint64_t)job << 48 | channel; }

static uint32_t *slot_of(const struct pair_table *t, uint32_t src, uint32_t dst, uint64_t key)
{
    uint64_t hash = hash_mix((uint64_t)src << 32 | dst) ^ hash_mix(key);
    size_t i = hash_mix(hash) & (t->cap - 1);
    for (; t->slots[i] > 0; i = (i + 1) & (t->cap - 1)) {
        const struct pair *p = &t->pairs[t->slots[i] - 1];
        if (p->src == src && p->dst == dst && p->key == key)
            break;
    }
    return &t->slots[i];
}

static void grow(struct pair_table *t)
{
    t->cap = t->cap ? t->cap * 2 : 64;
    free(t->slots);
    t->slots = memory_zeroed(t->cap, sizeof *t->slots);
    for (uint32_t i = 0; i < t->n; i++) {
        const struct pair *p = &t->pairs[i];
        *slot_of(t, p->src, p->dst, p->key) = i + 1;
    }
}

// Returns the entry of the key of `pair`, which is added if there is none.
static struct pair *entry_of(struct pair_table *t, const struct pair *pair)
{
    if (4 * t->n >= 3 * t->cap)
        grow(t);
    uint32_t *slot = slot_of(t, pair->src, pair->dst, pair->key);
    if (*slot == 0) {
        if (t->n == t->cap_pairs)
            t->pairs = memory_grow(t->pairs, &t->cap_pairs, sizeof *t->pairs);
        t->pairs[t->n++] = *pair;
        *slot = (uint32_t)t->n;
    }
    return &t->pairs[*slot - 1];
}

struct pair *pairs_get(struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                       uint64_t channel)
{
    return entry_of(t, &(struct pair){src, dst, UINT32_MAX, 0, key_of(job, channel)});
}

void pairs_copy(struct pair_table *t, const struct pair *pair) { entry_of(t, pair); }

const struct pair *pairs_find(const struct pair_table *t, uint32_t src, uint32_t dst, uint32_t job,
                              uint64_t channel)
{
    uint32_t at = t->cap > 0 ? *slot_of(t, src, dst, key_of(job, channel)) : 0;
    return at > 0 ? &t->pairs[at - 1] : NULL;
}

void pairs_free(struct pair_table *t)
{
    free(t->pairs);
    free(t->slots);
}
