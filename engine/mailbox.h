// SPDX-License-Identifier: MIT
// A mailbox: data that one shard of a simulation sends to another during a window, in the order of
// sending. One shard writes, and after the end of the window the other reads everything. Letters
// are bytes that only their sender and receiver interpret, so a mailbox could as well lead to
// another process.
#pragma once

#include <stddef.h>

#include "engine/base/units.h"

struct mailbox {
    unsigned char *bytes;
    size_t n, cap;
    uint64_t letters; // number of letters sent so far
};

// Append a letter of `size` bytes and return its place, aligned to 8 bytes. Valid until the next
// call.
void *mailbox_put(struct mailbox *box, size_t size);

// Returns the letter at *at and moves *at to the next one, or NULL after the last. *at begins at 0.
const void *mailbox_next(const struct mailbox *box, size_t *at);

static inline void mailbox_clear(struct mailbox *box) { box->n = 0; }
void mailbox_free(struct mailbox *box);
