// SPDX-License-Identifier: MIT
// A queue of records of different sizes in one block of memory. Its records move to the front when
// half of the block is free, so that the cost of a move is spread over as many bytes.
#include "net/capture/record_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

void record_queue_push(struct record_queue *q, const struct record *r)
{
    size_t n = record_size(r);
    if (q->cap - q->end < n && q->first > 0 && q->first >= q->cap / 2) {
        memmove(q->bytes, q->bytes + q->first, q->end - q->first);
        q->end -= q->first;
        q->first = 0;
    }
    while (q->cap - q->end < n)
        q->bytes = memory_grow(q->bytes, &q->cap, 1);
    memcpy(q->bytes + q->end, r, n);
    q->end += n;
}

const struct record *record_queue_head(const struct record_queue *q)
{
    return q->first == q->end ? NULL : (const struct record *)(const void *)(q->bytes + q->first);
}

void record_queue_drop(struct record_queue *q)
{
    q->first += record_size(record_queue_head(q));
    if (q->first == q->end)
        q->first = q->end = 0;
}

void record_queue_free(struct record_queue *q)
{
    free(q->bytes);
    *q = (struct record_queue){0};
}
