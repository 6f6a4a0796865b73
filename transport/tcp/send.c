// SPDX-License-Identifier: MIT
// Data segments: which one is sent next, and its packet.
#include "transport/tcp/tcp.h"

/* ---- offload ---- */

// Segmentation offload: data leaves in bursts, and a burst may wait for more room in the window.
//
// Linux (tcp_tso_autosize(), tcp_tso_should_defer(); net/ipv4/tcp_output.c): a burst is what the
// pacing rate sends in 1/1024 s, at least two segments, and in networks with a short RTT more, up
// to the largest size. It waits while the window has room for less than it and for less than a
// third of the window, unless the next acknowledgement is far (the oldest segment is younger than
// half the RTT), nothing was sent for 1 ms, or a recovery goes on. A flow whose burst waits is
// limited by its window, although the window is not full.

#define LEAST_SEGMENTS 2  // tcp_min_tso_segs
#define WINDOW_SHARE 3    // tcp_tso_win_divisor
#define RTT_SHIFT 9       // tcp_tso_rtt_log: the largest size is halved for each 2^9 us of the RTT
#define IDLE_PS PS_PER_MS // after which nothing is deferred
#define AT_ONCE_PS (PS_PER_S >> 10) // sk_pacing_shift

// Returns the number of segments of a burst that begins now.
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

// Count a segment that has been sent of its burst.
static void tcp_burst_count(struct sender *s)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->burst_left == 0)
        t->burst_left = burst_now(s);
    t->burst_left--;
}

// Returns true if the next burst waits for more room in the window, which is not full.
static bool tcp_burst_waits(const struct sender *s, uint32_t in_flight, ps_t now)
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

/* ---- send ---- */

// Returns the payload of the next new segment. There must be one.
static uint32_t next_payload(const struct sender *s)
{
    const struct message *m = hosts_message(sender_hosts(s), s->sending);
    uint64_t left = m->start_byte + m->bytes - s->nxt_bytes;
    return left < s->dim->mtu_bytes ? (uint32_t)left : s->dim->mtu_bytes;
}

// The next segment must be in the send buffer too. Segments are never cut to fit into the receive
// window (silly window avoidance, RFC 9293, section 3.8.6.2).
bool tcp_fits_receiver(const struct sender *s)
{
    const struct tcp_sender *t = tcp_of(s);
    uint64_t buffered = s->una_bytes + t->buffer_bytes;
    uint64_t edge = t->edge < buffered ? t->edge : buffered;
    if (t->writes && tcp_writer_bytes(s) < edge)
        edge = tcp_writer_bytes(s);
    if (s->nxt_bytes + s->dim->mtu_bytes <= edge)
        return true;
    return s->nxt < s->tail && s->nxt_bytes + next_payload(s) <= edge;
}

// Update whether the window limits the flow (RFC 7661): it was full at any time since the data
// before usage_end was sent.
static void validate_window(const struct sender *s, bool limited)
{
    struct tcp_sender *t = tcp_of(s);
    uint32_t out = tcp_outstanding(s);
    if (s->una >= t->usage_end || limited || (!t->limited && out > t->max_out)) {
        t->limited = limited;
        t->max_out = out;
        t->usage_end = s->nxt;
    }
}

void tcp_update(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    uint32_t in_flight = tcp_in_flight(s);
    bool may = t->phase == TCP_ESTABLISHED, room = may && in_flight < t->cwnd;
    t->probe_due = t->probe_due && s->una < s->nxt; // an ACK may come while the probe waits
    s->special_due = may && (t->probe_due || (room && t->segs.pending > 0));
    bool fits = room && tcp_fits_receiver(s);
    // A full window ends the present burst.
    if (t->burst > 1 && !room)
        t->burst_left = 0;
    if (t->burst > 1 && fits && tcp_burst_waits(s, in_flight, now)) {
        validate_window(s, true);
        fits = false;
    }
    // struct sender compares bytes in flight with window_bytes. TCP's window is in segments and
    // decided above, so here it is either open or closed.
    s->window_bytes = fits ? UINT64_MAX : 0;
}

void tcp_on_window(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->state == TCP_REDUCING || t->state == TCP_RECOVERY)
        return; // the reduction moves the window towards the policy's
    t->cwnd = tcp_policy_window(s);
    if (!s->busy) // the event that makes a sender busy calls tcp_update() at its end
        tcp_update(s, now);
}

