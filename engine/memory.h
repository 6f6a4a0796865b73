// SPDX-License-Identifier: MIT
// Memory off the data path: an allocation that fails ends the program with one clear line.
#pragma once

#include <stddef.h>

void *memory_zeroed(size_t n, size_t size);             // n * size zero bytes, never NULL
void *memory_resize(void *old, size_t n, size_t size);  // realloc, never NULL for n > 0
void *memory_grow(void *old, size_t *cap, size_t size); // doubles *cap (from 16)
char *memory_text(const char *text);                    // a copy
