// SPDX-License-Identifier: MIT
// A thread that compresses blocks of bytes with gzip and writes them to a file, beside the run.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GZIP_BLOCK ((size_t)256 << 10)

struct gzip_thread;

// Start a thread for a descriptor, which stays the caller's.
struct gzip_thread *gzip_thread_start(int fd);

// Returns the memory of the next block, of GZIP_BLOCK bytes, when it is free.
uint8_t *gzip_thread_block(struct gzip_thread *g);

// Compress and write the first `n` bytes of the block; `end`: it is the last one. Returns errno of the
// first write that has failed so far, 0 = none.
int gzip_thread_put(struct gzip_thread *g, size_t n, bool end);

// Wait until all blocks are written, and end the thread. Returns errno as above.
int gzip_thread_end(struct gzip_thread *g);
