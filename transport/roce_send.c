// SPDX-License-Identifier: MIT
// The sender of a queue pair: next packet, ACK, NAK, go-back-N, retransmission timer, pacing.
#include "transport/roce.h"

#define PACE_SHIFT 16 // fraction bits of ps per wire byte: 1 Kbps times 9 KB fits

static ps_t pace_gap(const struct qp_sender *s, uint32_t wire_bytes)
{
    return (ps_t)(wire_bytes * s->pace_q >> PACE_SHIFT);
}

void roce_cc_moved(struct roce *roce, uint32_t index, ps_t now)
{
    struct qp *qp = qp_at(&roce->qps, index);
    struct qp_sender *s = &qp->snd;
    const struct cc *cc = qp_cc(s);
    bool cut = cc->cwnd_bytes < s->cwnd_seen_bytes || cc->rate_bps < s->pace_rate_bps;
    roce->cc_cuts += cut;
    s->cwnd_seen_bytes = cc->cwnd_bytes;
    if (cc->rate_bps != s->pace_rate_bps) {
        s->pace_rate_bps = cc->rate_bps;
        s->pace_q = cc->rate_bps >= s->env.line_bps
                        ? 0
                        : (uint64_t)(((UINT64_C(8000000000000) << PACE_SHIFT) + cc->rate_bps / 2) /
                                     cc->rate_bps);
        s->next_send_ps = s->last_start_ps + pace_gap(s, s->last_wire_bytes);
        if (s->place == QP_PACED) {
            nic_repace(&roce->nics[s->nic], &roce->qps, index);
            port_kick(roce->net, s->port, now);
        }
    }
    ps_t due = cc->timer_at_ps[0] < cc->timer_at_ps[1] ? cc->timer_at_ps[0] : cc->timer_at_ps[1];
    if (due != s->cc_timer.at_ps) {
        if (due == PS_NEVER)
            sim_timer_stop(&s->cc_timer);
        else
            sim_timer_start(roce->net->engine, &s->cc_timer, due);
    }
}

// Report an event to the policy. False where it has no hook for signals, and so cannot have moved.
static bool signal_cc(struct qp_sender *s, enum cc_signal_kind kind, ps_t now)
{
    struct cc *cc = qp_cc(s);
    if (!cc->ops->on_signal)
        return false;
    const struct cc_signal signal = {.now_ps = now, .kind = kind, .snd_nxt = s->nxt_bytes};
    cc->ops->on_signal(cc, &signal);
    return true;
}

void roce_wake(struct roce *roce, uint32_t index, ps_t now)
{
    struct qp_sender *s = &qp_at(&roce->qps, index)->snd;
    if (s->place != QP_IDLE || !qp_may_send(s))
        return;
    nic_add(&roce->nics[s->nic], &roce->qps, index, now);
    port_kick(roce->net, s->port, now);
}

void roce_cc_fired(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct qp *qp = timer->data;
    struct cc *cc = qp_cc(&qp->snd);
    roce_settle(qp, e->now_ps);
    for (unsigned t = 0; t < CC_TIMERS; t++)
        if (cc->timer_at_ps[t] <= e->now_ps) {
            cc->timer_at_ps[t] = PS_NEVER;
            cc->ops->on_timer(cc, t, e->now_ps);
        }
    roce_cc_moved(qp->roce, qp->index, e->now_ps);
    roce_wake(qp->roce, qp->index, e->now_ps);
}

/* ---- retransmission timer: its clock stands while the NIC's port is paused for its class ---- */

static void rto_set(struct roce *roce, struct qp_sender *s, enum rto_state state)
{
    roce->n_rto_armed -= s->rto_state == RTO_ARMED;
    roce->n_rto_armed += state == RTO_ARMED;
    roce->nics[s->nic].n_parked -= s->rto_state == RTO_PARKED;
    roce->nics[s->nic].n_parked += state == RTO_PARKED;
    s->rto_state = (uint8_t)state;
}

