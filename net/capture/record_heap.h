// SPDX-License-Identifier: MIT
// Captured packets that wait until no earlier one can follow.
//
// A source reports its packets in order of time, but sources are not ordered among each other.
// Records are taken out in the order of (time, source, order at the source), whatever the order of
// reports.
#pragma once

#include "net/capture/record.h"

#define RECORD_NONE SIZE_MAX

struct record_heap {
    struct record_head { // the first record of a source that has some
        ps_t time_ps;
        uint32_t source;
        size_t at; // offset of the record
    } * heads;     // a binary heap
    size_t n;
    size_t *last; // [source] offset of its last record; RECORD_NONE = it has none
    uint32_t n_sources;
    // The records, in order of reports. Space of records that have been taken out is not reused
    // before record_heap_tidy().
    uint8_t *bytes;
    size_t end, cap;
};

void record_heap_init(struct record_heap *h, uint32_t n_sources);
void record_heap_free(struct record_heap *h);

// Make room for a record with up to `room` bytes after its head and return it; then fill it in, and
// add it to its source.
struct record *record_heap_new(struct record_heap *h, size_t room);
void record_heap_push(struct record_heap *h, uint32_t source);

// Returns the first record if its time is before `before_ps`, else NULL. It is valid until the next
// record_heap_new() or record_heap_tidy(), also when it has been taken out.
const struct record *record_heap_first(const struct record_heap *h, ps_t before_ps);
// Returns the source of the first record; there must be one.
static inline uint32_t record_heap_source(const struct record_heap *h)
{
    return h->heads[0].source;
}
void record_heap_pop(struct record_heap *h);

// Give back the memory of records that have been taken out.
void record_heap_tidy(struct record_heap *h);
