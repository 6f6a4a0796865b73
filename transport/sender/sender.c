// SPDX-License-Identifier: MIT
// Messages, window and pacing of a sender, and the calls of its congestion control policy.
#include "transport/sender/sender.h"

#include "transport/host.h"

#define PACE_SHIFT 16 // fraction bits of picoseconds per wire byte; no overflow for 9 KB at 1 Kbps

static ps_t pace_gap(const struct sender *s, uint32_t wire_bytes)
{
    return (ps_t)(wire_bytes * s->pace_q >> PACE_SHIFT);
}

/* ---- the policy ---- */

static void apply_window(struct sender *s, ps_t now)
{
    s->cwnd_bytes = s->cc->cwnd_bytes;
    if (s->dim->ops->on_window)
        s->dim->ops->on_window(s, now);
    else
        s->window_bytes = s->cwnd_bytes < s->cold.cap_bytes ? s->cwnd_bytes : s->cold.cap_bytes;
    if (s->path_due)
        s->window_bytes = 0;
}

void sender_restart(struct sender *s, ps_t now)
{
    cc_begin(s->cc, s->dim->cc, s->dim->cc_params, s->cc->env, now);
    s->pace_q = s->pace_rate_bps = 0;
    apply_window(s, now);
    ps_t ready_ps = sender_ready_ps(s);
    s->next_send_ps = now > ready_ps ? now : ready_ps;
}

static void apply_rate(struct sender *s)
{
    uint64_t rate_bps = s->pace_rate_bps = s->cc->rate_bps;
    if (s->cold.pace_cap_bps < rate_bps)
        rate_bps = s->cold.pace_cap_bps;
    s->pace_q =
        rate_bps >= sender_env(s)->line_bps
            ? 0
            : (uint64_t)(((UINT64_C(8000000000000) << PACE_SHIFT) + rate_bps / 2) / rate_bps);
    s->next_send_ps = s->last_start_ps + pace_gap(s, s->last_wire_bytes);
    if (s->next_send_ps < sender_ready_ps(s))
        s->next_send_ps = sender_ready_ps(s);
    if (s->place == SENDER_PACED) {
        nic_repace(s->nic, s);
        s->repaced = true; // sender_wake() kicks the port, once the sender's state is consistent
    }
}

void sender_cap_pace(struct sender *s, uint64_t cap_bps)
{
    s->cold.pace_cap_bps = cap_bps;
    apply_rate(s);
}

// Count that the policy has lowered its rate or its window (a cut).
static void count_cut(struct sender *s, ps_t now)
{
    struct sender_cuts *cuts = &sender_rare_make(s)->cuts;
    sender_hosts(s)->counters.cc_cuts++;
    if (cuts->n++ == 0)
        cuts->first_ps = now;
    cuts->last_ps = now;
    cuts->rate_bps = s->cc->rate_bps;
    cuts->window_bytes = s->cc->cwnd_bytes;
}

// Take the path that the policy has chosen. Its packets could overtake those on the old one, so
// nothing may be in flight: until then the window is closed.
static void take_path(struct sender *s, ps_t now)
{
    s->path_due = false;
    if (s->path != s->cc->path) {
        s->path = s->cc->path;
        s->dim->ops->change_path(s);
    }
    apply_window(s, now);
}

static bool wants_path(const struct sender *s)
{
    return (s->cc->path != s->path || s->path_due) && s->dim->ops->change_path && !s->dim->sprays;
}

void sender_apply_cc(struct sender *s, ps_t now)
{
    const struct cc *cc = s->cc;
    struct hosts *hosts = sender_hosts(s);
    if (cc->cwnd_bytes < s->cwnd_bytes || cc->rate_bps < s->pace_rate_bps)
        count_cut(s, now);
    if (cc->cwnd_bytes != s->cwnd_bytes)
        apply_window(s, now);
    if (cc->rate_bps != s->pace_rate_bps)
        apply_rate(s);
    if (wants_path(s)) {
        // Packets on the new path could overtake packets in flight on the old one, so the window
        // stays closed until the latter are acknowledged (take_path).
        s->path_due = s->nxt != s->una && cc->path != s->path;
        if (s->path_due)
            apply_window(s, now);
        else
            take_path(s, now);
    }
    ps_t due = cc->timer_at_ps[0] < cc->timer_at_ps[1] ? cc->timer_at_ps[0] : cc->timer_at_ps[1];
    if (due != sender_rare(s)->cc_timer.at_ps) {
        struct sim_timer *timer = &sender_rare_make(s)->cc_timer;
        if (due == PS_NEVER)
            sim_timer_stop(timer);
        else
            sim_timer_start(hosts->net->engine, timer, due);
    }
}

