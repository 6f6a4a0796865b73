// SPDX-License-Identifier: MIT
// ACKs at the sender: the scoreboard, RTT samples, and the calls of recovery, policy and timer.
#include "transport/tcp/tcp.h"

// A segment has arrived. `cumulative`: the ACK covers it, instead of a SACK block.
static void count_delivered(struct sender *s, uint64_t number, struct tcp_ack_facts *facts,
                            bool cumulative, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    struct tcp_segment *seg = segment_at(&t->segs, number);
    segment_delivered(&t->segs, seg);
    facts->delivered++;
    facts->delivered_bytes += seg->bytes;
    tcp_rack_delivered(t, seg, number, now);
    if (seg->state & SEGMENT_RESENT) { // its RTT is ambiguous (Karn's rule, RFC 6298, section 3)
        facts->resent |= cumulative;
    } else if (cumulative) {
        facts->last_rtt_ps = now - seg->sent_ps;
        if (facts->first_rtt_ps < 0)
            facts->first_rtt_ps = facts->last_rtt_ps;
    } else {
        facts->last_sack_rtt_ps = now - seg->sent_ps;
        if (facts->sack_rtt_ps < 0)
            facts->sack_rtt_ps = facts->last_sack_rtt_ps;
    }
}

/* ---- SACK ---- */

static bool block_within(const struct sack_block *inner, const struct sack_block *outer)
{
    return (int32_t)(inner->start - outer->start) >= 0 && (int32_t)(outer->end - inner->end) >= 0;
}

// The first block reports a duplicate if data of it is already acknowledged, by the ACK or by the
// second block (RFC 2883).
static bool is_dsack(const struct sack_block *blocks, unsigned n, uint32_t ack)
{
    return (int32_t)(ack - blocks[0].end) >= 0 || (n > 1 && block_within(&blocks[0], &blocks[1]));
}

// A block that has grown since the last ACK is read from its old end on.
static uint32_t unread_from(const struct tcp_sender *t, const struct sack_block *block)
{
    for (unsigned i = 0; i < t->n_seen; i++)
        if (block_within(&t->seen[i], block) && t->seen[i].start == block->start)
            return t->seen[i].end;
    return block->start;
}

static void read_block(struct sender *s, const struct sack_block *block,
                       struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    uint64_t number = segments_find(&t->segs, s->una, s->nxt, unread_from(t, block));
    for (; number < s->nxt; number++) {
        struct tcp_segment *seg = segment_at(&t->segs, number);
        if ((int32_t)(block->end - seg->end) < 0)
            return;
        if (seg->state & SEGMENT_SACKED)
            continue;
        count_delivered(s, number, facts, false, now);
        seg->state = (uint8_t)((seg->state & SEGMENT_RESENT) | SEGMENT_SACKED);
        t->segs.sacked++;
        facts->sacked = true;
    }
}

static void read_sacks(struct sender *s, const struct packet_meta *meta,
                       const struct sack_block *blocks, struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    unsigned n = meta->n_sacks, first = 0;
    if (is_dsack(blocks, n, meta->seq)) {
        uint32_t bytes = blocks[0].end - blocks[0].start;
        facts->dsack = true;
        tcp_counters(s)->spurious += (bytes + s->dim->mtu_bytes - 1) / s->dim->mtu_bytes;
        tcp_rack_dsack(s);
        first = 1;
    }
    for (unsigned i = n; i-- > first;) // the newest block comes first and has the highest numbers
        read_block(s, &blocks[i], facts, now);
    t->n_seen = (uint8_t)(n - first);
    for (unsigned i = first; i < n; i++)
        t->seen[i - first] = blocks[i];
}

// Returns the most segments that can have arrived out of order: the outstanding ones except known
// holes (at least one). Without SACK their number is an estimate, which needs this limit.
static uint32_t most_sacked(const struct tcp_segments *segs, uint64_t outstanding)
{
    uint64_t holes = segs->lost > 0 ? segs->lost : 1;
    return outstanding > holes ? (uint32_t)(outstanding - holes) : 0;
}

// Without SACK each duplicate ACK stands for a segment that has arrived (RFC 6582).
static void count_duplicates(struct sender *s, uint64_t acked, struct tcp_ack_facts *facts)
{
    struct tcp_segments *segs = &tcp_of(s)->segs;
    uint32_t mss = s->dim->mtu_bytes, most = most_sacked(segs, tcp_outstanding(s) - acked);
    if (acked > 0) {
        uint64_t known = segs->sacked < acked - 1 ? segs->sacked : acked - 1;
        facts->delivered = (uint32_t)(acked - known);
        facts->delivered_bytes -= facts->delivered_bytes > known * mss ? known * mss : 0;
        segs->sacked -= (uint32_t)known;
        segs->sacked = segs->sacked < most ? segs->sacked : most;
    } else if (facts->duplicate && segs->sacked < most) {
        segs->sacked++;
        facts->delivered++;
        facts->delivered_bytes += mss;
    }
}

/* ---- the cumulative ACK ---- */

