// SPDX-License-Identifier: MIT
// Slices as they end.
#include "workload/timeline.h"

#include "engine/memory.h"

void timeline_add(struct timeline *t, const struct timeline_slice *slice)
{
    if (slice->end_ps <= slice->begin_ps || t->n >= TIMELINE_SLICES)
        return;
    if (t->n == t->cap)
        t->slices = memory_grow(t->slices, &t->cap, sizeof *t->slices);
    t->slices[t->n++] = *slice;
}