// Write segment `number` of message `m` to *p.
static void fill_segment(struct sender *s, struct message *m, uint64_t number, struct packet *p,
                         ps_t now)
{
    const struct transport_dim *dim = s->dim;
    struct meta_pool *pool = &dim->hosts->net->meta;
    const struct tcp_segment *seg = segment_at(&tcp_of(s)->segs, number);
    bool full = seg->bytes == dim->mtu_bytes;
    struct packet_sizes size = full ? dim->full : tcp_data_sizes(&dim->spec, seg->bytes, false);
    *p = (struct packet){.flow = s->flow,
                         .dst = s->dst_node,
                         .entropy = s->entropy,
                         .meta = meta_alloc(pool),
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_DATA,
                         .cls = s->cls};
    *meta_at(pool, p->meta) = (struct packet_meta){.sent_ps = now,
                                                   .token = m->token,
                                                   .seq = seg->end - seg->bytes,
                                                   .clock_ms = tcp_of(s)->peer_clock_ms,
                                                   .payload_bytes = seg->bytes,
                                                   .connection = tcp_of(s)->connection};
    if (tcp_of(s)->back)
        tcp_carry_ack(tcp_of(s)->back, p, now);
    if (number + 1 == message_end_seq(m))
        p->flags |= PACKET_LAST;
    tcp_of(s)->last_sent_ps = now;
    m->packets++;
}

static void fill_new(struct sender *s, struct packet *p, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    struct message *m = hosts_message(sender_hosts(s), s->sending);
    uint32_t payload = next_payload(s);
    segments_reserve(&t->segs, s->una, s->nxt);
    s->nxt_bytes += payload;
    *segment_at(&t->segs, s->nxt) = (struct tcp_segment){
        .sent_ps = now, .end = (uint32_t)s->nxt_bytes, .bytes = (uint16_t)payload};
    fill_segment(s, m, s->nxt, p, now);
    if (tcp_sender_spec(s)->ect)
        p->flags |= PACKET_ECT;
    if (t->cwr_due) {
        meta_at(&sender_hosts(s)->net->meta, p->meta)->tcp_control = TCP_CWR;
        t->cwr_due = false;
    }
    if (p->flags & PACKET_LAST)
        s->sending = m->next;
    s->max = ++s->nxt;
    validate_window(s, tcp_in_flight(s) >= t->cwnd);
    tcp_arm_for_data(s, false, now);
}

// Retransmit a segment. By RFC 3168, section 6.1.5, retransmissions are not ECN capable; those of
// DCTCP are.
static void fill_again(struct sender *s, uint64_t number, struct packet *p, ps_t now)
{
    const struct hosts *hosts = sender_hosts(s);
    uint32_t slot = s->oldest;
    while (message_end_seq(hosts_message(hosts, slot)) <= number)
        slot = hosts_message(hosts, slot)->next;
    struct message *m = hosts_message(hosts, slot);
    fill_segment(s, m, number, p, now);
    segment_resend(&tcp_of(s)->segs, number, now);
    s->cold.resends = tcp_of(s)->state == TCP_LOSS ? RESEND_TIMEOUT : RESEND_LOST;
    p->flags |= PACKET_RETX;
    if (tcp_sender_spec(s)->ect && s->dim->cc->needs & CC_NEEDS_CE_SHARE)
        p->flags |= PACKET_ECT;
    m->retransmitted++;
    sender_hosts(s)->counters.retransmitted++;
    tcp_counters(s)->retransmitted++;
    if (number == s->una && tcp_of(s)->timer != TCP_TIMER_REORDER)
        tcp_arm(s, TCP_TIMER_RTO, tcp_rto_ps(s), now);
}

// A tail loss probe is the next new segment, or else the last one sent (RFC 8985, section 7.3).
static void fill_probe(struct sender *s, struct packet *p, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    t->probe_due = false;
    t->tlp_is_retx = s->nxt == s->tail || !tcp_fits_receiver(s);
    if (t->tlp_is_retx)
        fill_again(s, s->nxt - 1, p, now);
    else
        fill_new(s, p, now);
    t->tlp_end = s->nxt;
    s->cold.resends = RESEND_PROBE;
    tcp_counters(s)->loss_probes++;
    tcp_arm(s, TCP_TIMER_RTO, tcp_rto_ps(s), now);
}

void tcp_fill(struct sender *s, struct packet *p, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->probe_due)
        fill_probe(s, p, now);
    else if (s->special_due)
        fill_again(s, segments_pending(&t->segs), p, now);
    else
        fill_new(s, p, now);
    if (t->state == TCP_REDUCING || t->state == TCP_RECOVERY)
        t->prr_out++;
    if (t->burst > 1)
        tcp_burst_count(s);
    tcp_update(s, now);
}
