// SPDX-License-Identifier: MIT
// The memory of critical paths: arrays of objects, whose numbers each thread takes and gives back
// for itself. Where several threads use the book, the arrays have their places for good.
#include <stdlib.h>
#include <string.h>

#include "engine/critical_path.h"
#include "engine/memory.h"

#define SHARED_OBJECTS (UINT64_C(1) << 25) // address space of each array that threads share
#define BATCH 64                           // numbers that a thread takes at once

static const size_t object_bytes[PATH_OBJECTS] = {
    [PATHS] = sizeof(struct path),
    [PATH_STEPS] = sizeof(struct path_step),
    [PATH_SPELLS] = sizeof(struct path_spells),
    [PATH_MARKS] = sizeof(struct path_mark),
};

static void *array(const struct path_book *b, enum path_object kind)
{
    void *const arrays[PATH_OBJECTS] = {b->paths, b->steps, b->spells, b->marks};
    return arrays[kind];
}

static void set_array(struct path_book *b, enum path_object kind, void *to)
{
    switch (kind) {
    case PATHS:
        b->paths = to;
        break;
    case PATH_STEPS:
        b->steps = to;
        break;
    case PATH_SPELLS:
        b->spells = to;
        break;
    default:
        b->marks = to;
    }
}

void path_book_init(struct path_book *b, uint32_t n_ranks)
{
    *b = (struct path_book){.n_threads = 1};
    b->threads = memory_zeroed_lines(1, sizeof *b->threads);
    b->threads->late = PATH_OTHERS;
    for (unsigned kind = 0; kind < PATH_OBJECTS; kind++) {
        set_array(b, kind, memory_grow(NULL, &b->cap[kind], object_bytes[kind]));
        memset(array(b, kind), 0, object_bytes[kind]);
        b->n[kind] = 1;
    }
    b->spells[0].n = PATH_BLOCK; // no path adds to it
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
        memcpy(reserved, array(b, kind), b->n[kind] * object_bytes[kind]);
        free(array(b, kind));
        set_array(b, kind, reserved);
        b->cap[kind] = *bytes / object_bytes[kind];
    }
}

void path_book_free(struct path_book *b)
{
    for (unsigned kind = 0; kind < PATH_OBJECTS; kind++)
        if (b->reserved_bytes[kind] > 0)
            memory_release(array(b, kind), b->reserved_bytes[kind]);
        else
            free(array(b, kind));
    free(b->threads);
    *b = (struct path_book){0};
}

uint32_t path_object_take(struct path_book *b, enum path_object kind)
{
    if (b->n_threads <= 1) {
        if (b->n[kind] == b->cap[kind])
            set_array(b, kind, memory_grow(array(b, kind), &b->cap[kind], object_bytes[kind]));
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