static void rto_restart(struct roce *roce, struct qp *qp, ps_t now)
{
    const struct transport_spec *spec = &roce_dim_of(roce, qp)->spec;
    struct qp_sender *s = &qp->snd;
    if (spec->recovery == RECOVERY_NONE)
        return;
    const struct nic *nic = &roce->nics[s->nic];
    bool selective = spec->recovery == RECOVERY_SELECTIVE_REPEAT;
    ps_t rto_ps = selective ? roce_selective_rto_ps(s) : spec->rto_ps;
    s->rto_due_ps = nic_active_ps(nic, now) + rto_ps;
    if (nic->paused) {
        rto_set(roce, s, RTO_PARKED);
        sim_timer_stop(&s->rto);
        return;
    }
    if (s->rto_state == RTO_ARMED && s->rto.at_ps <= now + rto_ps)
        return; // when it fires it sees the later deadline
    rto_set(roce, s, RTO_ARMED);
    sim_timer_start(roce->net->engine, &s->rto, now + rto_ps);
}

static void rto_off(struct roce *roce, struct qp_sender *s)
{
    rto_set(roce, s, RTO_OFF);
    sim_timer_stop(&s->rto);
}

void roce_pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    struct roce *roce = ctx;
    if (cls >= NET_DATA_CLASSES)
        return;
    uint32_t index = port_data_index(roce->net, port, cls);
    struct nic *nic = &roce->nics[index];
    nic->paused = paused;
    if (paused) {
        nic->paused_since_ps = now;
        return;
    }
    nic->paused_total_ps += now - nic->paused_since_ps;
    for (uint32_t i = 0; nic->n_parked > 0 && i < roce->qps.n; i++) {
        struct qp_sender *s = &qp_at(&roce->qps, i)->snd;
        if (s->nic != index || s->rto_state != RTO_PARKED)
            continue;
        rto_set(roce, s, RTO_ARMED);
        sim_timer_start(roce->net->engine, &s->rto,
                        now + (s->rto_due_ps - nic_active_ps(nic, now)));
    }
}

void roce_fail(struct roce *roce, struct qp *qp, ps_t now)
{
    struct qp_sender *s = &qp->snd;
    s->failed = qp->rcv.failed = true;
    s->retx_due = false;
    psn_set_clear(&s->sacked);
    psn_set_clear(&qp->rcv.early);
    rto_off(roce, s);
    for (unsigned t = 0; t < CC_TIMERS; t++)
        qp_cc(s)->timer_at_ps[t] = PS_NEVER;
    sim_timer_stop(&s->cc_timer);
    while (s->oldest != MESSAGE_NIL) {
        uint32_t slot = s->oldest;
        struct message *m = roce_message(roce, slot);
        s->oldest = m->next;
        if (s->oldest == MESSAGE_NIL) // a callback may post: it must not link behind this one
            s->newest = s->sending = qp->rcv.receiving = MESSAGE_NIL;
        m->status = MESSAGE_FAILED;
        roce->n_failed++;
        roce->n_running--;
        uint64_t token = m->token;
        roce->observer.message_ended(roce->observer.ctx, m);
        message_give(&roce->messages, slot);
        roce->client.failed(roce->client.ctx, token, now);
    }
    s->newest = s->sending = qp->rcv.receiving = MESSAGE_NIL;
    s->snd_una = s->snd_nxt = s->tail_psn;
}

static void go_back(struct qp_sender *s)
{
    s->snd_nxt = s->snd_una;
    s->nxt_bytes = s->una_bytes;
    s->sending = s->oldest;
    s->asked_psn = s->snd_una;
    s->until_ackreq = 1; // the first one again asks, so that progress is heard of
}

