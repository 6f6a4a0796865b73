// SPDX-License-Identifier: MIT
// Nearly all packets continue the last range.
#include "cli/replay/seen.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

void seen_free(struct seen *seen)
{
    free(seen->ranges);
    *seen = (struct seen){0};
}

static void range_insert(struct seen *seen, uint32_t at, struct seen_range range)
{
    if (seen->n == seen->cap) {
        seen->cap = seen->cap == 0 ? 2 : 2 * seen->cap;
        seen->ranges = memory_resize(seen->ranges, seen->cap, sizeof *seen->ranges);
    }
    memmove(&seen->ranges[at + 1], &seen->ranges[at], (seen->n - at) * sizeof *seen->ranges);
    seen->ranges[at] = range;
    seen->n++;
}

static void range_remove(struct seen *seen, uint32_t at)
{
    seen->n--;
    memmove(&seen->ranges[at], &seen->ranges[at + 1], (seen->n - at) * sizeof *seen->ranges);
}

// Join a range with the later ones that it touches.
static void range_join(struct seen *seen, uint32_t at)
{
    struct seen_range *range = &seen->ranges[at];
    while (at + 1 < seen->n && seen->ranges[at + 1].begin <= range->end) {
        if (seen->ranges[at + 1].end > range->end)
            range->end = seen->ranges[at + 1].end;
        range_remove(seen, at + 1);
    }
}

bool seen_add(struct seen *seen, int64_t begin, int64_t end)
{
    uint32_t at = seen->n; // the first range that begins behind `begin`
    while (at > 0 && seen->ranges[at - 1].begin > begin)
        at--;
    struct seen_range *before = at > 0 ? &seen->ranges[at - 1] : NULL;
    bool fresh = before == NULL || begin >= before->end;
    if (before != NULL && begin <= before->end) {
        if (end > before->end)
            before->end = end;
        range_join(seen, at - 1);
        return fresh;
    }
    range_insert(seen, at, (struct seen_range){begin, end});
    range_join(seen, at);
    if (seen->n > SEEN_RANGES) {
        seen->ranges[1].begin = seen->ranges[0].begin;
        range_remove(seen, 0);
    }
    return true;
}

bool seen_covers(const struct seen *seen, int64_t begin, int64_t end)
{
    uint32_t at = seen->n;
    while (at > 0 && seen->ranges[at - 1].begin > begin)
        at--;
    return at > 0 && seen->ranges[at - 1].end >= end;
}
