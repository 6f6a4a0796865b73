// SPDX-License-Identifier: MIT
// Segmentation offload: data leaves in bursts, and a burst may wait for more room in the window.
//
// Linux (tcp_tso_autosize(), tcp_tso_should_defer(); net/ipv4/tcp_output.c): a burst is what the
// pacing rate sends in 1/1024 s, at least two segments, and in networks with a short RTT more, up
// to the largest size. It waits while the window has room for less than it and for less than a
// third of the window, unless the next acknowledgement is far (the oldest segment is younger than
// half the RTT), nothing was sent for 1 ms, or a recovery goes on. A flow whose burst waits is
// limited by its window, although the window is not full.
#include "transport/tcp/tcp.h"

#define LEAST_SEGMENTS 2  // tcp_min_tso_segs
#define WINDOW_SHARE 3    // tcp_tso_win_divisor
#define RTT_SHIFT 9       // tcp_tso_rtt_log: the largest size is halved for each 2^9 us of the RTT
#define IDLE_PS PS_PER_MS // after which nothing is deferred
#define AT_ONCE_PS (PS_PER_S >> 10) // sk_pacing_shift

// Segments of a burst that begins now.
static uint32_t burst_now(const struct sender *s)
{
    const struct tcp_sender *t = tcp_of(s);
    uint64_t largest = tcp_sender_spec(s)->offload_bytes;
    if (t->srtt_ps == 0)
        return t->burst;
    uint64_t window = t->cwnd < UINT32_MAX ? t->cwnd : 1;
    double share = (double)AT_ONCE_PS / (double)t->srtt_ps * tcp_pacing_tenths(t) / 10;
    uint64_t bytes = (uint64_t)((double)(window * s->dim->mtu_bytes) * share);
    uint64_t halvings = (uint64_t)(t->min_rtt_ps / PS_PER_US) >> RTT_SHIFT;
    bytes += halvings < 32 ? largest >> halvings : 0;
    bytes = bytes < largest ? bytes : largest;
    uint32_t segments = (uint32_t)(bytes / s->dim->mtu_bytes);
    return segments > LEAST_SEGMENTS ? segments : LEAST_SEGMENTS;
}

void tcp_burst_count(struct sender *s)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->burst_left == 0)
        t->burst_left = burst_now(s);
    t->burst_left--;
}

bool tcp_burst_waits(const struct sender *s, uint32_t in_flight, ps_t now)
{
    const struct tcp_sender *t = tcp_of(s);
    if (t->burst_left > 0 || in_flight == 0 || t->state >= TCP_RECOVERY ||
        now - t->last_sent_ps > IDLE_PS)
        return false;
    uint64_t left = s->tail - s->nxt, room = t->cwnd - in_flight;
    if (room >= left || room >= burst_now(s) || room >= t->cwnd / WINDOW_SHARE)
        return false;
    return now - segment_at(&t->segs, s->una)->sent_ps >= t->srtt_ps / 2;
}