void roce_rto_fired(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct qp *qp = timer->data;
    struct roce *roce = qp->roce;
    struct qp_sender *s = &qp->snd;
    const struct nic *nic = &roce->nics[s->nic];
    roce_settle(qp, e->now_ps);
    ps_t left = s->rto_due_ps - nic_active_ps(nic, e->now_ps);
    if (left > 0) {
        if (nic->paused)
            rto_set(roce, s, RTO_PARKED);
        else
            sim_timer_start(e, &s->rto, e->now_ps + left);
        return;
    }
    const struct transport_spec *spec = &roce_dim_of(roce, qp)->spec;
    rto_set(roce, s, RTO_OFF); // it has fired
    if (s->cut_off)
        roce_reattach(roce, qp);
    s->timeouts++;
    roce->timeouts++;
    roce_message(roce, s->oldest)->timeouts++;
    if (s->retries++ >= spec->retry_limit) {
        roce_fail(roce, qp, e->now_ps);
        return;
    }
    if (spec->recovery == RECOVERY_SELECTIVE_REPEAT)
        roce_selective_timeout(s);
    else
        go_back(s);
    if (signal_cc(s, CC_SIGNAL_TIMEOUT, e->now_ps))
        roce_cc_moved(roce, qp->index, e->now_ps);
    rto_restart(roce, qp, e->now_ps);
    roce_wake(roce, qp->index, e->now_ps);
}

/* ---- sending ---- */

// Returns its payload bytes.
static uint32_t fill_packet(struct roce *roce, struct qp *qp, struct message *m, uint64_t psn,
                            struct packet *p, ps_t now)
{
    const struct roce_dim *dim = roce_dim_of(roce, qp);
    const struct qp_sender *s = &qp->snd;
    uint64_t mtu = dim->spec.mtu_bytes, offset = (psn - m->first_psn) * mtu;
    uint64_t left = m->bytes - offset;
    bool first = psn == m->first_psn, last = psn + 1 == message_end_psn(m);
    uint32_t payload = (uint32_t)(left < mtu ? left : mtu);
    struct packet_sizes size = first || last ? data_sizes(&dim->spec, payload, first) : dim->full;
    struct cargo_pool *pool = &roce->net->cargo;
    *p = (struct packet){.flow = qp->index,
                         .psn = (uint32_t)psn,
                         .dst = qp->dst_node,
                         .cargo = cargo_take(pool),
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_DATA,
                         .cls = qp->cls & 7,
                         .flags = PACKET_ECT};
    struct cargo *cargo = cargo_at(pool, p->cargo);
    *cargo = (struct cargo){.sent_ps = now, .payload_bytes = (uint16_t)payload};
    if (dim->int_records)
        cargo_gather(pool, p->cargo);
    if (first) {
        p->flags |= PACKET_FIRST;
        cargo->aux = m->bytes < UINT32_MAX ? (uint32_t)m->bytes : UINT32_MAX;
    }
    if (last)
        p->flags |= PACKET_LAST;
    if (psn < s->snd_max) {
        p->flags |= PACKET_RETX;
        m->retransmitted++;
        roce->retransmitted++;
    }
    m->packets++;
    return payload;
}

// The next new packet of a sender.
static void take_new(struct roce *roce, struct qp *qp, struct packet *p, ps_t now)
{
    struct qp_sender *s = &qp->snd;
    struct message *m = roce_message(roce, s->sending);
    uint32_t payload = fill_packet(roce, qp, m, s->snd_nxt, p, now);
    if (p->flags & PACKET_LAST)
        s->sending = m->next;
    s->snd_nxt++;
    s->nxt_bytes += payload;
    if (s->snd_nxt > s->snd_max)
        s->snd_max = s->snd_nxt;
    bool more = s->snd_nxt < s->tail_psn && qp_window_open(s);
    if (--s->until_ackreq == 0 || !more || p->flags & PACKET_LAST) {
        p->flags |= PACKET_ACKREQ;
        s->asked_psn = s->snd_nxt;
        s->until_ackreq = (uint32_t)roce_dim_of(roce, qp)->spec.ack_interval;
    }
}

// A lost one again; its answer tells at once how far things are.
static void take_lost(struct roce *roce, struct qp *qp, struct packet *p, ps_t now)
{
    uint64_t psn = roce_selective_take(&qp->snd);
    uint32_t slot = qp->snd.oldest;
    while (message_end_psn(roce_message(roce, slot)) <= psn)
        slot = roce_message(roce, slot)->next;
    fill_packet(roce, qp, roce_message(roce, slot), psn, p, now);
    p->flags |= PACKET_ACKREQ;
}

