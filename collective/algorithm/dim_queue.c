// SPDX-License-Identifier: MIT
// Insertion starts at the front and passes all entries that have precedence, as in ASTRA-sim, so
// that a queue with different kinds of phases has the same order. A running phase is never
// interrupted.
// Source: Rashidi et al., ISPASS 2020 (scheduling policies); Rashidi et al., ISCA 2022, section 4.4
// (smallest chunk first). The orders ALTERNATING and FEWEST are RG and lessRemainingPhaseFirst of
// ASTRA-sim 1.0, by the evident meaning of their names.
#include "collective/algorithm/dim_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

void dim_queue_free(struct dim_queue *q) { free(q->entries); }

static bool halves(uint8_t op) { return op == COLL_REDUCE_SCATTER || op == COLL_ALL_GATHER; }

// True if `old`, a waiting entry, has precedence over `new`.
static bool stays_before(int queueing, const struct dim_queue_entry *old,
                         const struct dim_queue_entry *new)
{
    if (queueing == COLL_QUEUE_SMALLEST && halves(new->phase.op))
        return old->phase.bytes < new->phase.bytes;
    if (queueing == COLL_QUEUE_FEWEST && halves(new->phase.op) && old->left != new->left)
        return old->left < new->left;
    if (queueing == COLL_QUEUE_LIFO)
        return old->priority > new->priority;
    return old->priority >= new->priority;
}

void dim_queue_insert(struct dim_queue *q, int queueing, void *run, int64_t priority,
                      const struct coll_phase *phase, uint32_t left)
{
    struct dim_queue_entry entry = {run, priority, *phase, left, false};
    size_t at = 0;
    if (q->n == q->cap)
        q->entries = memory_grow(q->entries, &q->cap, sizeof *q->entries);
    while (at < q->n && (q->entries[at].active || stays_before(queueing, &q->entries[at], &entry)))
        at++;
    memmove(q->entries + at + 1, q->entries + at, (q->n - at) * sizeof *q->entries);
    q->entries[at] = entry;
    q->queueing = queueing;
    q->n++;
}

// Index of the phase to start next: among those of the highest priority the first one whose
// operation alternates with that of the phase that started last, else the first one.
static size_t alternating(const struct dim_queue *q)
{
    size_t first = q->n_active;
    for (size_t i = first; i < q->n && q->entries[i].priority == q->entries[first].priority; i++)
        if (!q->started || !halves(q->entries[i].phase.op) || q->entries[i].phase.op != q->last_op)
            return i;
    return first;
}

void *dim_queue_next(struct dim_queue *q, uint64_t limit)
{
    if (q->n_active == q->n || (limit > 0 && q->n_active >= limit))
        return NULL;
    size_t at = q->queueing == COLL_QUEUE_ALTERNATING ? alternating(q) : q->n_active;
    struct dim_queue_entry entry = q->entries[at];
    memmove(q->entries + q->n_active + 1, q->entries + q->n_active,
            (at - q->n_active) * sizeof entry);
    entry.active = true;
    q->entries[q->n_active++] = entry;
    if (halves(entry.phase.op)) {
        q->started = true;
        q->last_op = entry.phase.op;
    }
    return entry.run;
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