// All bytes before `ack` have arrived.
static void acknowledge(struct sender *s, uint64_t ack, struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    bool sack = tcp_sender_spec(s)->sack;
    uint64_t number = s->una;
    for (; number < s->nxt; number++) {
        const struct tcp_segment *seg = segment_at(&t->segs, number);
        if ((int32_t)((uint32_t)ack - seg->end) < 0)
            break;
        if (seg->state & SEGMENT_SACKED)
            t->segs.sacked--;
        else
            count_delivered(s, number, facts, true, now);
    }
    uint64_t acked = number - s->una;
    facts->advanced = acked > 0;
    if (facts->resent)
        facts->first_rtt_ps = facts->last_rtt_ps = -1;
    if (t->segs.retx_from < number)
        t->segs.retx_from = number;
    if (!sack)
        count_duplicates(s, acked, facts);
    if (acked > 0) {
        sender_acknowledge(s, number, now);
        tcp_buffer_update(s, now);
    }
}

// The rule of packet analysers: an ACK without data that repeats number and window of the last one,
// while the window is open (RFC 5681 also requires outstanding data).
static void note_duplicate(struct sender *s, const struct packet_meta *meta,
                           struct tcp_ack_facts *facts)
{
    struct tcp_sender *t = tcp_of(s);
    bool repeats = !(meta->tcp_control & (TCP_SYN | TCP_FIN | TCP_RST)) &&
                   meta->seq == t->last_ack && meta->window_bytes == t->last_window_bytes &&
                   meta->window_bytes > 0;
    tcp_counters(s)->duplicate_acks += repeats;
    facts->duplicate = repeats && s->nxt > s->una;
    t->last_ack = meta->seq;
    t->last_window_bytes = meta->window_bytes;
}

static void sample_rtt(struct sender *s, const struct packet_meta *meta,
                       struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    ps_t rtt_ps = facts->first_rtt_ps >= 0 ? facts->first_rtt_ps : facts->sack_rtt_ps;
    if (rtt_ps < 0 && facts->advanced && tcp_sender_spec(s)->timestamps)
        rtt_ps = now - meta->sent_ps;
    if (facts->sack_rtt_ps >= 0)
        facts->last_rtt_ps = facts->last_sack_rtt_ps;
    if (facts->last_rtt_ps < 0)
        facts->last_rtt_ps = rtt_ps;
    if (rtt_ps < 0)
        return;
    if (facts->last_rtt_ps < t->min_rtt_ps)
        t->min_rtt_ps = facts->last_rtt_ps;
    tcp_rtt_sample(s, rtt_ps);
}

/* ---- policy and timer ---- */

static void notify_policy(struct sender *s, const struct tcp_ack_facts *facts, ps_t now)
{
    const struct tcp_sender *t = tcp_of(s);
    bool reducing = t->state == TCP_REDUCING || t->state == TCP_RECOVERY;
    // In slow start a window counts as used that is less than twice what was outstanding
    // (tcp_is_cwnd_limited()), also after a timeout, when all that is sent may be retransmissions.
    bool slow = t->ssthresh == UINT32_MAX || t->state == TCP_LOSS;
    bool starting = slow && t->cwnd < 2 * (uint64_t)t->max_out;
    if (!s->cc->ops->on_ack || facts->delivered == 0)
        return;
    uint64_t bytes = tcp_sender_spec(s)->packet_counting
                         ? (uint64_t)facts->delivered * s->dim->mtu_bytes
                         : facts->delivered_bytes;
    const struct cc_ack ack = {
        .now_ps = now,
        .rtt_ps = facts->last_rtt_ps >= 0 ? facts->last_rtt_ps : t->srtt_ps,
        .seq = s->una_bytes,
        .snd_una = s->una_bytes,
        .snd_nxt = s->nxt_bytes,
        .acked_bytes = (uint32_t)bytes,
        .ce_bytes = facts->ece ? (uint32_t)bytes : 0,
        .inflight_bytes = (uint64_t)tcp_in_flight(s) * s->dim->mtu_bytes,
        .recovering = reducing || !facts->advanced,
        .window_limited = t->limited || starting,
    };
    s->cc->ops->on_ack(s->cc, &ack);
    sender_apply_cc(s, now);
}

static void set_pace(struct sender *s)
{
    const struct tcp_sender *t = tcp_of(s);
    if (t->srtt_ps == 0 || t->cwnd == UINT32_MAX)
        return;
    double ratio = tcp_pacing_tenths(t) / 10.0;
    double bits = ratio * t->cwnd * s->dim->full.wire * 8;
    double bps = bits * (double)PS_PER_S / (double)t->srtt_ps + 1;
    sender_cap_pace(s, bps < 1e18 ? (uint64_t)bps : UINT64_MAX);
}

static void set_timer(struct sender *s, const struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (s->una < s->nxt) {
        if (facts->advanced && !facts->timer_set)
            tcp_arm_for_data(s, true, now);
        return;
    }
    t->probe_due = false; // the probe that waits for the NIC is no longer needed
    if (!tcp_arm_for_window(s, now)) {
        sender_rto_stop(s);
        t->backoff = 0;
    }
}