static bool pull_from(struct roce *roce, struct nic *nic, struct packet *p, ps_t now)
{
    uint32_t index = nic_take(nic, &roce->qps, now);
    if (index == QP_NIL)
        return false;
    struct qp *qp = qp_at(&roce->qps, index);
    struct qp_sender *s = &qp->snd;
    if (s->retx_due)
        take_lost(roce, qp, p, now);
    else
        take_new(roce, qp, p, now);
    s->last_start_ps = now;
    s->last_wire_bytes = p->wire_bytes;
    s->next_send_ps = now + pace_gap(s, p->wire_bytes);
    if (s->rto_state == RTO_OFF)
        rto_restart(roce, qp, now);
    if (qp_cc(s)->ops->on_send) {
        qp_cc(s)->ops->on_send(qp_cc(s), p->wire_bytes, now); // may be late: it starts no timer
        roce_cc_moved(roce, index, now);
    }
    if (qp_may_send(s))
        nic_add(nic, &roce->qps, index, now);
    return true;
}

bool roce_pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    (void)node;
    struct roce *roce = ctx;
    struct nic *nic = &roce->nics[port];
    return !nic->paused && pull_from(roce, nic, p, now);
}

ps_t roce_next_pull(void *ctx, uint32_t port, ps_t now)
{
    struct roce *roce = ctx;
    struct nic *nic = &roce->nics[port];
    return nic->paused ? PS_NEVER : nic_next_ps(nic, &roce->qps, now);
}

bool roce_shared_pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    (void)node;
    struct roce *roce = ctx;
    uint32_t n = roce->net->n_data;
    struct nic *nic = nic_share_turn(&roce->nics[port * n], n, &roce->qps, now);
    if (!nic || !pull_from(roce, nic, p, now))
        return false;
    nic->credit_bytes -= p->wire_bytes;
    return true;
}

ps_t roce_shared_next_pull(void *ctx, uint32_t port, ps_t now)
{
    struct roce *roce = ctx;
    uint32_t n = roce->net->n_data;
    return nic_share_next_ps(&roce->nics[port * n], n, &roce->qps, now);
}

/* ---- what comes back ---- */

// Everything before `psn` has arrived: move the window, then end the messages that are whole (their
// callbacks may post). Returns the bytes newly acknowledged.
static uint64_t acknowledge(struct roce *roce, struct qp *qp, uint64_t psn, ps_t now)
{
    struct qp_sender *s = &qp->snd;
    uint64_t mtu = roce_dim_of(roce, qp)->spec.mtu_bytes, before = s->una_bytes;
    uint32_t slot = s->oldest;
    if (slot != MESSAGE_NIL && psn < message_end_psn(roce_message(roce, slot)) &&
        psn <= s->snd_nxt) { // full packets of one message: nearly always
        s->una_bytes += (psn - s->snd_una) * mtu;
        s->snd_una = psn;
        return s->una_bytes - before;
    }
    while (slot != MESSAGE_NIL && message_end_psn(roce_message(roce, slot)) <= psn) {
        s->una_bytes = roce_message(roce, slot)->start_byte + roce_message(roce, slot)->bytes;
        slot = roce_message(roce, slot)->next;
    }
    if (slot != MESSAGE_NIL && psn > roce_message(roce, slot)->first_psn)
        s->una_bytes = message_offset(roce_message(roce, slot), psn, mtu);
    uint64_t acked = s->una_bytes - before;
    s->snd_una = psn;
    if (s->snd_nxt < psn) { // what was to be sent again had arrived
        s->snd_nxt = psn;
        s->nxt_bytes = s->una_bytes;
        s->sending = slot;
    }
    // A callback may post behind the last one, so ask each message and not for a place in the list.
    while (s->oldest != MESSAGE_NIL && message_end_psn(roce_message(roce, s->oldest)) <= psn) {
        uint32_t done = s->oldest;
        struct message *m = roce_message(roce, done);
        s->oldest = m->next;
        if (s->oldest == MESSAGE_NIL) {
            s->newest = MESSAGE_NIL;
            s->idle_since_ps = now;
        }
        m->status = MESSAGE_DONE;
        m->done_ps = now;
        uint64_t token = m->token;
        roce->n_running--;
        roce->observer.message_ended(roce->observer.ctx, m);
        message_give(&roce->messages, done);
        roce->client.sent(roce->client.ctx, token, now);
    }
    return acked;
}

