// SPDX-License-Identifier: MIT
// The window of a TCP policy in whole segments.
#include "cc/segment_window.h"

#define LEAST_THRESHOLD 2 // RFC 5681, equation 4

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

void segment_window_set(struct cc *cc, struct segment_window *w, uint64_t cwnd)
{
    w->cwnd = cwnd < 1 ? 1 : cwnd > SEGMENTS_MAX ? SEGMENTS_MAX : (uint32_t)cwnd;
    cc->cwnd_bytes = (uint64_t)w->cwnd * cc->env->mtu_bytes;
}

static uint32_t initial_segments(const struct cc_env *env)
{
    return larger(env->initial_window_bytes / env->mtu_bytes, 1);
}

void segment_window_begin(struct cc *cc, struct segment_window *w)
{
    *w = (struct segment_window){.ssthresh = SEGMENTS_UNLIMITED};
    segment_window_set(cc, w, initial_segments(cc->env));
}

// RFC 5681, equation 2, with RFC 3465's byte counting.
uint64_t segment_window_slow_start(struct cc *cc, struct segment_window *w, uint64_t acked_bytes)
{
    if (!segment_window_slow(w))
        return acked_bytes;
    uint64_t mss = cc->env->mtu_bytes, room = w->ssthresh - w->cwnd;
    uint64_t bytes = w->slow_bytes + acked_bytes;
    if (bytes / mss < room) {
        w->slow_bytes = bytes % mss;
        segment_window_set(cc, w, w->cwnd + bytes / mss);
        return 0;
    }
    w->slow_bytes = 0;
    segment_window_set(cc, w, w->ssthresh);
    return bytes - room * mss;
}

void segment_window_count(struct cc *cc, struct segment_window *w, uint64_t per_segment,
                          uint64_t acked_bytes)
{
    uint64_t needed = per_segment * cc->env->mtu_bytes, cwnd = w->cwnd;
    if (w->credit_bytes >= needed) { // counted when a segment needed more
        w->credit_bytes = 0;
        cwnd++;
    }
    w->credit_bytes += acked_bytes;
    cwnd += w->credit_bytes / needed;
    w->credit_bytes %= needed;
    segment_window_set(cc, w, cwnd);
}

void segment_window_reduce(struct cc *cc, struct segment_window *w, uint32_t segments)
{
    w->ssthresh = larger(segments, LEAST_THRESHOLD);
    w->credit_bytes = w->slow_bytes = 0;
    segment_window_set(cc, w, w->ssthresh);
}

// RFC 5681, section 3.1: the loss window is one segment.
void segment_window_timeout(struct cc *cc, struct segment_window *w, uint32_t segments, bool again)
{
    if (!again)
        w->ssthresh = larger(segments, LEAST_THRESHOLD);
    w->credit_bytes = w->slow_bytes = 0;
    segment_window_set(cc, w, 1);
}

// RFC 5681, section 4.1, with the decay of RFC 2861, section 3.
void segment_window_idle(struct cc *cc, struct segment_window *w, uint32_t rtos)
{
    if (rtos == 0)
        return;
    uint32_t initial = initial_segments(cc->env), cwnd = w->cwnd;
    uint32_t least = cwnd < initial ? cwnd : initial;
    w->ssthresh = larger(w->ssthresh, cwnd / 2 + cwnd / 4);
    for (; rtos > 0 && cwnd > least; rtos--)
        cwnd /= 2;
    segment_window_set(cc, w, larger(cwnd, least));
}

double segment_window_ssthresh_bytes(const struct cc *cc, const struct segment_window *w)
{
    return w->ssthresh == SEGMENTS_UNLIMITED ? 0 : (double)w->ssthresh * cc->env->mtu_bytes;
}
