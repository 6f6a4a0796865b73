// SPDX-License-Identifier: MIT
// Each letter follows a word with its size.
#include "engine/mailbox.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define ALIGN 8

static size_t padded(size_t size) { return (size + ALIGN - 1) / ALIGN * ALIGN; }

void *mailbox_put(struct mailbox *box, size_t size)
{
    size_t at = box->n, end = at + ALIGN + padded(size);
    while (end > box->cap)
        box->bytes = memory_grow(box->bytes, &box->cap, 1);
    uint64_t word = padded(size);
    memcpy(box->bytes + at, &word, sizeof word);
    box->n = end;
    box->letters++;
    return box->bytes + at + ALIGN;
}

const void *mailbox_next(const struct mailbox *box, size_t *at)
{
    if (*at == box->n)
        return NULL;
    uint64_t word;
    memcpy(&word, box->bytes + *at, sizeof word);
    const void *letter = box->bytes + *at + ALIGN;
    *at += ALIGN + word;
    return letter;
}

void mailbox_free(struct mailbox *box)
{
    free(box->bytes);
    *box = (struct mailbox){0};
}
