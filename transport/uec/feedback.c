// SPDX-License-Identifier: MIT
// The sender's handling of ACKs, reports of trimmed packets, grants and timeouts.
#include "transport/uec/uec.h"

static void leave_flight(struct uec_sender *u, uint64_t bytes)
{
    u->in_flight_bytes -= bytes < u->in_flight_bytes ? bytes : u->in_flight_bytes;
}

static void tell_spray(struct uec_sender *u, uint32_t entropy, enum spray_report report, ps_t now)
{
    if (!u->single_path)
        spray_report(&u->spray, entropy, report, now);
}

/* ---- ACK ---- */

#define RESTORE_BIT 0x80

static void notify_ack(struct sender *s, uint64_t bytes, ps_t rtt_ps, bool ce, uint8_t penalty,
                       ps_t now)
{
    const struct uec_sender *u = uec_of(s);
    const struct cc_ack ack = {
        .now_ps = now,
        .rtt_ps = rtt_ps,
        .seq = s->una_bytes,
        .snd_una = s->una_bytes,
        .snd_nxt = s->nxt_bytes,
        .acked_bytes = (uint32_t)bytes,
        .ce_bytes = ce ? (uint32_t)bytes : 0,
        .ce = ce,
        .penalty = penalty & (RESTORE_BIT - 1),
        .restore = penalty & RESTORE_BIT,
        .inflight_bytes = u->in_flight_bytes,
        .window_limited = u->in_flight_bytes + bytes + s->dim->mtu_bytes >= s->cwnd_bytes,
    };
    s->cc->ops->on_ack(s->cc, &ack);
}

static void note_arrived(struct sender *s, uint64_t base, uint64_t bits)
{
    uint64_t una = s->una;
    if ((int64_t)(base - una) < 0) {
        bits = una - base < 64 ? bits >> (una - base) : 0;
        base = una;
    }
    flight_arrived(&uec_of(s)->flight, una, base, bits);
}

// A sample of the RTT, of packet `psn`. When the timeout becomes shorter, the timer starts anew.
static void note_rtt(struct sender *s, uint64_t psn, ps_t rtt_ps, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    ps_t decayed_ps = u->high_rtt_ps - (u->high_rtt_ps - rtt_ps) / 8;
    if (u->high_rtt_ps == 0)
        u->first_end = s->nxt;
    u->high_rtt_ps = rtt_ps > decayed_ps ? rtt_ps : decayed_ps;
    if (u->settled || psn < u->first_end)
        return;
    u->settled = true;
    if (u->adapts && s->rto_state != RTO_OFF)
        sender_rto_restart(s, uec_rto_ps(u), now);
}

static void on_ack(struct sender *s, const struct packet *p, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    const struct packet_meta meta = *meta_at(&sender_hosts(s)->net->meta, p->meta);
    uint64_t una = s->una, cumulative = seq_restore(meta.seq, una);
    uint64_t psn = una + (uint64_t)(int64_t)(int16_t)(uint16_t)(meta.acked - (uint16_t)una);
    bool ce = p->flags & PACKET_ECHO_CE;
    if (cumulative > s->max)
        return;
    // A packet that an earlier ACK has reported gives no RTT sample.
    bool sampled = psn >= una && psn < s->max && !psn_set_has(&u->flight.arrived, psn) &&
                   meta.sent_ps != PS_NEVER;
    uint64_t received = seq_restore(meta.received_bytes, u->received_bytes), bytes = 0;
    if (received > u->received_bytes) {
        bytes = received - u->received_bytes;
        u->received_bytes = received;
        leave_flight(u, bytes);
    }
    if (sampled)
        note_rtt(s, psn, now - meta.sent_ps, now);
    note_arrived(s, uec_bitmap_base(psn, cumulative), meta.sack_bits);
    if (cumulative > una) {
        flight_advance(&u->flight, una, cumulative);
        sender_progress(s);
        sender_acknowledge(s, cumulative, now);
    }
    tell_spray(u, meta.entropy, ce ? SPRAY_MARKED : SPRAY_GOOD, now);
    uec_credits_reported(s);
    if (s->cc_needs_acks)
        notify_ack(s, bytes, sampled ? now - meta.sent_ps : 0, ce, meta.penalty, now);
}

/* ---- NACK ---- */

static void on_nack(struct sender *s, const struct packet *p, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    const struct packet_meta *meta = meta_at(&sender_hosts(s)->net->meta, p->meta);
    uint64_t psn = seq_restore(meta->seq, s->una);
    bool last_hop = p->flags & PACKET_NAK_LAST_HOP, ce = p->flags & PACKET_ECHO_CE;
    tell_spray(u, meta->entropy, !last_hop ? SPRAY_LOST : ce ? SPRAY_MARKED : SPRAY_GOOD, now);
    uec_credits_reported(s);
    s->dim->hosts->counters.naks++;
    uec_dim(s->dim)->counters.nacks++;
    if (psn < s->una || psn >= s->max || !flight_is_open(&u->flight, psn))
        return;
    uint32_t bytes = meta->payload_bytes;
    const struct cc_signal signal = {.now_ps = now,
                                     .kind = CC_SIGNAL_TRIM,
                                     .snd_nxt = s->nxt_bytes,
                                     .inflight_bytes = u->in_flight_bytes,
                                     .bytes = bytes,
                                     .rtt_ps = now - meta->sent_ps,
                                     .last_hop = last_hop};
    psn_set_add(&u->flight.lost, s->una, psn);
    leave_flight(u, bytes);
    s->cold.resends = RESEND_NAK;
    if (s->cc->ops->on_signal)
        s->cc->ops->on_signal(s->cc, &signal);
}

