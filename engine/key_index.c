// SPDX-License-Identifier: MIT
// Linear probing; at most half of the table is used.
#include "engine/key_index.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

struct key_entry {
    uint64_t a, b;
    size_t place;
};

static struct key_entry *entry_of(const struct key_index *index, uint64_t a, uint64_t b)
{
    for (size_t at = hash_mix(a ^ hash_mix(b + 1));; at++) {
        struct key_entry *entry = &index->entries[at & (index->cap - 1)];
        if (entry->place == 0 || (entry->a == a && entry->b == b))
            return entry;
    }
}

static void grow(struct key_index *index)
{
    struct key_index old = *index;
    index->cap = old.cap > 0 ? 2 * old.cap : 64;
    index->entries = memory_zeroed(index->cap, sizeof *index->entries);
    for (size_t i = 0; i < old.cap; i++)
        if (old.entries[i].place != 0)
            *entry_of(index, old.entries[i].a, old.entries[i].b) = old.entries[i];
    free(old.entries);
}

size_t *key_index_at(struct key_index *index, uint64_t a, uint64_t b)
{
    if (2 * index->n >= index->cap)
        grow(index);
    struct key_entry *entry = entry_of(index, a, b);
    if (entry->place == 0) {
        *entry = (struct key_entry){.a = a, .b = b};
        index->n++;
    }
    return &entry->place;
}

void key_index_free(struct key_index *index)
{
    free(index->entries);
    *index = (struct key_index){0};
}
