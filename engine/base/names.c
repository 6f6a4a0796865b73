// SPDX-License-Identifier: MIT
// Open addressing with linear probing; at most half of the table is used. The hash is FNV-1a.
#include "engine/base/names.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static char **slot_of(const struct name_pool *pool, const char *name)
{
    size_t at = hash_of(name);
    for (;; at++) {
        char **slot = &pool->names[at & (pool->cap - 1)];
        if (*slot == NULL || strcmp(*slot, name) == 0)
            return slot;
    }
}

static void grow(struct name_pool *pool)
{
    struct name_pool old = *pool;
    pool->cap = old.cap > 0 ? 2 * old.cap : 64;
    pool->names = memory_zeroed(pool->cap, sizeof *pool->names);
    for (size_t i = 0; i < old.cap; i++)
        if (old.names[i] != NULL)
            *slot_of(pool, old.names[i]) = old.names[i];
    free(old.names);
}

const char *name_keep(struct name_pool *pool, const char *name)
{
    if (name == NULL)
        return NULL;
    if (2 * pool->n >= pool->cap)
        grow(pool);
    char **slot = slot_of(pool, name);
    if (*slot == NULL) {
        *slot = memory_text(name);
        pool->n++;
    }
    return *slot;
}

void names_free(struct name_pool *pool)
{
    for (size_t i = 0; i < pool->cap; i++)
        free(pool->names[i]);
    free(pool->names);
    *pool = (struct name_pool){0};
}
