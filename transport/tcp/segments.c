// SPDX-License-Identifier: MIT
// The ring of segments and the counts of their states.
#include "transport/tcp/segments.h"

#include <stdlib.h>

#include "engine/base/memory.h"

#define FIRST_CAPACITY 16

void segments_reserve(struct tcp_segments *segs, uint64_t una, uint64_t next)
{
    uint64_t cap = segs->ring ? (uint64_t)segs->mask + 1 : 0;
    if (next - una < cap)
        return;
    uint64_t more = cap > 0 ? 2 * cap : FIRST_CAPACITY;
    struct tcp_segments old = *segs;
    segs->ring = memory_zeroed(more, sizeof *segs->ring);
    segs->mask = (uint32_t)(more - 1);
    for (uint64_t n = una; n < next; n++)
        *segment_at(segs, n) = *segment_at(&old, n);
    free(old.ring);
}

void segment_lose(struct tcp_segments *segs, uint64_t number)
{
    struct tcp_segment *seg = segment_at(segs, number);
    if (seg->state & SEGMENT_LOST && !(seg->state & SEGMENT_RETX))
        return;
    segs->lost += !(seg->state & SEGMENT_LOST);
    segs->retx -= (seg->state & SEGMENT_RETX) != 0;
    segs->pending++;
    seg->state = (uint8_t)((seg->state & ~SEGMENT_RETX) | SEGMENT_LOST);
    if (number < segs->retx_from)
        segs->retx_from = number;
}

void segment_resend(struct tcp_segments *segs, uint64_t number, ps_t now)
{
    struct tcp_segment *seg = segment_at(segs, number);
    seg->sent_ps = now;
    seg->state |= SEGMENT_RESENT;
    if (!(seg->state & SEGMENT_SACKED)) { // else a probe repeats a segment that has arrived
        segs->pending -= seg->state & SEGMENT_LOST && !(seg->state & SEGMENT_RETX);
        segs->retx += !(seg->state & SEGMENT_RETX);
        seg->state |= SEGMENT_RETX;
    }
    if (number >= segs->resent_end)
        segs->resent_end = number + 1;
}

uint64_t segments_pending(struct tcp_segments *segs)
{
    const int mask = SEGMENT_LOST | SEGMENT_RETX | SEGMENT_SACKED;
    while ((segment_at(segs, segs->retx_from)->state & mask) != SEGMENT_LOST)
        segs->retx_from++;
    return segs->retx_from;
}

uint64_t segments_find(const struct tcp_segments *segs, uint64_t una, uint64_t nxt, uint32_t byte)
{
    while (una < nxt) {
        uint64_t mid = una + (nxt - una) / 2;
        if ((int32_t)(segment_at(segs, mid)->end - byte) > 0)
            nxt = mid;
        else
            una = mid + 1;
    }
    return una;
}

void segments_free(struct tcp_segments *segs)
{
    free(segs->ring);
    *segs = (struct tcp_segments){0};
}
