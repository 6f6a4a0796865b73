// SPDX-License-Identifier: MIT
// Allocates blocks of one size in chunks.
#include "engine/base/slab.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define CHUNK_BYTES 16384 // approximate size of a chunk

void *slab_alloc(struct slab *slab, size_t bytes)
{
    size_t block = (bytes + 63) / 64 * 64,
           per_chunk = block < CHUNK_BYTES ? CHUNK_BYTES / block : 1;
    if (slab->given) {
        void *first = slab->given;
        memcpy(&slab->given, first, sizeof slab->given);
        return memset(first, 0, block);
    }
    if (slab->left == 0) {
        if (slab->n_chunks == slab->cap_chunks)
            slab->chunks = memory_grow(slab->chunks, &slab->cap_chunks, sizeof(void *));
        slab->next = slab->chunks[slab->n_chunks++] = memory_zeroed_lines(per_chunk, block);
        slab->left = per_chunk;
    }
    void *p = slab->next;
    slab->next += block;
    slab->left--;
    return p;
}

void slab_give(struct slab *slab, void *block)
{
    memcpy(block, &slab->given, sizeof slab->given);
    slab->given = block;
}

void slab_free(struct slab *slab)
{
    for (size_t i = 0; i < slab->n_chunks; i++)
        free(slab->chunks[i]);
    free(slab->chunks);
    *slab = (struct slab){0};
}
