// SPDX-License-Identifier: MIT
// Captured packets that wait until no earlier one can follow.
//
// A port reports its packets in order of their start, but ports are not ordered among each other, and
// records of far ends and last bits have later times than the report. They are taken out in the order
// of (time, source, order at the source), whatever the order of reports.
#pragma once

#include "trace/record.h"

struct record_key {
    ps_t time_ps;
    uint64_t order; // source, then number at the source
    size_t at;      // offset of the record
};

struct record_heap {
    struct record_key *keys; // a binary heap
    size_t n, cap_keys;
    uint8_t *bytes; // the records, in order of reports; those taken out are still there
    size_t end, cap;
};

// Make room for a record with up to `room` bytes after its head and return it; then fill it in, and
// add it with `order` (higher bits: source).
struct record *record_heap_new(struct record_heap *h, size_t room);
void record_heap_push(struct record_heap *h, uint64_t order);

// Returns the first record if its time is before `before_ps`, else NULL. It is valid until the next
// record_heap_new().
const struct record *record_heap_first(const struct record_heap *h, ps_t before_ps);
void record_heap_pop(struct record_heap *h);

// Give back the memory of records that have been taken out.
void record_heap_tidy(struct record_heap *h);
void record_heap_free(struct record_heap *h);
