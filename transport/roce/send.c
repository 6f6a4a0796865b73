// SPDX-License-Identifier: MIT
// The sender of a queue pair: data packets, reactions to ACK, NAK and CNP, go-back-N, timeouts.
#include "transport/roce/roce.h"

static const struct roce_spec *spec_of(const struct sender *s)
{
    return roce_spec_const(&s->dim->spec);
}

// The first timeout of a queue pair where the NIC adapts them: drawn, so that queue pairs that have
// lost packets at the same time do not start again at the same time.
static ps_t first_rto_ps(const struct sender *s)
{
    const struct roce_spec *spec = spec_of(s);
    const struct flow_id *id = sender_id(s);
    uint64_t draw = hash_mix(sender_hosts(s)->net->engine->seed + ((uint64_t)id->number << 32) +
                             hash_mix(id->src));
    return spec->rto_adaptive_ps + (ps_t)(draw % (uint64_t)spec->rto_adaptive_ps);
}

// The timeout after `timeouts` of them without progress.
static ps_t rto_after_ps(const struct sender *s, uint32_t timeouts)
{
    const struct roce_spec *spec = spec_of(s);
    ps_t rto_ps = spec->rto_adaptive_ps > 0 ? first_rto_ps(s) : spec->rto_ps;
    while (timeouts-- > 0 && rto_ps < spec->rto_ps)
        rto_ps *= 2;
    return rto_ps < spec->rto_ps ? rto_ps : spec->rto_ps;
}

// The number of timeouts without progress that are shorter than `rto`.
static uint32_t early_timeouts(const struct sender *s)
{
    uint32_t n = 0;
    while (rto_after_ps(s, n) < spec_of(s)->rto_ps)
        n++;
    return n;
}

// The timer runs while a requested ACK is outstanding, as in Linux's drivers qib and hfi1: with an
// ACK for many packets, and with many senders at one NIC, the first of these packets may leave long
// before the one that requests the ACK. While no ACK is requested the sender always has a packet to
// send (sender_may_send), and the last packet of a message requests one.
static void restart_rto(struct sender *s, ps_t now)
{
    const struct roce_spec *spec = spec_of(s);
    if (spec->recovery == RECOVERY_SELECTIVE_REPEAT)
        sender_rto_restart(s, roce_selective_rto_ps(s), now);
    else if (spec->recovery == RECOVERY_GO_BACK_N)
        sender_rto_restart(
            s, spec->rto_adaptive_ps > 0 ? rto_after_ps(s, s->retries) : spec->rto_ps, now);
}

// Packets have been lost: the rate of a NIC with slow restart falls, and climbs again.
static void lost(struct sender *s, ps_t now)
{
    const struct roce_spec *spec = spec_of(s);
    if (spec->slow_restart_ps > 0)
        sender_slow_restart(s, spec->slow_restart_share, spec->slow_restart_ps, now);
}

/* ---- sending ---- */

// Add INT records, and the path of a sprayed packet.
__attribute__((noinline)) static void add_options(struct sender *s, struct packet *p, ps_t now)
{
    const struct flow_id *id = sender_id(s);
    if (s->dim->int_records)
        meta_enable_int(&sender_hosts(s)->net->meta, p->meta);
    if (!s->dim->sprays)
        return;
    uint32_t entropy = spray_next(&roce_selective_of(s)->spray, now);
    uint32_t connection = s->dim->hash_connection ? id->dst_conn : 0;
    meta_at(&sender_hosts(s)->net->meta, p->meta)->entropy = (uint16_t)entropy;
    p->entropy = header_entropy(id->src, id->dst, id->src_port | entropy, connection);
}

// Pass the receiver's report on a packet to the choice of entropies.
__attribute__((noinline)) static void report_path(struct sender *s, const struct packet *p,
                                                  ps_t now)
{
    const struct packet_meta *meta = meta_at(&sender_hosts(s)->net->meta, p->meta);
    enum spray_report report = p->flags & PACKET_ECHO_CE ? SPRAY_MARKED : SPRAY_GOOD;
    if (p->flags & PACKET_NAK && p->flags & PACKET_TRIM_REPORT)
        report = SPRAY_LOST;
    spray_report(&roce_selective_of(s)->spray, meta->entropy, report, now);
}

// The last packet of an RDMA WRITE with immediate is four bytes longer.
static void add_immediate(const struct sender *s, const struct message *m, struct packet *p,
                          struct packet_meta *meta)
{
    enum { IMMEDIATE = 4 };
    if (!sender_id(s)->immediate)
        return;
    meta->message_bytes = m->bytes < UINT32_MAX ? (uint32_t)m->bytes : UINT32_MAX;
    p->frame_bytes += IMMEDIATE;
    if (s->dim->spec.overhead == OVERHEAD_ETHERNET)
        p->wire_bytes += IMMEDIATE;
}

