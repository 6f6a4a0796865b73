// SPDX-License-Identifier: MIT
// The window of a TCP policy in whole segments: slow start, growth by counting acknowledged data,
// reduction, timeout and idle time. NewReno and CUBIC differ in how fast they grow and in how much
// they reduce.
//
// The window is a number of full segments (env->mtu_bytes), as Linux counts it. Acknowledged data
// is counted in bytes (RFC 3465), so an ACK that covers two segments counts twice, and segments
// that are not full count by their share.
//
// Sources: RFC 5681, sections 3.1, 3.2 and 4.1; RFC 3465 without its limit per ACK, as in Linux;
// RFC 2861 for idle time.
#pragma once

#include "collwire/cc.h"

#define SEGMENTS_UNLIMITED UINT32_MAX // slow-start threshold of a new flow
#define SEGMENTS_MAX 1000000000

struct segment_window {
    uint32_t cwnd, ssthresh; // segments
    uint64_t slow_bytes;     // acknowledged in slow start and not yet counted, below one segment
    uint64_t credit_bytes;   // acknowledged in congestion avoidance since the last growth
};

// Start a flow with the transport's initial window and without a threshold.
void segment_window_begin(struct cc *cc, struct segment_window *w);

static inline bool segment_window_slow(const struct segment_window *w)
{
    return w->cwnd < w->ssthresh;
}

// Slow start: grow by the acknowledged bytes up to the threshold. Returns the bytes beyond it,
// which count for congestion avoidance; all of them if the flow is not in slow start.
uint64_t segment_window_slow_start(struct cc *cc, struct segment_window *w, uint64_t acked_bytes);

// Congestion avoidance: grow by one segment for `per_segment` acknowledged segments. If data beyond
// that had been counted when per_segment was larger, the excess is dropped.
void segment_window_count(struct cc *cc, struct segment_window *w, uint64_t per_segment,
                          uint64_t acked_bytes);

// Set the window, at least one segment.
void segment_window_set(struct cc *cc, struct segment_window *w, uint64_t cwnd);

// Set threshold and window to `segments`, at least two, after a loss or an ECN mark.
void segment_window_reduce(struct cc *cc, struct segment_window *w, uint32_t segments);

// Start again with one segment. `segments` is the new threshold unless an earlier timeout of the
// same data has set it (`again`).
void segment_window_timeout(struct cc *cc, struct segment_window *w, uint32_t segments, bool again);

// Halve the window for each retransmission timeout of idle time, but not below the initial window.
// The threshold remembers three quarters of the window before.
void segment_window_idle(struct cc *cc, struct segment_window *w, uint32_t rtos);

// The threshold in bytes for time series, 0 = none.
double segment_window_ssthresh_bytes(const struct cc *cc, const struct segment_window *w);