// A tail loss probe that repaired a loss has hidden it from the policy, if ACKs go beyond the probe
// without a report that it was a duplicate (RFC 8985, section 7.4.2).
static void end_probe(struct sender *s, const struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (s->una < t->tlp_end)
        return;
    if (!t->tlp_is_retx || facts->dsack) {
        t->tlp_end = 0;
    } else if (s->una > t->tlp_end) {
        t->tlp_end = 0;
        tcp_cut(s, CC_SIGNAL_DUPACK, now);
    } else if (facts->duplicate && !facts->sacked) {
        t->tlp_end = 0;
    }
}

static void on_ack(struct sender *s, const struct packet_meta *meta,
                   const struct sack_block *blocks, struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    uint64_t ack = seq_restore(meta->seq, s->una_bytes);
    if (ack < s->una_bytes)
        return;
    t->peer_clock_ms = meta->clock_ms;
    if (ack + meta->window_bytes > t->edge)
        t->edge = ack + meta->window_bytes;
    bool outstanding = s->una < s->nxt;
    t->rack_advanced = false;
    if (meta->n_sacks > 0)
        read_sacks(s, meta, blocks, facts, now);
    else
        t->n_seen = 0;
    acknowledge(s, ack, facts, now);
    if (facts->advanced)
        sender_progress(s);
    sample_rtt(s, meta, facts, now);
    if (t->tlp_end > 0)
        end_probe(s, facts, now);
    if (outstanding && (t->state != TCP_OPEN || facts->sacked || facts->duplicate || facts->ece))
        tcp_recover(s, facts, now);
    notify_policy(s, facts, now);
    set_timer(s, facts, now);
    if (tcp_sender_spec(s)->pacing)
        set_pace(s);
}

void tcp_on_feedback(struct sender *s, struct packet *p, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    struct packet_meta meta = *meta_at(&sender_hosts(s)->net->meta, p->meta);
    unsigned own = meta.n_sacks > 0 && sender_id(s)->duplex ? TCP_OWN_NUMBER : 0;
    meta.n_sacks = (uint8_t)(meta.n_sacks - own);
    if (s->failed || meta.connection != t->connection)
        return;
    if (t->phase == TCP_CLOSED) {
        if (meta.tcp_control & TCP_FIN) // the ACK of the first one was lost
            tcp_on_peer_fin(s, now);
        return;
    }
    struct hosts *hosts = sender_hosts(s);
    if (p->flags & PACKET_HELD)
        hosts->acking = meta_held(&hosts->net->meta, p->meta);
    struct tcp_ack_facts facts = {
        .first_rtt_ps = -1, .last_rtt_ps = -1, .sack_rtt_ps = -1, .ece = p->flags & PACKET_ECHO_CE};
    if (!(meta.tcp_control & TCP_SYN))
        note_duplicate(s, &meta, &facts);
    if ((meta.tcp_control == 0 && t->phase == TCP_ESTABLISHED) || tcp_on_control(s, &meta, now))
        on_ack(s, &meta, meta.n_sacks > 0 ? meta_sacks(&hosts->net->meta, p->meta) + own : NULL,
               &facts, now);
    if (meta.tcp_control & TCP_FIN)
        tcp_on_peer_fin(s, now);
    if (t->phase == TCP_ESTABLISHED && s->una == s->tail)
        tcp_finish(s, now);
    tcp_update(s, now);
    if (hosts->acking.timer)
        sender_time_ack_held(s, hosts->acking.made_ps - hosts->acking.owed_ps, now);
    hosts->acking = (struct meta_held){0};
}

// An ACK that comes with data is no duplicate (RFC 5681, section 2).
void tcp_on_carried(struct sender *s, const struct packet *p, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    struct meta_pool *pool = &sender_hosts(s)->net->meta;
    const struct packet_meta *data = meta_at(pool, p->meta);
    const struct sack_block *blocks = meta_sacks(pool, p->meta);
    if (s->failed || t->phase != TCP_ESTABLISHED)
        return;
    const struct packet_meta ack = {.sent_ps =
                                        (ps_t)((uint64_t)blocks[1].end << 32 | blocks[1].start),
                                    .window_bytes = blocks[0].end,
                                    .seq = blocks[0].start,
                                    .clock_ms = (uint32_t)(data->sent_ps / PS_PER_MS),
                                    .n_sacks = (uint8_t)(data->n_sacks - TCP_CARRIED)};
    struct tcp_ack_facts facts = {
        .first_rtt_ps = -1, .last_rtt_ps = -1, .sack_rtt_ps = -1, .ece = p->flags & PACKET_ECHO_CE};
    t->last_ack = ack.seq;
    t->last_window_bytes = ack.window_bytes;
    on_ack(s, &ack, blocks + TCP_CARRIED, &facts, now);
    if (s->una == s->tail)
        tcp_finish(s, now);
    tcp_update(s, now);
}

void tcp_on_written(struct sender *s, uint64_t bytes, ps_t now)
{
    (void)bytes;
    sender_time_written(s, now);
    tcp_buffer_update(s, now);
    tcp_update(s, now);
}