// Write packet `psn` of message `m` to *p and return its payload bytes.
static uint32_t fill_packet(struct sender *s, struct message *m, uint64_t psn, struct packet *p,
                            ps_t now)
{
    const struct transport_dim *dim = s->dim;
    struct hosts *hosts = dim->hosts;
    uint64_t offset = (psn - m->first_seq) * dim->mtu_bytes, left = m->bytes - offset;
    bool first = psn == m->first_seq, last = psn + 1 == message_end_seq(m);
    uint32_t payload = left < dim->mtu_bytes ? (uint32_t)left : dim->mtu_bytes;
    // Packets inside a message are full, so their size is known in advance.
    struct packet_sizes size =
        first || last ? roce_data_sizes(&dim->spec, payload, first) : dim->full;
    struct meta_pool *pool = &hosts->net->meta;
    *p = (struct packet){.flow = s->flow,
                         .dst = s->dst_node,
                         .entropy = s->entropy,
                         .meta = meta_alloc(pool),
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_DATA,
                         .cls = s->cls,
                         .flags = s->cls == NET_CLASS_CONTROL ? 0 : PACKET_ECT};
    struct packet_meta *meta = meta_at(pool, p->meta);
    *meta = (struct packet_meta){.sent_ps = now,
                                 .token = m->token,
                                 .seq = (uint32_t)psn,
                                 .payload_bytes = (uint16_t)payload,
                                 .entropy = roce_path_bits(s->path)};
    if (dim->int_records | dim->sprays)
        add_options(s, p, now);
    if (first) {
        p->flags |= PACKET_FIRST;
        meta->message_bytes = m->bytes < UINT32_MAX ? (uint32_t)m->bytes : UINT32_MAX;
    }
    if (last) {
        p->flags |= PACKET_LAST;
        add_immediate(s, m, p, meta);
    }
    if (psn < s->max) {
        p->flags |= PACKET_RETX;
        m->retransmitted++;
        hosts->counters.retransmitted++;
    }
    m->packets++;
    return payload;
}

static void fill_new(struct sender *s, struct packet *p, ps_t now)
{
    struct message *m = hosts_message(sender_hosts(s), s->sending);
    uint32_t payload = fill_packet(s, m, s->nxt, p, now);
    if (p->flags & PACKET_LAST)
        s->sending = m->next;
    s->nxt++;
    s->nxt_bytes += payload;
    if (s->nxt > s->max)
        s->max = s->nxt;
    // Besides every packets_per_ack-th packet, the last packet of a message and the last packet
    // that the window permits request an ACK, because no later packet would do so.
    bool more = s->nxt < s->tail && sender_window_open(s);
    if (--s->until_ackreq == 0 || !more || p->flags & PACKET_LAST) {
        p->flags |= PACKET_ACKREQ;
        s->ackreq_end = s->nxt;
        s->until_ackreq = s->dim->packets_per_ack;
    }
}

// Retransmit one lost packet with AckReq set, so that the sender learns the receiver's state at
// once.
static void fill_lost(struct sender *s, struct packet *p, ps_t now)
{
    const struct hosts *hosts = sender_hosts(s);
    uint64_t psn = roce_selective_next(s);
    uint32_t slot = s->oldest;
    while (message_end_seq(hosts_message(hosts, slot)) <= psn)
        slot = hosts_message(hosts, slot)->next;
    fill_packet(s, hosts_message(hosts, slot), psn, p, now);
    p->flags |= PACKET_ACKREQ;
}

void roce_fill(struct sender *s, struct packet *p, ps_t now)
{
    if (s->special_due)
        fill_lost(s, p, now);
    else
        fill_new(s, p, now);
    if (s->rto_state == RTO_OFF && p->flags & PACKET_ACKREQ)
        restart_rto(s, now);
}

/* ---- recovery ---- */

static void go_back(struct sender *s)
{
    s->nxt = s->una;
    s->nxt_bytes = s->una_bytes;
    s->sending = s->oldest;
    s->ackreq_end = s->una;
    s->until_ackreq = 1; // the first packet requests an ACK, so that the sender learns the
                         // receiver's state
}

void roce_on_timeout(struct sender *s, ps_t now)
{
    const struct roce_spec *spec = spec_of(s);
    sender_count_timeout(s);
    s->cold.resends = RESEND_TIMEOUT;
    // The queue pair fails after retry_limit timeouts in a row without progress.
    if (sender_retry(s) >= spec->retry_limit + early_timeouts(s)) {
        sender_fail(s, now);
        return;
    }
    if (s->dim->sprays)
        spray_report(&roce_selective_of(s)->spray, 0, SPRAY_TIMEOUT, now);
    if (spec->recovery == RECOVERY_SELECTIVE_REPEAT)
        roce_selective_timeout(s);
    else
        go_back(s);
    lost(s, now);
    if (sender_signal(s, CC_SIGNAL_TIMEOUT, false, now))
        sender_apply_cc(s, now);
    restart_rto(s, now);
}

/* ---- feedback ---- */

