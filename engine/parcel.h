// SPDX-License-Identifier: MIT
// Values that one process hands to another, in order. One function both writes and reads an object:
// it passes the object's fields one after the other, and each value is appended to the parcel or
// read from it, so that writing and reading cannot differ. Pointers must not be among the values.
//
// Both processes run the same program, so values have no format of their own. A reader that meets
// the end gets zeros, and the parcel is `torn`.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/units.h"

struct parcel {
    bool reads; // values come out of it
    bool torn;
    /* written */
    unsigned char *bytes;
    size_t n, cap;
    /* read */
    const unsigned char *from;
    size_t at, end;
};

// A parcel to be written starts zeroed. A parcel to be read refers to `bytes`.
struct parcel parcel_read(const void *bytes, size_t n);
void parcel_free(struct parcel *p);
// True if all has been read, and not more.
static inline bool parcel_is_read(const struct parcel *p) { return !p->torn && p->at == p->end; }

void parcel_value(struct parcel *p, void *value, size_t bytes);
#define PARCEL(p, value) parcel_value(p, &(value), sizeof(value))

// Returns the number that the writer has given.
uint32_t parcel_number(struct parcel *p, uint32_t number);

// Combine a value over processes: the writer's 64-bit counters are added to the reader's, one by
// one, or the later of both times is kept.
void parcel_sum(struct parcel *p, void *counters, size_t bytes);
#define PARCEL_SUM(p, counters) parcel_sum(p, &(counters), sizeof(counters))
void parcel_latest(struct parcel *p, ps_t *time);
