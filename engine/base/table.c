// SPDX-License-Identifier: MIT
// Linear probing; at most half of the table is used. Keys of up to 16 bytes stand in their entries.
#include "engine/base/table.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

struct table_entry {
    uint64_t hash;
    size_t place, bytes;
    union {
        unsigned char here[16];
        unsigned char *away;
    } key;
};

static uint64_t hash_of(const unsigned char *key, size_t bytes)
{
    uint64_t hash = hash_mix(bytes), word;
    for (; bytes >= sizeof word; key += sizeof word, bytes -= sizeof word) {
        memcpy(&word, key, sizeof word);
        hash = hash_mix(hash ^ word);
    }
    word = 0;
    memcpy(&word, key, bytes);
    return hash_mix(hash ^ word);
}

static const unsigned char *key_of(const struct table_entry *entry)
{
    return entry->bytes <= sizeof entry->key.here ? entry->key.here : entry->key.away;
}

// The entry of the key, or the free one where it belongs.
static struct table_entry *entry_of(const struct table *t, uint64_t hash, const void *key,
                                    size_t bytes)
{
    for (size_t at = hash;; at++) {
        struct table_entry *entry = &t->entries[at & (t->cap - 1)];
        if (entry->place == 0 || (entry->hash == hash && entry->bytes == bytes &&
                                  memcmp(key_of(entry), key, bytes) == 0))
            return entry;
    }
}

static void grow(struct table *t)
{
    struct table old = *t;
    t->cap = old.cap > 0 ? 2 * old.cap : 64;
    t->entries = memory_zeroed(t->cap, sizeof *t->entries);
    for (size_t i = 0; i < old.cap; i++)
        if (old.entries[i].place != 0)
            *entry_of(t, old.entries[i].hash, key_of(&old.entries[i]), old.entries[i].bytes) =
                old.entries[i];
    free(old.entries);
}

size_t *table_at(struct table *t, const void *key, size_t bytes)
{
    if (2 * t->n >= t->cap)
        grow(t);
    uint64_t hash = hash_of(key, bytes);
    struct table_entry *entry = entry_of(t, hash, key, bytes);
    if (entry->place == 0) {
        *entry = (struct table_entry){.hash = hash, .bytes = bytes};
        if (bytes > sizeof entry->key.here)
            entry->key.away = memory_resize(NULL, bytes, 1);
        memcpy(bytes > sizeof entry->key.here ? entry->key.away : entry->key.here, key, bytes);
        t->n++;
    }
    return &entry->place;
}

size_t *table_pair(struct table *t, uint64_t a, uint64_t b)
{
    return table_at(t, (const uint64_t[]){a, b}, 2 * sizeof a);
}

size_t table_find(const struct table *t, const void *key, size_t bytes)
{
    return t->cap > 0 ? entry_of(t, hash_of(key, bytes), key, bytes)->place : 0;
}

void table_free(struct table *t)
{
    for (size_t i = 0; i < t->cap; i++)
        if (t->entries[i].place != 0 && t->entries[i].bytes > sizeof t->entries[i].key.here)
            free(t->entries[i].key.away);
    free(t->entries);
    *t = (struct table){0};
}
