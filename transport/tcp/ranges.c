// SPDX-License-Identifier: MIT
// Insertion into a sorted array of ranges, and removal of the first one.
#include "transport/tcp/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

// Returns the index of the first range that ends at or after `byte`.
static size_t first_touching(const struct byte_ranges *ranges, uint64_t byte)
{
    size_t low = 0, high = ranges->n;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (ranges->at[mid].end < byte)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void insert(struct byte_ranges *ranges, size_t i, struct byte_range range)
{
    if (ranges->n == ranges->cap)
        ranges->at = memory_grow(ranges->at, &ranges->cap, sizeof *ranges->at);
    memmove(&ranges->at[i + 1], &ranges->at[i], (ranges->n - i) * sizeof *ranges->at);
    ranges->at[i] = range;
    ranges->n++;
}

static void erase(struct byte_ranges *ranges, size_t i)
{
    ranges->n--;
    memmove(&ranges->at[i], &ranges->at[i + 1], (ranges->n - i) * sizeof *ranges->at);
}

struct byte_range ranges_add(struct byte_ranges *ranges, struct byte_range range, int *added)
{
    size_t i = first_touching(ranges, range.start);
    struct byte_range *at = ranges->n > 0 ? &ranges->at[i] : NULL;
    *added = i == ranges->n || at->start > range.start || at->end < range.end;
    if (i == ranges->n || at->start > range.end) {
        insert(ranges, i, range);
        return range;
    }
    if (range.start < at->start)
        at->start = range.start;
    if (range.end > at->end)
        at->end = range.end;
    if (i + 1 < ranges->n && at[1].start <= at->end) {
        at->end = at[1].end;
        erase(ranges, i + 1);
    }
    return *at;
}

uint64_t ranges_take(struct byte_ranges *ranges, uint64_t byte)
{
    if (ranges->n == 0 || ranges->at[0].start > byte)
        return byte;
    uint64_t end = ranges->at[0].end;
    erase(ranges, 0);
    return end;
}

void ranges_free(struct byte_ranges *ranges)
{
    free(ranges->at);
    *ranges = (struct byte_ranges){0};
}
