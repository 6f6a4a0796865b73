// SPDX-License-Identifier: MIT
// The streams that wait in a queue: a binary heap by priority, then by the order in which they
// came.
#include "collective/stream_internal.h"
#include "engine/base/memory.h"

static bool before(struct stream_waiting a, struct stream_waiting b)
{
    return a.priority != b.priority ? a.priority > b.priority : a.turn < b.turn;
}

void stream_queue_add(struct stream_queue *q, struct stream *s)
{
    if (q->n == q->cap)
        q->waiting = memory_grow(q->waiting, &q->cap, sizeof *q->waiting);
    const struct stream_waiting new = {s->priority, q->turn++, s};
    size_t at = q->n++;
    for (; at > 0 && before(new, q->waiting[(at - 1) / 2]); at = (at - 1) / 2)
        q->waiting[at] = q->waiting[(at - 1) / 2];
    q->waiting[at] = new;
}

struct stream *stream_queue_take(struct stream_queue *q)
{
    if (q->n == 0)
        return NULL;
    struct stream *first = q->waiting[0].stream;
    const struct stream_waiting last = q->waiting[--q->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < q->n; at = child) {
        child += child + 1 < q->n && before(q->waiting[child + 1], q->waiting[child]);
        if (!before(q->waiting[child], last))
            break;
        q->waiting[at] = q->waiting[child];
    }
    q->waiting[at] = last;
    return first;
}
