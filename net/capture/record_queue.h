// SPDX-License-Identifier: MIT
// A queue of captured packets in memory.
#pragma once

#include "net/capture/record.h"

struct record_queue {
    uint8_t *bytes; // the records from `first` to `end`
    size_t first, end, cap;
};

// Append a copy of a record.
void record_queue_push(struct record_queue *q, const struct record *r);

// Returns the oldest record, or NULL. Valid until the next push.
const struct record *record_queue_head(const struct record_queue *q);
void record_queue_drop(struct record_queue *q); // the oldest one
void record_queue_free(struct record_queue *q);
