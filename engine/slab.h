// SPDX-License-Identifier: MIT
// Blocks of one size, each on cache lines of its own, allocated in chunks and freed all at once: many objects that
// live as long as their owner without the overhead of an allocation each.
#pragma once

#include <stddef.h>

struct slab {
    void **chunks;
    size_t n_chunks, cap_chunks;
    char *next;
    size_t left; // blocks in the last chunk
};

// A zeroed block of `bytes`, rounded up to cache lines: always the same for one slab. It never moves.
void *slab_alloc(struct slab *slab, size_t bytes);
void slab_free(struct slab *slab); // all blocks
