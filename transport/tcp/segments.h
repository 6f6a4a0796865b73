// SPDX-License-Identifier: MIT
// The segments of a TCP sender that are not cumulatively acknowledged, with what selective ACKs and
// loss detection have shown about each (the scoreboard of RFC 6675).
//
// Segments are numbered like the sequence numbers of struct sender: one number per segment. Their
// boundaries never change, so a retransmission repeats a segment exactly.
#pragma once

#include <stdbool.h>

#include "engine/base/units.h"

enum tcp_segment_state {
    SEGMENT_SACKED = 1, // has arrived
    SEGMENT_LOST = 2,   // its latest transmission counts as lost, or a retransmission repairs this
    SEGMENT_RETX = 4,   // a retransmission is in flight
    SEGMENT_RESENT = 8, // has been retransmitted at any time
};

struct tcp_segment {
    ps_t sent_ps;   // start of the latest transmission
    uint32_t end;   // number of the byte after it in the stream, low 32 bits
    uint16_t bytes; // payload
    uint8_t state;  // set of enum tcp_segment_state
};

struct tcp_segments {
    struct tcp_segment *ring; // [number & mask]
    uint32_t mask;            // capacity - 1; ring is NULL until the first segment is sent
    /* numbers of segments */
    uint32_t sacked, lost, retx;
    uint32_t pending;    // lost and not in flight again
    uint64_t resent_end; // after the last segment that has been retransmitted
    uint64_t retx_from;  // no segment before this number is pending
};

static inline struct tcp_segment *segment_at(const struct tcp_segments *segs, uint64_t number)
{
    return &segs->ring[number & segs->mask];
}

// Make room for segment `next` beside those from `una` on. May allocate memory.
void segments_reserve(struct tcp_segments *segs, uint64_t una, uint64_t next);

// The segment's latest transmission counts as lost.
void segment_lose(struct tcp_segments *segs, uint64_t number);

// The segment is transmitted again at `now`.
void segment_resend(struct tcp_segments *segs, uint64_t number, ps_t now);

// The segment has arrived: remove it from the counts, except for that of SACKed segments.
static inline void segment_delivered(struct tcp_segments *segs, const struct tcp_segment *seg)
{
    if (!(seg->state & (SEGMENT_LOST | SEGMENT_RETX)))
        return;
    bool lost = seg->state & SEGMENT_LOST, retx = seg->state & SEGMENT_RETX;
    segs->lost -= lost;
    segs->retx -= retx;
    segs->pending -= lost && !retx;
}

// Returns the number of the first pending segment. There must be one.
uint64_t segments_pending(struct tcp_segments *segs);

// Returns the number of the first segment in [una, nxt) that ends after byte `byte` of the stream
// (low 32 bits), or nxt.
uint64_t segments_find(const struct tcp_segments *segs, uint64_t una, uint64_t nxt, uint32_t byte);

void segments_free(struct tcp_segments *segs);