// A packet has arrived without its payload. The report has come by the control class, ahead of
// ACKs, so it implies nothing about other packets. It shows that the path works, so the timeout
// starts again.
static void on_trim_report(struct sender *s, const struct packet *p, ps_t now)
{
    const struct packet_meta *meta = meta_at(&sender_hosts(s)->net->meta, p->meta);
    if (s->failed)
        return;
    if (s->dim->sprays)
        report_path(s, p, now);
    if (roce_selective_trimmed(s, seq_restore(meta->sack_seq, s->una)) &&
        sender_signal(s, CC_SIGNAL_NACK, false, now))
        sender_apply_cc(s, now);
    if (s->rto_state != RTO_OFF)
        restart_rto(s, now);
}

static void on_ack(struct sender *s, const struct packet *p, ps_t now)
{
    const enum recovery recovery = (enum recovery)spec_of(s)->recovery;
    const struct packet_meta *meta = meta_at(&sender_hosts(s)->net->meta, p->meta);
    uint64_t una = s->una, psn = seq_restore(meta->seq, una);
    if (s->failed || psn < una || psn > s->max)
        return;
    if (recovery == RECOVERY_SELECTIVE_REPEAT && s->dim->sprays)
        report_path(s, p, now);
    bool nak = p->flags & PACKET_NAK, advanced = psn > una, cc_notified = false;
    uint64_t acked = advanced ? sender_acknowledge(s, psn, now) : 0;
    if (recovery == RECOVERY_SELECTIVE_REPEAT && roce_selective_ack(s, p, una)) {
        sender_signal(s, CC_SIGNAL_NACK, false, now);
        cc_notified = true;
        lost(s, now);
    }
    if (advanced) {
        sender_progress(s);
        if (s->una >= s->ackreq_end)
            sender_rto_stop(s);
        else
            restart_rto(s, now);
    }
    if (nak && recovery == RECOVERY_GO_BACK_N) {
        go_back(s);
        s->cold.resends = RESEND_NAK;
        lost(s, now);
        sender_signal(s, CC_SIGNAL_NACK, false, now);
        cc_notified = true;
    }
    if (s->cc_needs_acks && (!nak || acked > 0)) {
        sender_notify_ack(s, p, acked, now);
        cc_notified = true;
    }
    // With path_due, the last packets of the old path may have been acknowledged by now, so that
    // the new path can be taken.
    if (cc_notified || s->path_due)
        sender_apply_cc(s, now);
    if (advanced && s->una == s->tail)
        hosts_connection_idle(sender_hosts(s), s);
}

// Returns true if the marked packet belonged to an earlier, closed connection on this sender's
// memory.
static bool is_of_closed(const struct sender *s, const struct packet *p)
{
    const struct hosts *hosts = sender_hosts(s);
    if (!s->dim->fresh_connections)
        return false;
    uint64_t psn = seq_restore(meta_at(&hosts->net->meta, p->meta)->seq, s->una);
    return s->oldest == MESSAGE_NIL || psn < hosts_message(hosts, s->oldest)->first_seq;
}

// The rate limiter belongs to the queue pair, not to a message, so a CNP takes effect even if
// nothing is in flight (the notification point may send it up to an interval after the mark). In
// that case no message counts it.
static void on_cnp(struct sender *s, const struct packet *p, ps_t now)
{
    if (s->failed || is_of_closed(s, p))
        return;
    if (s->oldest != MESSAGE_NIL)
        hosts_message(sender_hosts(s), s->sending != MESSAGE_NIL ? s->sending : s->oldest)->cnps++;
    if (sender_signal(s, CC_SIGNAL_CNP, false, now))
        sender_apply_cc(s, now);
}

void roce_on_feedback(struct sender *s, struct packet *p, ps_t now)
{
    if (p->kind == PACKET_ACK && (p->flags & PACKET_TRIM_REPORT))
        on_trim_report(s, p, now);
    else if (p->kind == PACKET_ACK)
        on_ack(s, p, now);
    else
        on_cnp(s, p, now);
}

// Payload that fills the path at the rate of the port.
static double flight_bytes(const struct sender *s)
{
    const struct cc_env *env = sender_env(s);
    return (double)env->line_bps / 8e12 * (double)env->base_rtt_ps;
}

bool roce_quiet(const struct sender *s)
{
    return !s->failed && s->retries == 0 && s->pace_q == 0 &&
           (double)s->window_bytes >= flight_bytes(s);
}

uint64_t roce_cut(struct sender *s, uint64_t token)
{
    const struct transport_dim *dim = s->dim;
    if (s->failed || s->busy || s->special_due || s->path_due || dim->fresh_connections ||
        s->sending == MESSAGE_NIL || s->nxt != s->max || !sender_window_open(s))
        return 0;
    struct message *m = hosts_message(sender_hosts(s), s->sending);
    uint64_t end = s->nxt + 1, packets = end - m->first_seq;
    double waiting = (double)(dim->packets_per_ack + 2) * dim->mtu_bytes;
    if (m->next != MESSAGE_NIL || s->nxt == m->first_seq || end >= message_end_seq(m) ||
        (double)(s->nxt_bytes - s->una_bytes) > 1.25 * flight_bytes(s) + waiting)
        return 0;
    uint64_t left = m->bytes - packets * dim->mtu_bytes;
    m->bytes -= left;
    m->n_seq = packets;
    m->token = token;
    s->tail = end;
    return left;
}
