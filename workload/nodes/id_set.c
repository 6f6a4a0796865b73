// SPDX-License-Identifier: MIT
// Linear probing; at most half of the table is used.
#include "workload/nodes/id_set.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

struct id_block {
    uint64_t key, bits; // numbers key * 64 .. key * 64 + 63
};

static struct id_block *block_of(const struct id_set *s, uint64_t key)
{
    for (size_t at = hash_mix(key);; at++) {
        struct id_block *block = &s->blocks[at & (s->cap - 1)];
        if (block->bits == 0 || block->key == key)
            return block;
    }
}

static void grow(struct id_set *s)
{
    struct id_set old = *s;
    s->cap = old.cap > 0 ? 2 * old.cap : 16;
    s->blocks = memory_zeroed(s->cap, sizeof *s->blocks);
    for (size_t i = 0; i < old.cap; i++)
        if (old.blocks[i].bits != 0)
            *block_of(s, old.blocks[i].key) = old.blocks[i];
    free(old.blocks);
}

void id_set_add(struct id_set *s, uint64_t id)
{
    if (2 * s->n >= s->cap)
        grow(s);
    struct id_block *block = block_of(s, id / 64);
    s->n += block->bits == 0;
    block->key = id / 64;
    block->bits |= UINT64_C(1) << id % 64;
}

bool id_set_has(const struct id_set *s, uint64_t id)
{
    return s->cap > 0 && (block_of(s, id / 64)->bits >> id % 64 & 1) != 0;
}

void id_set_free(struct id_set *s)
{
    free(s->blocks);
    *s = (struct id_set){0};
}
