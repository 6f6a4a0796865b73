// SPDX-License-Identifier: MIT
// Allocation that never returns NULL.
#include "engine/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "engine/base/regular_file.h"

static void (*on_failure)(size_t bytes); // the only writable global outside cli/

void memory_on_failure(void (*handler)(size_t bytes)) { on_failure = handler; }

_Noreturn void memory_exhausted(size_t n, size_t size)
{
    while (on_failure)
        on_failure(n * size); // ends the program once its memory reserve is gone
    fprintf(stderr, "collwire: out of memory (%zu x %zu bytes)\n", n, size);
    abort();
}

// Called after a failed allocation, which is then retried.
static void reclaim(size_t n, size_t size)
{
    if (!on_failure)
        memory_exhausted(n, size);
    on_failure(n * size);
}

void memory_short(size_t bytes) { reclaim(1, bytes); }

void *memory_bytes(size_t n)
{
    void *p;
    while ((p = malloc(n ? n : 1)) == NULL)
        reclaim(1, n);
    return p;
}

void *memory_zeroed(size_t n, size_t size)
{
    void *p;
    while ((p = calloc(n ? n : 1, size ? size : 1)) == NULL)
        reclaim(n, size);
    return p;
}

void *memory_zeroed_lines(size_t n, size_t size)
{
    size_t bytes = (n * size + 127) / 128 * 128;
    void *p;
    while ((p = aligned_alloc(128, bytes ? bytes : 128)) == NULL)
        reclaim(n, size);
    return memset(p, 0, bytes);
}

void *memory_resize(void *old, size_t n, size_t size)
{
    void *p;
    while (n > SIZE_MAX / size || (p = realloc(old, n * size)) == NULL)
        reclaim(n, size);
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

// The first 4 MB use small pages: a huge page gains nothing there, and creating one can stall a
// short run.
#define HUGE_FROM ((size_t)4 << 20)

#define RESERVE_LEAST ((size_t)1 << 16)

// Reduce a reservation under RLIMIT_AS, which counts reserved address space as used.
static size_t fair_share(size_t bytes)
{
    struct rlimit limit;
    unsigned long long pages = 0;
    FILE *statm = NULL;
    const char *why;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
        (statm = regular_file_stream("/proc/self/statm", &why)) == NULL)
        return bytes;
    if (fscanf(statm, "%llu", &pages) != 1)
        pages = 0;
    fclose(statm);
    unsigned long long used = pages * (unsigned long long)sysconf(_SC_PAGESIZE);
    unsigned long long left = limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    while (bytes > left / 16 && bytes > 16 * RESERVE_LEAST)
        bytes /= 2;
    return bytes;
}

void *memory_reserve(size_t *bytes)
{
    *bytes = fair_share(*bytes);
    for (; *bytes >= RESERVE_LEAST; *bytes /= 2) {
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

void *memory_extend(void *p, size_t *bytes, size_t to)
{
    void *moved;
    if (to <= *bytes)
        return p;
    while ((moved = mmap(NULL, to, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) == MAP_FAILED)
        reclaim(1, to);
    memcpy(moved, p, *bytes);
    memory_release(p, *bytes);
    *bytes = to;
    return moved;
}

void memory_release(void *p, size_t bytes)
{
    if (p)
        munmap(p, bytes);
}
