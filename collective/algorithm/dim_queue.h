// SPDX-License-Identifier: MIT
// The queue of a dimension: waiting and running phases, ordered by priority or by size.
#pragma once

#include <stddef.h>

#include "collective/algorithm/schedule.h"

struct dim_queue_entry {
    void *run;
    int64_t priority;
    struct coll_phase phase;
    uint32_t left; // phases of its chunk after this one
    bool active;
};

struct dim_queue {
    struct dim_queue_entry *entries; // running phases first
    size_t n, cap;
    uint64_t n_active;
    int queueing;    // of the last insertion
    bool started;    // `last_op` is known
    uint8_t last_op; // reduce_scatter or all_gather, of the phase of these that started last
};

void dim_queue_free(struct dim_queue *q);

// Add a phase to the queue. `run` is how the caller recognises the phase; the queue does not free
// it. `left`: phases of its chunk that follow.
void dim_queue_insert(struct dim_queue *q, int queueing, void *run, int64_t priority,
                      const struct coll_phase *phase, uint32_t left);

// Return the `run` of the next phase that may start while fewer than `limit` run (0 = no limit),
// and mark it as running; NULL = none.
void *dim_queue_next(struct dim_queue *q, uint64_t limit);

// Remove a phase that has ended.
void dim_queue_remove(struct dim_queue *q, const void *run);
