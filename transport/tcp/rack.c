// SPDX-License-Identifier: MIT
// Loss detection by time (RACK, RFC 8985): a segment is lost if one that was sent later has
// arrived, and a reordering window has passed since it should have.
#include "transport/tcp/tcp.h"

static bool sent_later(ps_t sent_ps, uint64_t number, const struct tcp_sender *t)
{
    return sent_ps > t->rack_sent_ps || (sent_ps == t->rack_sent_ps && number > t->rack_number);
}

// RFC 8985, section 6.2, steps 1 and 2. A retransmission whose ACK comes sooner than the minimal
// RTT did not cause it. As in Linux the RTT is that of the segment delivered last, even if it was
// not sent last: after a delayed ACK it includes the delay.
void tcp_rack_delivered(struct tcp_sender *t, const struct tcp_segment *seg, uint64_t number,
                        ps_t now)
{
    ps_t rtt_ps = now - seg->sent_ps;
    if (seg->state & SEGMENT_RESENT && rtt_ps < t->min_rtt_ps)
        return;
    t->rack_advanced = true;
    t->rack_rtt_ps = rtt_ps;
    if (sent_later(seg->sent_ps, number, t)) {
        t->rack_sent_ps = seg->sent_ps;
        t->rack_number = number;
    }
}

// A retransmission was needless, so segments are reordered by more than the window: it grows by a
// quarter of the minimal RTT, at most once per round trip (section 6.2, step 4).
void tcp_rack_dsack(struct sender *s)
{
    struct tcp_sender *t = tcp_of(s);
    t->reordering = true;
    if (s->una < t->reo_round)
        return;
    t->reo_round = s->nxt;
    t->reo_steps += t->reo_steps < UINT8_MAX;
}

// Until a reordering has been seen the window is zero during recovery and once three segments have
// been delivered out of order, as with the classic threshold of duplicate ACKs.
static ps_t reordering_window_ps(const struct tcp_sender *t)
{
    if (!t->reordering && (t->state >= TCP_RECOVERY || t->segs.sacked >= TCP_DUPLICATE_THRESHOLD))
        return 0;
    if (t->min_rtt_ps == PS_NEVER) // no sample yet, since the SYN was repeated
        return t->srtt_ps;
    ps_t window_ps = t->min_rtt_ps / 4 * t->reo_steps;
    return window_ps < t->srtt_ps ? window_ps : t->srtt_ps;
}

bool tcp_rack_expired(const struct sender *s, const struct tcp_segment *seg, ps_t now)
{
    const struct tcp_sender *t = tcp_of(s);
    return seg->sent_ps + t->rack_rtt_ps <= now;
}

uint32_t tcp_rack_lose(struct sender *s, ps_t now, ps_t *wait_ps)
{
    struct tcp_sender *t = tcp_of(s);
    ps_t due_ps = t->rack_rtt_ps + reordering_window_ps(t);
    uint32_t lost = 0;
    *wait_ps = 0;
    for (uint64_t number = s->una; number < s->nxt; number++) {
        const struct tcp_segment *seg = segment_at(&t->segs, number);
        int state = seg->state;
        if (state & SEGMENT_SACKED || (state & SEGMENT_LOST && !(state & SEGMENT_RETX)))
            continue;
        if (sent_later(seg->sent_ps, number, t)) {
            if (number >= t->segs.resent_end) // later segments were sent still later
                break;
            continue;
        }
        ps_t left_ps = seg->sent_ps + due_ps - now;
        if (left_ps <= 0) {
            segment_lose(&t->segs, number);
            lost++;
        } else if (left_ps > *wait_ps) {
            *wait_ps = left_ps;
        }
    }
    return lost;
}
