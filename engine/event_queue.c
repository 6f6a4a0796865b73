// SPDX-License-Identifier: MIT
// A 4-ary min-heap of events: shallow, and the four children share one cache line.
#include "engine/event_queue.h"

#include <stdlib.h>

#include "engine/memory.h"

void event_queue_free(struct event_queue *q)
{
    free(q->heap);
    *q = (struct event_queue){0};
}

void event_queue_push(struct event_queue *q, struct event e)
{
    if (q->n == q->cap)
        q->heap = memory_grow(q->heap, &q->cap, sizeof *q->heap);
    size_t i = q->n++;
    while (i > 0) {
        size_t parent = (i - 1) / 4;
        if (!event_before(e, q->heap[parent]))
            break;
        q->heap[i] = q->heap[parent];
        i = parent;
    }
    q->heap[i] = e;
}

static size_t first_child(const struct event *heap, size_t n, size_t first)
{
    size_t best = first, end = first + 4 < n ? first + 4 : n;
    for (size_t c = first + 1; c < end; c++)
        if (event_before(heap[c], heap[best]))
            best = c;
    return best;
}

bool event_queue_pop(struct event_queue *q, struct event *out)
{
    if (q->n == 0)
        return false;
    struct event *heap = q->heap;
    *out = heap[0];
    struct event last = heap[--q->n];
    size_t i = 0, n = q->n;
    while (4 * i + 1 < n) {
        size_t child = first_child(heap, n, 4 * i + 1);
        if (!event_before(heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (n > 0)
        heap[i] = last;
    return true;
}
