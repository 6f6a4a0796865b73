// SPDX-License-Identifier: MIT
// The numbers of objects in an array that grows. Numbers that have been given back are taken again,
// the last one first.
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/memory.h"

struct slots {
    size_t cap;      // of the array
    uint32_t n;      // numbers from 0 to n - 1 have been in use; those in `given` are free again
    uint32_t *given; // stack of numbers that have been given back
    size_t n_given, cap_given;
};

// Take a number, and enlarge `array` if it is full. New elements are not initialised.
#define slots_take(slots, array)                                                                   \
    ((array) = slots_room((slots), (array), sizeof *(array)), slots_next(slots))

static inline void slots_give(struct slots *s, uint32_t number)
{
    if (s->n_given == s->cap_given)
        s->given = memory_grow(s->given, &s->cap_given, sizeof *s->given);
    s->given[s->n_given++] = number;
}

static inline void slots_free(struct slots *s) { free(s->given); }

static inline void *slots_room(struct slots *s, void *array, size_t bytes)
{
    return s->n_given == 0 && s->n == s->cap ? memory_grow(array, &s->cap, bytes) : array;
}

static inline uint32_t slots_next(struct slots *s)
{
    return s->n_given > 0 ? s->given[--s->n_given] : s->n++;
}
