// SPDX-License-Identifier: MIT
// The queue of a dimension: phases that wait for it and those that run, by priority or by size.
#pragma once

#include <stddef.h>

#include "collective/schedule.h"

struct dim_queue_entry {
    void *run;
    int64_t priority;
    struct coll_phase phase;
    bool active;
};

struct dim_queue {
    struct dim_queue_entry *entries; // those that run first
    size_t n, cap;
    uint64_t n_active;
};

void dim_queue_free(struct dim_queue *q);

// A phase joins those that wait.
void dim_queue_insert(struct dim_queue *q, int queueing, void *run, int64_t priority,
                      const struct coll_phase *phase);

// The next that may run while fewer than `limit` do (0 = no limit), marked as running; NULL = none.
void *dim_queue_next(struct dim_queue *q, uint64_t limit);

// A phase that runs has ended.
void dim_queue_remove(struct dim_queue *q, const void *run);
