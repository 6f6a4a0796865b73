// SPDX-License-Identifier: MIT
// The records of a source are a list; a heap orders the first records of the sources. Records keep
// their place in memory until record_heap_tidy().
#include "net/capture/record_heap.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

static bool before(const struct record_head *a, const struct record_head *b)
{
    return a->time_ps != b->time_ps ? a->time_ps < b->time_ps : a->source < b->source;
}

static struct record *record_at(const struct record_heap *h, size_t at)
{
    return (struct record *)(void *)(h->bytes + at);
}

void record_heap_init(struct record_heap *h, uint32_t n_sources)
{
    *h = (struct record_heap){.n_sources = n_sources};
    h->heads = memory_zeroed(n_sources, sizeof *h->heads);
    h->last = memory_zeroed(n_sources, sizeof *h->last);
    for (uint32_t i = 0; i < n_sources; i++)
        h->last[i] = RECORD_NONE;
}

void record_heap_free(struct record_heap *h)
{
    free(h->heads);
    free(h->last);
    free(h->bytes);
    *h = (struct record_heap){0};
}

struct record *record_heap_new(struct record_heap *h, size_t room)
{
    while (h->cap - h->end < sizeof(struct record) + room + 8)
        h->bytes = memory_grow(h->bytes, &h->cap, 1);
    return record_at(h, h->end);
}

static void sift_up(struct record_heap *h, struct record_head head)
{
    size_t at = h->n++;
    for (; at && before(&head, &h->heads[(at - 1) / 2]); at = (at - 1) / 2)
        h->heads[at] = h->heads[(at - 1) / 2];
    h->heads[at] = head;
}

// Put a head in the place of the first one.
static void sift_down(struct record_heap *h, struct record_head head)
{
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        child += child + 1 < h->n && before(&h->heads[child + 1], &h->heads[child]);
        if (!before(&h->heads[child], &head))
            break;
        h->heads[at] = h->heads[child];
    }
    h->heads[at] = head;
}

void record_heap_push(struct record_heap *h, uint32_t source)
{
    struct record *r = record_at(h, h->end);
    size_t at = h->end, last = h->last[source];
    r->next = RECORD_NONE;
    h->end += record_size(r);
    h->last[source] = at;
    if (last != RECORD_NONE)
        record_at(h, last)->next = at;
    else
        sift_up(h, (struct record_head){r->time_ps, source, at});
}

const struct record *record_heap_first(const struct record_heap *h, ps_t before_ps)
{
    return h->n > 0 && h->heads[0].time_ps < before_ps ? record_at(h, h->heads[0].at) : NULL;
}

void record_heap_pop(struct record_heap *h)
{
    struct record_head first = h->heads[0];
    size_t next = record_at(h, first.at)->next;
    if (next != RECORD_NONE) {
        sift_down(h, (struct record_head){record_at(h, next)->time_ps, first.source, next});
    } else {
        h->last[first.source] = RECORD_NONE;
        struct record_head last = h->heads[--h->n];
        if (h->n > 0)
            sift_down(h, last);
    }
    if (h->n > 0)
        __builtin_prefetch(h->bytes + h->heads[0].at); // the next record, while this one is written
}

static int compare_places(const void *a, const void *b)
{
    const struct record_head *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

// The few records that are left, by their place.
static struct record_head *left_over(const struct record_heap *h, size_t *n)
{
    struct record_head *list = NULL;
    size_t cap = 0;
    for (size_t i = 0; i < h->n; i++)
        for (size_t at = h->heads[i].at; at != RECORD_NONE; at = record_at(h, at)->next) {
            if (*n == cap)
                list = memory_grow(list, &cap, sizeof *list);
            list[(*n)++] = (struct record_head){.source = h->heads[i].source, .at = at};
        }
    if (*n > 0)
        qsort(list, *n, sizeof *list, compare_places);
    return list;
}

void record_heap_tidy(struct record_heap *h)
{
    size_t n = 0;
    struct record_head *list = left_over(h, &n);
    for (size_t i = 0; i < h->n; i++)
        h->last[h->heads[i].source] = RECORD_NONE;
    h->end = h->n = 0;
    for (size_t i = 0; i < n; i++) {
        memmove(h->bytes + h->end, h->bytes + list[i].at, record_size(record_at(h, list[i].at)));
        record_heap_push(h, list[i].source);
    }
    free(list);
}
