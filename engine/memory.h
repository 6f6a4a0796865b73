// SPDX-License-Identifier: MIT
// Memory off the data path: an allocation that fails ends the program with one clear line.
#pragma once

#include <stddef.h>

void *memory_zeroed(size_t n, size_t size);             // n * size zero bytes, never NULL
void *memory_resize(void *old, size_t n, size_t size);  // realloc, never NULL for n > 0
void *memory_grow(void *old, size_t *cap, size_t size); // doubles *cap (from 16)
void *memory_zeroed_lines(size_t n, size_t size);       // the same, aligned to pairs of cache lines
_Noreturn void memory_exhausted(size_t n, size_t size); // says so and aborts
char *memory_text(const char *text);                    // a copy

// Address space for up to *bytes zero bytes, of which only what is touched costs memory; in huge pages
// where the system has them (a large working set is bound by address translation). *bytes is halved
// until the system agrees. Give back with memory_release.
void *memory_reserve(size_t *bytes);
void memory_release(void *p, size_t bytes);