void sender_notify_ack(struct sender *s, const struct packet *p, uint64_t acked, ps_t now)
{
    const struct meta_pool *pool = &sender_hosts(s)->net->meta;
    const struct packet_meta *meta = meta_at(pool, p->meta);
    uint64_t inflight = s->nxt_bytes - s->una_bytes;
    struct cc_ack ack = {
        .now_ps = now,
        .rtt_ps = now - meta->sent_ps,
        .seq = s->una_bytes,
        .snd_una = s->una_bytes,
        .snd_nxt = s->nxt_bytes,
        .acked_bytes = (uint32_t)acked,
        .ce_bytes = p->flags & PACKET_ECHO_CE ? (uint32_t)acked : 0,
        .inflight_bytes = inflight,
        // The window limited the flow if less than a full packet fitted into it before this ACK.
        .window_limited = inflight + acked + s->dim->mtu_bytes >= s->cwnd_bytes,
        .hops = meta_hops(pool, p->meta),
        .n_hops = meta->int_hops,
        .pint = meta->pint,
    };
    s->cc->ops->on_ack(s->cc, &ack);
}

bool sender_signal(struct sender *s, enum cc_signal_kind kind, bool again, ps_t now)
{
    if (!s->cc->ops->on_signal)
        return false;
    const struct cc_signal signal = {.now_ps = now,
                                     .kind = kind,
                                     .snd_nxt = s->nxt_bytes,
                                     .again = again,
                                     .inflight_bytes = s->nxt_bytes - s->una_bytes};
    s->cc->ops->on_signal(s->cc, &signal);
    // After a timeout the packets in flight count as lost, and their path may lead nowhere.
    if (kind == CC_SIGNAL_TIMEOUT && wants_path(s))
        take_path(s, now);
    return true;
}

/* ---- sending ---- */

// Enters the sender at its NIC. `displaced`: the NIC had removed it from its list only because it
// was busy.
__attribute__((always_inline)) static inline void enter(struct sender *s, bool displaced, ps_t now)
{
    bool enters = s->place == SENDER_IDLE && sender_may_send(s);
    if (!enters && !s->repaced)
        return;
    if (enters) {
        if (!displaced)
            sender_time_woken(s, now);
        nic_add(s->nic, s, now);
    }
    s->repaced = false;
    port_kick(sender_hosts(s)->net, s->port, now);
}

void sender_wake(struct sender *s, ps_t now)
{
    if (!s->busy) // a busy sender is entered by sender_end()
        enter(s, false, now);
}

void sender_end(struct sender *s, ps_t now)
{
    bool displaced = s->displaced;
    s->busy = s->displaced = false;
    enter(s, displaced, now);
}

void sender_sent(struct sender *s, uint32_t wire_bytes, ps_t now)
{
    s->last_start_ps = now;
    s->last_wire_bytes = wire_bytes;
    s->next_send_ps = now + pace_gap(s, wire_bytes);
    if (s->cc->ops->on_send) {
        s->cc->ops->on_send(s->cc, wire_bytes, now); // the call may be late, since the hook starts
                                                     // no timer
        sender_apply_cc(s, now);
    }
}

/* ---- messages ---- */

static void append(struct sender *s, const struct transfer_request *request)
{
    struct hosts *hosts = sender_hosts(s);
    uint32_t slot = message_alloc(&hosts->messages), per_seq = s->dim->seq_bytes;
    struct message *m = hosts_message(hosts, slot);
    struct message *last =
        s->cold.newest == MESSAGE_NIL ? NULL : hosts_message(hosts, s->cold.newest);
    m->first_seq = s->tail;
    m->bytes = request->bytes ? request->bytes : s->dim->empty_bytes;
    m->n_seq = m->bytes ? (m->bytes + per_seq - 1) / per_seq : 1;
    m->start_byte = last ? last->start_byte + last->bytes : s->una_bytes;
    m->token = request->token;
    s->tail += m->n_seq;
    if (s->cls != NET_CLASS_CONTROL) {
        hosts->counters.posted_bytes += request->unrecorded ? 0 : m->bytes;
        hosts->n_running++;
    }
    if (last)
        last->next = slot;
    else
        s->oldest = slot;
    s->cold.newest = slot;
    if (s->sending == MESSAGE_NIL)
        s->sending = slot;
}

static uint32_t idle_rtos(const struct sender *s, ps_t now)
{
    const struct transport_ops *ops = s->dim->ops;
    return ops->idle_rtos ? ops->idle_rtos(s, now) : 0;
}

// Delay the message of an idle sender until its doorbell has reached the NIC.
static void ring_doorbell(struct sender *s, ps_t now)
{
    const struct nic_spec *const *nic_of = s->dim->nic_of;
    if (!nic_of || !nic_of[sender_id(s)->src_node])
        return;
    ps_t doorbell_ps = nic_of[sender_id(s)->src_node]->doorbell_ps;
    if (doorbell_ps == 0 || s->place != SENDER_IDLE || s->nxt < s->tail)
        return;
    ps_t ready_ps = sender_rare_make(s)->ready_ps = now + doorbell_ps;
    s->rung = true;
    if (s->next_send_ps < ready_ps)
        s->next_send_ps = ready_ps;
}

