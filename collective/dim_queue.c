// SPDX-License-Identifier: MIT
// Insertion starts at the front and passes all entries that have precedence, as in ASTRA-sim, so
// that a queue with different kinds of phases has the same order. A running phase is never
// interrupted.
// Source: Rashidi et al., ISPASS 2020 (scheduling policies); Rashidi et al., ISCA 2022, section 4.4
// (smallest chunk first).
#include "collective/dim_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

void dim_queue_free(struct dim_queue *q) { free(q->entries); }

// True if `old`, a waiting entry, has precedence over `new`.
static bool stays_before(int queueing, const struct dim_queue_entry *old,
                         const struct dim_queue_entry *new)
{
    bool scatters = new->phase.op == COLL_REDUCE_SCATTER || new->phase.op == COLL_ALL_GATHER;
    if (queueing == COLL_QUEUE_SMALLEST && scatters)
        return old->phase.bytes < new->phase.bytes;
    if (queueing == COLL_QUEUE_LIFO)
        return old->priority > new->priority;
    return old->priority >= new->priority;
}

void dim_queue_insert(struct dim_queue *q, int queueing, void *run, int64_t priority,
                      const struct coll_phase *phase)
{
    struct dim_queue_entry entry = {run, priority, *phase, false};
    size_t at = 0;
    if (q->n == q->cap)
        q->entries = memory_grow(q->entries, &q->cap, sizeof *q->entries);
    while (at < q->n && (q->entries[at].active || stays_before(queueing, &q->entries[at], &entry)))
        at++;
    memmove(q->entries + at + 1, q->entries + at, (q->n - at) * sizeof *q->entries);
    q->entries[at] = entry;
    q->n++;
}

void *dim_queue_next(struct dim_queue *q, uint64_t limit)
{
    if (q->n_active == q->n || (limit > 0 && q->n_active >= limit))
        return NULL;
    struct dim_queue_entry *entry = &q->entries[q->n_active++];
    entry->active = true;
    return entry->run;
}

void dim_queue_remove(struct dim_queue *q, const void *run)
{
    size_t at = 0;
    while (q->entries[at].run != run)
        at++;
    memmove(q->entries + at, q->entries + at + 1, (q->n - at - 1) * sizeof *q->entries);
    q->n--;
    q->n_active--;
}
