// SPDX-License-Identifier: MIT
// The heap orders keys, and the records stay where they are.
#include "trace/record_heap.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

static bool before(const struct record_key *a, const struct record_key *b)
{
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->order < b->order;
}

static struct record *record_at(const struct record_heap *h, size_t at)
{
    return (struct record *)(void *)(h->bytes + at);
}

struct record *record_heap_new(struct record_heap *h, size_t room)
{
    while (h->cap - h->end < sizeof(struct record) + room + 8)
        h->bytes = memory_grow(h->bytes, &h->cap, 1);
    return record_at(h, h->end);
}

void record_heap_push(struct record_heap *h, uint64_t order)
{
    const struct record *r = record_at(h, h->end);
    struct record_key key = {r->time_ps, order, h->end};
    h->end += record_size(r);
    if (h->n == h->cap_keys)
        h->keys = memory_grow(h->keys, &h->cap_keys, sizeof *h->keys);
    size_t at = h->n++;
    for (; at && before(&key, &h->keys[(at - 1) / 2]); at = (at - 1) / 2)
        h->keys[at] = h->keys[(at - 1) / 2];
    h->keys[at] = key;
}

const struct record *record_heap_first(const struct record_heap *h, ps_t before_ps)
{
    return h->n > 0 && h->keys[0].time_ps < before_ps ? record_at(h, h->keys[0].at) : NULL;
}

void record_heap_pop(struct record_heap *h)
{
    struct record_key last = h->keys[--h->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        child += child + 1 < h->n && before(&h->keys[child + 1], &h->keys[child]);
        if (!before(&h->keys[child], &last))
            break;
        h->keys[at] = h->keys[child];
    }
    h->keys[at] = last;
    __builtin_prefetch(h->bytes + h->keys[0].at); // while the one before is written
}

static int compare_places(const void *a, const void *b)
{
    const struct record_key *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

// The few records that are left move to the front. Keys sorted by place need a new heap.
void record_heap_tidy(struct record_heap *h)
{
    size_t n = h->n;
    if (n > 0)
        qsort(h->keys, n, sizeof *h->keys, compare_places);
    h->end = h->n = 0;
    for (size_t i = 0; i < n; i++) {
        struct record_key key = h->keys[i];
        memmove(h->bytes + h->end, h->bytes + key.at, record_size(record_at(h, key.at)));
        record_heap_push(h, key.order);
    }
}

void record_heap_free(struct record_heap *h)
{
    free(h->keys);
    free(h->bytes);
    *h = (struct record_heap){0};
}