void sender_post(struct sender *s, const struct transfer_request *request, ps_t now)
{
    bool idle = s->oldest == MESSAGE_NIL;
    if (s->cold.time_path == 0)
        sender_time_begin(s, now);
    ring_doorbell(s, now);
    append(s, request);
    if (s->failed) {
        sender_fail(s, now);
        return;
    }
    if (s->cc->ops->on_post) {
        const struct cc_post post = {.now_ps = now,
                                     .bytes = request->bytes,
                                     .idle_ps = idle ? now - s->cold.idle_since_ps : 0,
                                     .idle_rtos = idle ? idle_rtos(s, now) : 0,
                                     .hint = request->hint};
        s->cc->ops->on_post(s->cc, &post);
    }
    sender_apply_cc(s, now);
    if (s->dim->ops->on_post)
        s->dim->ops->on_post(s, now);
    sender_wake(s, now);
}

struct message_end sender_message_end(const struct sender *s, const struct message *m)
{
    const struct flow_id *id = sender_id(s);
    bool done = m->status == MESSAGE_DONE;
    return (struct message_end){.message = *m,
                                .delivered_bytes =
                                    done ? m->bytes : hosts_delivered_bytes(sender_hosts(s), s, m),
                                .flow = s->flow,
                                .dim = id->dim,
                                .transport = id->transport};
}

// End the oldest message. It is unlinked first, because its callback may post another message.
static void end_oldest(struct sender *s, enum message_status status, ps_t now)
{
    struct hosts *hosts = sender_hosts(s);
    uint32_t slot = s->oldest;
    struct message *m = hosts_message(hosts, slot);
    uint64_t token = m->token;
    s->oldest = m->next;
    if (s->oldest == MESSAGE_NIL)
        s->cold.newest = MESSAGE_NIL;
    m->status = (uint8_t)status;
    hosts->n_running -= s->cls != NET_CLASS_CONTROL;
    hosts_begin_call(hosts);
    const struct message_end end = sender_message_end(s, m);
    hosts->observer.message_ended(hosts->observer.ctx, &end, now);
    message_free(&hosts->messages, slot);
    if (status == MESSAGE_DONE)
        hosts->client.sent(hosts->client.ctx, token, now);
    else
        hosts->client.failed(hosts->client.ctx, token, now);
    hosts_end_call(hosts);
}

// Returns the offset in the flow's payload of sequence number `seq`, which must not exceed `tail`.
// *slot is set to the message that contains it, or to MESSAGE_NIL after the last message.
static uint64_t find_offset(const struct sender *s, uint64_t seq, uint32_t *slot)
{
    const struct hosts *hosts = sender_hosts(s);
    uint64_t offset = s->una_bytes;
    for (*slot = s->oldest; *slot != MESSAGE_NIL; *slot = hosts_message(hosts, *slot)->next) {
        const struct message *m = hosts_message(hosts, *slot);
        if (message_end_seq(m) > seq)
            return seq > m->first_seq ? message_offset(m, seq, s->dim->seq_bytes) : offset;
        offset = m->start_byte + m->bytes;
    }
    return offset;
}

uint64_t sender_acknowledge(struct sender *s, uint64_t seq, ps_t now)
{
    const struct hosts *hosts = sender_hosts(s);
    uint64_t before = s->una_bytes;
    uint32_t slot = s->oldest;
    if (slot != MESSAGE_NIL && seq < message_end_seq(hosts_message(hosts, slot)) &&
        seq <= s->nxt) { // the common case: full packets within one message
        s->una_bytes += (seq - s->una) * s->dim->seq_bytes;
        s->una = seq;
        return s->una_bytes - before;
    }
    s->una_bytes = find_offset(s, seq, &slot);
    uint64_t acked = s->una_bytes - before;
    s->una = seq;
    if (s->nxt < seq) { // packets scheduled for retransmission had arrived
        s->nxt = seq;
        s->nxt_bytes = s->una_bytes;
        s->sending = slot;
    }
    // A callback may post another message, so the end is checked again for each message.
    while (s->oldest != MESSAGE_NIL && message_end_seq(hosts_message(hosts, s->oldest)) <= seq) {
        if (hosts_message(hosts, s->oldest)->next == MESSAGE_NIL)
            s->cold.idle_since_ps = now;
        end_oldest(s, MESSAGE_DONE, now);
    }
    if (s->oldest == MESSAGE_NIL)
        sender_time_end(s);
    return acked;
}

void sender_fail(struct sender *s, ps_t now)
{
    s->failed = true;
    s->special_due = false;
    if (s->dim->ops->on_failed)
        s->dim->ops->on_failed(s, now);
    sender_rto_stop(s);
    sender_stop_policy(s);
    s->sending = MESSAGE_NIL;
    while (s->oldest != MESSAGE_NIL)
        end_oldest(s, MESSAGE_FAILED, now);
    sender_time_end(s);
    s->sending = MESSAGE_NIL;
    s->una = s->nxt = s->tail;
}