static void tell_ack(struct qp *qp, const struct packet *p, uint64_t acked, ps_t now)
{
    struct qp_sender *s = &qp->snd;
    const struct cargo_pool *pool = &qp->roce->net->cargo;
    const struct cargo *cargo = cargo_at(pool, p->cargo);
    ps_t rtt = now - cargo->sent_ps;
    struct cc_ack ack = {
        .now_ps = now,
        .rtt_ps = rtt,
        .seq = s->una_bytes,
        .snd_una = s->una_bytes,
        .snd_nxt = s->nxt_bytes,
        .acked_bytes = (uint32_t)acked,
        .ce_bytes = p->flags & PACKET_ECHO_CE ? (uint32_t)acked : 0,
        .inflight_bytes = s->nxt_bytes - s->una_bytes,
        .hops = cargo_hops(pool, p->cargo),
        .n_hops = cargo->int_hops,
        .pint = cargo->pint,
    };
    qp_cc(s)->ops->on_ack(qp_cc(s), &ack);
}

void roce_on_ack(struct roce *roce, const struct packet *p, ps_t now)
{
    struct qp *qp = qp_at(&roce->qps, p->flow);
    struct qp_sender *s = &qp->snd;
    const enum recovery recovery = (enum recovery)roce_dim_of(roce, qp)->spec.recovery;
    roce_settle(qp, now);
    uint64_t una = s->snd_una, psn = psn_restore(p->psn, una);
    if (s->failed || psn < una || psn > s->snd_max)
        return;
    bool nak = p->flags & PACKET_NAK, news = psn > una, told = false;
    uint64_t acked = news ? acknowledge(roce, qp, psn, now) : 0;
    if (recovery == RECOVERY_SELECTIVE_REPEAT) {
        uint64_t recovered = s->recover_psn;
        roce_selective_ack(roce, qp, p, una);
        told = s->recover_psn != 0 && recovered == 0;
        if (told)
            signal_cc(s, CC_SIGNAL_NACK, now);
    }
    if (news) {
        s->retries = 0;
        if (s->snd_una == s->snd_max)
            rto_off(roce, s);
        else
            rto_restart(roce, qp, now);
    }
    if (nak && recovery == RECOVERY_GO_BACK_N) {
        go_back(s);
        signal_cc(s, CC_SIGNAL_NACK, now);
        told = true;
    }
    if (qp->wants_acks && (!nak || acked > 0)) {
        tell_ack(qp, p, acked, now);
        told = true;
    }
    if (told)
        roce_cc_moved(roce, p->flow, now);
    if (news && s->snd_una == s->tail_psn)
        roce_qp_rest(roce, p->flow);
    else
        roce_wake(roce, p->flow, now);
}

// The limiter belongs to the queue pair, not to a message: a CNP also acts while nothing is in flight
// (the notification point may send it up to an interval after the mark). It then counts for no flow.
void roce_on_cnp(struct roce *roce, const struct packet *p, ps_t now)
{
    struct qp *qp = qp_at(&roce->qps, p->flow);
    struct qp_sender *s = &qp->snd;
    roce_settle(qp, now);
    s->cnps++;
    bool idle = s->oldest == MESSAGE_NIL;
    if (s->failed || (idle && roce_dim_of(roce, qp)->spec.qp == QP_PER_MESSAGE))
        return; // the connection is closed
    if (!idle)
        roce_message(roce, s->sending != MESSAGE_NIL ? s->sending : s->oldest)->cnps++;
    if (signal_cc(s, CC_SIGNAL_CNP, now))
        roce_cc_moved(roce, p->flow, now);
}
