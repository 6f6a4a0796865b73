// SPDX-License-Identifier: MIT
// A count to which several threads of a simulation add at the same time. Each has a part of its
// own, so that they do not wait for each other; the sum is read while at most one thread runs, or
// where a value that is slightly old suffices.
#pragma once

#include <stdalign.h>
#include <stdint.h>

#include "engine/engine.h"

struct tally_part {
    alignas(64) int64_t n;
};

struct tally {
    uint32_t n_threads; // 0 and 1: one thread adds
    struct tally_part parts[SHARDS_MAX];
};

// The latest of the times that threads note.
struct latest_part {
    alignas(64) ps_t ps;
};
struct latest {
    uint32_t n_threads;
    struct latest_part parts[SHARDS_MAX];
};

static inline void latest_note(struct latest *l, ps_t ps)
{
    ps_t *part = &l->parts[engine_thread_of(l->n_threads)].ps;
    *part = ps > *part ? ps : *part;
}

static inline ps_t latest_of(const struct latest *l)
{
    ps_t ps = l->parts[0].ps;
    for (uint32_t i = 1; i < l->n_threads; i++)
        ps = l->parts[i].ps > ps ? l->parts[i].ps : ps;
    return ps;
}

static inline void tally_add(struct tally *t, int64_t n)
{
    t->parts[engine_thread_of(t->n_threads)].n += n;
}

static inline int64_t tally_sum(const struct tally *t)
{
    int64_t sum = t->parts[0].n;
    for (uint32_t i = 1; i < t->n_threads; i++)
        sum += t->parts[i].n;
    return sum;
}
