// SPDX-License-Identifier: MIT
// Blocks of one size, each on its own cache lines, allocated in chunks and freed all at once. It
// suits many objects that live as long as their owner, or are made and given back in turn.
#pragma once

#include <stddef.h>

struct slab {
    void **chunks;
    size_t n_chunks, cap_chunks;
    char *next;
    size_t left; // unused blocks of the last chunk
    void *given; // list of blocks that have been given back, each with a pointer to the next one
};

// Returns a zeroed block of `bytes`, rounded up to cache lines. `bytes` must be the same in all
// calls for one slab. A block never moves.
void *slab_alloc(struct slab *slab, size_t bytes);
// Let later calls of slab_alloc() return the block.
void slab_give(struct slab *slab, void *block);
void slab_free(struct slab *slab); // frees all blocks
