// SPDX-License-Identifier: MIT
// A list of names, and a table that finds them.
#include "engine/base/names.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

const char *name_keep(struct name_pool *pool, const char *name)
{
    if (name == NULL)
        return NULL;
    size_t *place = table_at(&pool->table, name, strlen(name));
    if (*place == 0) {
        if (pool->n == pool->cap)
            pool->names = memory_grow(pool->names, &pool->cap, sizeof *pool->names);
        pool->names[pool->n] = memory_text(name);
        *place = ++pool->n;
    }
    return pool->names[*place - 1];
}

void names_free(struct name_pool *pool)
{
    for (size_t i = 0; i < pool->n; i++)
        free(pool->names[i]);
    free(pool->names);
    table_free(&pool->table);
    *pool = (struct name_pool){0};
}
