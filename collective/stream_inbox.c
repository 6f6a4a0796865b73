// SPDX-License-Identifier: MIT
// The n-th message of a stream from one member with one size is the n-th that is expected so.
#include <stdlib.h>
#include <string.h>

#include "collective/stream_internal.h"
#include "engine/base/memory.h"

struct inboxes *inboxes_of(struct communicator *c, uint32_t member)
{
    if (c->inboxes == NULL)
        c->inboxes = memory_zeroed(c->n_ranks, sizeof *c->inboxes);
    return &c->inboxes[member];
}

struct inbox *inbox_of(struct communicator *c, uint32_t member, uint64_t number)
{
    struct inboxes *boxes = inboxes_of(c, member);
    while (number >= boxes->first + boxes->n) {
        if (boxes->n == boxes->cap)
            boxes->items = memory_grow(boxes->items, &boxes->cap, sizeof *boxes->items);
        boxes->items[boxes->n++] = (struct inbox){0};
    }
    return &boxes->items[number - boxes->first];
}

static struct letter *letter_of(struct inbox *box, uint32_t src, uint64_t bytes)
{
    for (uint32_t i = box->n; i-- > 0;)
        if (box->letters[i].src == src && box->letters[i].bytes == bytes)
            return &box->letters[i];
    if (box->n == box->cap) {
        box->cap = box->cap > 0 ? 2 * box->cap : 4;
        box->letters = memory_resize(box->letters, box->cap, sizeof *box->letters);
    }
    box->letters[box->n] = (struct letter){.src = src, .bytes = bytes};
    return &box->letters[box->n++];
}

bool inbox_arrive(struct inbox *box, uint32_t src, uint64_t bytes)
{
    struct letter *letter = letter_of(box, src, bytes);
    return letter->arrived++ < letter->expected;
}

bool inbox_expect(struct inbox *box, uint32_t src, uint64_t bytes)
{
    struct letter *letter = letter_of(box, src, bytes);
    return letter->expected++ < letter->arrived;
}

void inbox_end(struct communicator *c, uint32_t member, uint64_t number)
{
    struct inboxes *boxes = &c->inboxes[member];
    struct inbox *box = inbox_of(c, member, number);
    free(box->letters);
    free(box->keys);
    *box = (struct inbox){.ended = true};
    while (boxes->n_ended < boxes->n && boxes->items[boxes->n_ended].ended)
        boxes->n_ended++;
    size_t gone = boxes->n_ended;
    // Boxes are moved only when half of them have ended, so the cost of moving is constant per
    // stream.
    if (2 * gone < boxes->n || gone == 0)
        return;
    memmove(boxes->items, boxes->items + gone, (boxes->n - gone) * sizeof *boxes->items);
    boxes->n -= gone;
    boxes->first += gone;
    boxes->n_ended = 0;
}

void inboxes_free(struct communicator *c)
{
    for (uint32_t m = 0; m < c->n_ranks && c->inboxes != NULL; m++) {
        for (size_t i = 0; i < c->inboxes[m].n; i++) {
            struct inbox *box = &c->inboxes[m].items[i];
            // The last stream of a set frees the set.
            if (box->stream != NULL && --box->stream->set->streams_left == 0)
                free(box->stream->set);
            if (box->stream != NULL)
                free(box->stream->walk);
            free(box->letters);
            free(box->keys);
            free(box->stream);
        }
        free(c->inboxes[m].items);
    }
    free(c->inboxes);
}
