// SPDX-License-Identifier: MIT
// The memory of critical paths: arrays of objects, whose numbers each thread takes and gives back
// for itself. Where several threads use the book, the arrays have their places for good.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/critical_path.h"

#define SHARED_OBJECTS (UINT64_C(1) << 25) // address space of each array that threads share
#define BATCH 64                           // numbers that a thread takes at once

static const size_t object_bytes[PATH_OBJECTS] = {
    [PATHS] = sizeof(struct path),
    [PATH_STEPS] = sizeof(struct path_step),
    [PATH_SPELLS] = sizeof(struct path_spells),
    [PATH_MARKS] = sizeof(struct path_mark),
};

void path_book_init(struct path_book *b, uint32_t n_ranks)
{
    *b = (struct path_book){.n_threads = 1};
    b->threads = memory_zeroed_lines(1, sizeof *b->threads);
    b->threads->late = PATH_OTHERS;
    for (unsigned kind = 0; kind < PATH_OBJECTS; kind++) {
        b->arrays[kind] = memory_grow(NULL, &b->cap[kind], object_bytes[kind]);
        memset(b->arrays[kind], 0, object_bytes[kind]);
        b->n[kind] = 1;
    }
    b->spells[0].n = PATH_BLOCK; // full, so that no path adds to it
    uint32_t share = PATH_PLACES_ALL / (n_ranks > 0 ? n_ranks : 1);
    b->places_max = share > PATH_PLACES_MAX   ? PATH_PLACES_MAX
                    : share < PATH_PLACES_MIN ? PATH_PLACES_MIN
                                              : share;
}

void path_book_share(struct path_book *b, uint32_t n_threads)
{
    struct path_thread *threads = memory_zeroed_lines(n_threads, sizeof *threads);
    threads[0] = b->threads[0];
    for (uint32_t i = 1; i < n_threads; i++)
        threads[i].late = PATH_OTHERS;
    free(b->threads);
    b->threads = threads;
    b->n_threads = n_threads;
    for (unsigned kind = 0; kind < PATH_OBJECTS; kind++) {
        size_t *bytes = &b->reserved_bytes[kind];
        *bytes = SHARED_OBJECTS * object_bytes[kind];
        void *reserved = memory_reserve(bytes);
        memcpy(reserved, b->arrays[kind], b->n[kind] * object_bytes[kind]);
        free(b->arrays[kind]);
        b->arrays[kind] = reserved;
        b->cap[kind] = *bytes / object_bytes[kind];
    }
}

void path_book_free(struct path_book *b)
{
    for (unsigned kind = 0; kind < PATH_OBJECTS; kind++)
        if (b->reserved_bytes[kind] > 0)
            memory_release(b->arrays[kind], b->reserved_bytes[kind]);
        else
            free(b->arrays[kind]);
    free(b->threads);
    *b = (struct path_book){0};
}

/* ---- objects ---- */

static struct path_link *link_of(const struct path_book *b, enum path_object kind, uint32_t number)
{
    return (struct path_link *)(void *)((char *)b->arrays[kind] + number * object_bytes[kind]);
}

static uint32_t take_new(struct path_book *b, enum path_object kind)
{
    if (b->n_threads <= 1) {
        if (b->n[kind] == b->cap[kind])
            b->arrays[kind] = memory_grow(b->arrays[kind], &b->cap[kind], object_bytes[kind]);
        return b->n[kind]++;
    }
    struct path_thread *here = path_thread(b);
    if (here->next[kind] == here->until[kind]) {
        here->next[kind] = __atomic_fetch_add(&b->n[kind], BATCH, __ATOMIC_RELAXED);
        here->until[kind] = here->next[kind] + BATCH;
        if (here->until[kind] > b->cap[kind])
            memory_exhausted(b->cap[kind], object_bytes[kind]);
    }
    return here->next[kind]++;
}

uint32_t path_object_take(struct path_book *b, enum path_object kind)
{
    struct path_thread *here = path_thread(b);
    uint32_t number = here->free[kind];
    if (number == 0)
        return take_new(b, kind);
    here->free[kind] = link_of(b, kind, number)->before;
    return number;
}

void path_object_give(struct path_book *b, enum path_object kind, uint32_t number)
{
    struct path_thread *here = path_thread(b);
    link_of(b, kind, number)->before = here->free[kind];
    here->free[kind] = number;
}

void path_list_drop(struct path_book *b, enum path_object kind, uint32_t newest)
{
    while (newest != 0) {
        struct path_link *link = link_of(b, kind, newest);
        uint32_t before = link->before;
        if (!path_ref_drop(b, link))
            return;
        path_object_give(b, kind, newest);
        newest = before;
    }
}
