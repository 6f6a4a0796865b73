// SPDX-License-Identifier: MIT
// Values one after the other, without gaps.
#include "engine/parcel.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct parcel parcel_read(const void *bytes, size_t n)
{
    return (struct parcel){.reads = true, .from = bytes, .end = n};
}

void parcel_free(struct parcel *p)
{
    free(p->bytes);
    *p = (struct parcel){0};
}

static void put(struct parcel *p, const void *value, size_t bytes)
{
    while (p->n + bytes > p->cap)
        p->bytes = memory_grow(p->bytes, &p->cap, 1);
    memcpy(p->bytes + p->n, value, bytes);
    p->n += bytes;
}

static void take(struct parcel *p, void *value, size_t bytes)
{
    if (p->torn || bytes > p->end - p->at) {
        p->torn = true;
        memset(value, 0, bytes);
        return;
    }
    memcpy(value, p->from + p->at, bytes);
    p->at += bytes;
}

void parcel_value(struct parcel *p, void *value, size_t bytes)
{
    if (bytes == 0)
        return;
    if (p->reads)
        take(p, value, bytes);
    else
        put(p, value, bytes);
}

uint32_t parcel_number(struct parcel *p, uint32_t number)
{
    PARCEL(p, number);
    return number;
}

void parcel_sum(struct parcel *p, void *counters, size_t bytes)
{
    uint64_t *each = counters;
    for (size_t i = 0; i < bytes / sizeof *each; i++) {
        uint64_t value = each[i];
        PARCEL(p, value);
        if (p->reads)
            each[i] += value;
    }
}

void parcel_latest(struct parcel *p, ps_t *time)
{
    ps_t value = *time;
    PARCEL(p, value);
    *time = value > *time ? value : *time;
}
