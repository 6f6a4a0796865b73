// SPDX-License-Identifier: MIT
// Allocation that cannot return NULL.
#include "engine/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

_Noreturn void memory_exhausted(size_t n, size_t size)
{
    fprintf(stderr, "collwire: out of memory (%zu x %zu bytes)\n", n, size);
    abort();
}

void *memory_zeroed(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);
    if (!p)
        memory_exhausted(n, size);
    return p;
}

void *memory_zeroed_lines(size_t n, size_t size)
{
    size_t bytes = (n * size + 127) / 128 * 128;
    void *p = aligned_alloc(128, bytes ? bytes : 128);
    if (!p)
        memory_exhausted(n, size);
    return memset(p, 0, bytes);
}

void *memory_resize(void *old, size_t n, size_t size)
{
    void *p = n <= SIZE_MAX / size ? realloc(old, n * size) : NULL;
    if (!p)
        memory_exhausted(n, size);
    return p;
}

void *memory_grow(void *old, size_t *cap, size_t size)
{
    *cap = *cap ? *cap * 2 : 16;
    return memory_resize(old, *cap, size);
}

char *memory_text(const char *text)
{
    size_t n = strlen(text) + 1;
    return memcpy(memory_zeroed(n, 1), text, n);
}

// Below it small pages will do, and making a huge one can stall a short run.
#define HUGE_FROM ((size_t)4 << 20)

void *memory_reserve(size_t *bytes)
{
    for (; *bytes >= 1 << 20; *bytes /= 2) {
        void *p = mmap(NULL, *bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (p == MAP_FAILED)
            continue;
        if (*bytes > HUGE_FROM)
            madvise((char *)p + HUGE_FROM, *bytes - HUGE_FROM, MADV_HUGEPAGE);
        return p;
    }
    memory_exhausted(1, *bytes);
}

void memory_release(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}