/* ---- timeout ---- */

// The packets in flight, as a timeout finds them.
struct expired {
    uint64_t lost, lost_bytes; // packets whose timeout has expired
    uint64_t open;             // packets whose timeout has not expired
    ps_t next_ps;              // until the next timeout expires; PS_NEVER = none is open
};

// Mark every packet as lost whose timeout has expired. Packets that have arrived may have been
// taken for lost before a report came; then in_flight_bytes is too large, and it is corrected here.
static struct expired expire(struct sender *s, ps_t rto_ps, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    struct expired e = {.next_ps = PS_NEVER};
    for (uint64_t psn = s->una; psn < s->max; psn++) {
        if (!flight_is_open(&u->flight, psn))
            continue;
        ps_t left = flight_sent_ps(&u->flight, psn) + rto_ps - now;
        if (left > 0) {
            e.open++;
            e.next_ps = left < e.next_ps ? left : e.next_ps;
            continue;
        }
        uint32_t payload = uec_payload_of(s, psn);
        psn_set_add(&u->flight.lost, s->una, psn);
        leave_flight(u, payload);
        tell_spray(u, flight_entropy(&u->flight, psn), SPRAY_GONE, now);
        e.lost_bytes += payload;
        e.lost++;
    }
    uint64_t most = e.open * s->dim->mtu_bytes;
    if (u->in_flight_bytes > most)
        u->in_flight_bytes = most;
    return e;
}

static void signal_timeout(struct sender *s, uint64_t bytes, ps_t now)
{
    const struct cc_signal signal = {.now_ps = now,
                                     .kind = CC_SIGNAL_TIMEOUT,
                                     .snd_nxt = s->nxt_bytes,
                                     .inflight_bytes = uec_of(s)->in_flight_bytes,
                                     .bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX};
    if (s->cc->ops->on_signal)
        s->cc->ops->on_signal(s->cc, &signal);
}

// Send packets again that were sent at least `rto_ps` ago.
static void time_out(struct sender *s, ps_t rto_ps, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    struct expired e = expire(s, rto_ps, now);
    if (e.lost > 0) {
        sender_count_timeout(s);
        uec_dim(s->dim)->counters.timeouts++;
        s->cold.resends = RESEND_TIMEOUT;
        tell_spray(u, 0, SPRAY_TIMEOUT, now);
        signal_timeout(s, e.lost_bytes, now);
    }
    sender_apply_cc(s, now);
    uec_update(s);
    bool waits = s->una < s->tail, asks = waits && u->credits.on && u->credits.left <= 0;
    // An unanswered request counts like an unacknowledged packet.
    if ((e.lost > 0 || (asks && e.open == 0)) &&
        sender_retry(s) >= uec_spec_const(&s->dim->spec)->retry_limit) {
        sender_fail(s, now);
        return;
    }
    if (asks)
        uec_send_request(s, now);
    if (waits && s->rto_state == RTO_OFF)
        sender_rto_restart(s, ps_shorter(e.next_ps, uec_rto_ps(u)), now);
}

void uec_on_timeout(struct sender *s, ps_t now) { time_out(s, uec_rto_ps(uec_of(s)), now); }

void uec_on_path_lost(struct sender *s, ps_t now) { time_out(s, 0, now); }

void uec_on_failed(struct sender *s, ps_t now)
{
    (void)now;
    flight_clear(&uec_of(s)->flight);
    uec_credits_count(s);
    uec_of(s)->in_flight_bytes = 0;
    s->window_bytes = 0;
}

/* ---- any packet of the receiver ---- */

void uec_on_feedback(struct sender *s, struct packet *p, ps_t now)
{
    if (s->failed)
        return;
    if (p->kind == PACKET_CREDIT)
        uec_credits_granted(s, meta_at(&sender_hosts(s)->net->meta, p->meta)->seq);
    else if (p->flags & PACKET_NAK)
        on_nack(s, p, now);
    else
        on_ack(s, p, now);
    if (s->una == s->tail) {
        uec_of(s)->in_flight_bytes = 0;
        sender_rto_stop(s);
    }
    sender_apply_cc(s, now);
    uec_update(s);
    uec_ask_if_blocked(s, now);
    uec_credits_count(s);
    if (s->una < s->tail)
        uec_probe(s, now);
}
