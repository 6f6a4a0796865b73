// SPDX-License-Identifier: MIT
// Tables of hosts: which fields change while events are processed, and how they repeat.
#include "transport/state.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "transport/sender/pairs.h"
#include "transport/state_internal.h"

/* ---- the inventory ---- */

#define F(member, kind) STATE_FIELD(struct sender, member, kind)
static const struct state_field sender_fields[] = {
    F(una, BY_HAND), // numbers of packets are counted from it, offsets from una_bytes
    F(nxt, BY_HAND),
    F(max, BY_HAND),
    F(tail, BY_HAND),
    F(una_bytes, BY_HAND),
    F(nxt_bytes, BY_HAND),
    F(window_bytes, PLAIN),
    F(ackreq_end, BY_HAND),
    F(next_send_ps, BY_HAND), // void once a flow has nothing to send
    F(last_start_ps, BY_HAND),
    F(pace_q, PLAIN),
    F(rto_due_ps, BY_HAND),
    F(ready_next, BY_HAND), // with its NIC
    F(nic, CONFIG),         // but for `port`
    F(port, PLAIN),
    F(heap_at, SCRATCH), // follows from next_send_ps
    F(sending, BY_HAND),
    F(oldest, BY_HAND),
    F(dim, CONFIG),
    F(cc, BY_HAND),
    F(flow, CONFIG),
    F(entropy, PLAIN),
    F(dst_node, PLAIN),
    F(last_wire_bytes, PLAIN),
    F(until_ackreq, PLAIN),
    F(retries, PLAIN),
    F(place, PLAIN),
    F(rto_state, PLAIN),
    STATE_BETWEEN(struct sender,
                  "cls failed busy special_due cc_needs_acks path_due repaced displaced rung",
                  rto_state, path, PLAIN),
    F(path, PLAIN),
    F(pace_rate_bps, PLAIN),
    F(cwnd_bytes, PLAIN),
    F(rto, BY_HAND),
    F(time, BY_HAND),
    F(cold, BY_HAND),
};
STATE_TABLE(sender_table, struct sender, sender_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct sender_cold, member, kind)
static const struct state_field cold_fields[] = {
    F(channel, CONFIG),
    F(newest, BY_HAND),
    F(path_turn, PLAIN),
    F(next_idle, CONFIG), // of fresh connections, which are refused
    F(cc_timer, CONFIG),
    F(timeouts, COUNT),
    F(time_path, BY_HAND),
    F(stripe, CONFIG),
    F(resends, PLAIN),
    STATE_BETWEEN(struct sender_cold, "moved rechoose cut_off marked stirred", resends,
                  idle_since_ps, PLAIN),
    F(idle_since_ps, BY_HAND), // void while it has messages
    F(cap_bytes, PLAIN),
    F(pace_cap_bps, PLAIN),
    F(resent_bytes, BY_HAND), // of the account
    F(own, BY_HAND),
    F(rare, BY_HAND),
};
STATE_TABLE(cold_table, struct sender_cold, cold_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct sender_rare, member, kind)
static const struct state_field rare_fields[] = {
    F(cc_timer, BY_HAND),
    F(ready_ps, PLAIN), // of doorbells, which are refused
    F(mark, BY_HAND),   // of the account
    F(cuts, BY_HAND),
};
STATE_TABLE(rare_table, struct sender_rare, rare_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct sender_time, member, kind)
static const struct state_field time_fields[] = {
    F(begin_ps, STAMP),         F(window_ps, COUNT),    F(pace_ps, COUNT), F(paused_ps, COUNT),
    F(timeout_ps, COUNT),       F(counted_ps, BY_HAND), // void before last_start_ps
    F(paused_mark_ps, BY_HAND),                         // counted from nic.paused_total_ps
    F(sent_bytes, COUNT),
};
STATE_TABLE(time_table, struct sender_time, time_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct sender_time_mark, member, kind)
static const struct state_field mark_fields[] = {
    F(time, BY_HAND),       F(resent_bytes, COUNT),      F(host_ps, PLAIN),
    F(at_ps, TIME),         F(doorbell_ps, PLAIN),       F(held_before_ps, PLAIN),
    F(ack_delay_ps, PLAIN), F(ack_delay_mark_ps, PLAIN), // of TCP, which is refused
};
STATE_TABLE(mark_table, struct sender_time_mark, mark_fields);
#undef F

// Only the totals of the time in a mark are read.
#define F(member, kind) STATE_FIELD(struct sender_time, member, kind)
static const struct state_field mark_time_fields[] = {
    F(begin_ps, SCRATCH), F(window_ps, COUNT),    F(pace_ps, COUNT),          F(paused_ps, COUNT),
    F(timeout_ps, COUNT), F(counted_ps, SCRATCH), F(paused_mark_ps, SCRATCH), F(sent_bytes, COUNT),
};
STATE_TABLE(mark_time_table, struct sender_time, mark_time_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct sender_cuts, member, kind)
static const struct state_field cuts_fields[] = {
    F(n, COUNT), F(first_ps, STAMP), F(last_ps, STAMP), F(rate_bps, PLAIN), F(window_bytes, PLAIN),
};
STATE_TABLE(cuts_table, struct sender_cuts, cuts_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct message, member, kind)
static const struct state_field message_fields[] = {
    F(first_seq, BY_HAND), F(n_seq, PLAIN),   F(start_byte, BY_HAND),  F(bytes, PLAIN),
    F(token, BY_HAND),     F(packets, PLAIN), F(retransmitted, PLAIN), F(cnps, PLAIN),
    F(timeouts, PLAIN),    F(next, BY_HAND),  F(status, PLAIN),
};
STATE_TABLE(message_table, struct message, message_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct nic, member, kind)
static const struct state_field nic_fields[] = {
    F(ready_head, BY_HAND),
    F(ready_tail, BY_HAND),
    F(paced, BY_HAND), // its order follows from the senders
    F(n_paced, PLAIN),
    F(cap_paced, SCRATCH),
    F(paused_since_ps, BY_HAND), // void unless it is paused
    F(paused_total_ps, BY_HAND),
    F(credit_bytes, PLAIN),
    F(quantum_bytes, CONFIG),
    F(turn, PLAIN),
    F(paused, PLAIN),
    F(needs_credit, CONFIG),
    F(n_parked, SCRATCH), // entries may be void; sender.rto_state is what counts
    F(cap_parked, SCRATCH),
    F(parked, SCRATCH),
};
STATE_TABLE(nic_table, struct nic, nic_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct hosts, member, kind)
static const struct state_field hosts_fields[] = {
    F(net, CONFIG),
    F(dims, BY_HAND),
    F(n_dims, CONFIG),
    F(n_transports, CONFIG),
    F(paths, CONFIG),
    F(client, CONFIG),
    F(observer, CONFIG),
    F(adapters, CONFIG), // refused
    F(stack, CONFIG),    // refused
    F(cc_watch, CONFIG),
    F(arriving, SCRATCH),
    F(acking, SCRATCH),
    F(senders, BY_HAND),
    F(receivers, BY_HAND),
    F(flows, BY_HAND),
    F(reserved_bytes, CONFIG),
    F(whole, CONFIG),
    F(nics, BY_HAND),
    F(n_nics, CONFIG),
    F(nics_per_port, CONFIG),
    F(pulls_control, CONFIG),
    F(n_opened, BY_HAND), // follow from the number of flows, since connections are not fresh
    F(n_named, BY_HAND),
    F(pairs, BY_HAND),
    F(envs, CONFIG),
    F(messages, BY_HAND),
    F(times, SCRATCH), // memory of the accounts, which are visited with their senders
    F(no_time, CONFIG),
    F(n_running, PLAIN),
    F(n_rto_armed, PLAIN),
    F(n_retrying, PLAIN),
    F(large_bytes, CONFIG),
    F(last_delivery_ps, STAMP),
    F(counters, COUNT),
};
STATE_TABLE(hosts_table, struct hosts, hosts_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct pair, member, kind)
static const struct state_field pair_fields[] = {
    F(src, CONFIG), F(dst, CONFIG), F(flow, PLAIN), F(turn, BY_HAND), F(key, CONFIG),
};
STATE_TABLE(pair_table, struct pair, pair_fields);
#undef F

/* ---- senders ---- */

// The next message's account is the time counted since the mark, so it must be equal, though the
// totals grow.
static void visit_since_mark(struct state *st, const struct sender_time *t, uint64_t resent_bytes,
                             const struct sender_time_mark *mark)
{
    state_value(st, (uint64_t)(t->window_ps - mark->time.window_ps));
    state_value(st, (uint64_t)(t->pace_ps - mark->time.pace_ps));
    state_value(st, (uint64_t)(t->paused_ps - mark->time.paused_ps));
    state_value(st, (uint64_t)(t->timeout_ps - mark->time.timeout_ps));
    state_value(st, t->sent_bytes - mark->time.sent_bytes);
    state_value(st, resent_bytes - mark->resent_bytes);
}

// Visit the account of a busy period. ACCOUNT_BEGIN and so on are the order of the counts.
static void visit_account(struct hosts_visit *v, struct state *st, struct sender *s)
{
    struct sender_time *t = s->time;
    const struct nic *nic = s->nic;
    uint64_t paused_moved = v->paused_moved[nic - v->hosts->nics];
    state_value(st, s->cold.time_path != 0);
    if (st->mode == STATE_SAVE && s->cold.time_path != 0)
        v->flows[s->flow].account_at = st->n_counts;
    if (s->cold.time_path == 0)
        return; // the next busy period begins with another one
    state_visit(st, &time_table, t, s->flow);
    state_count(st, &s->cold.resent_bytes);
    state_value(st, t->counted_ps <= s->last_start_ps ? 0 : (uint64_t)(t->counted_ps - st->now_ps));
    state_value(st, (uint64_t)(nic->paused_total_ps - t->paused_mark_ps) - paused_moved);
    t->counted_ps += st->shift_ps;
    t->paused_mark_ps += (ps_t)paused_moved;
    if (!s->cold.marked)
        return;
    state_visit(st, &mark_table, &s->cold.rare->mark, s->flow);
    state_visit(st, &mark_time_table, &s->cold.rare->mark.time, s->flow);
    visit_since_mark(st, t, s->cold.resent_bytes, &s->cold.rare->mark);
}

// The timer's clock stops while the NIC is paused. The timer itself may fire earlier than it is
// due.
static void visit_rto(struct hosts_visit *v, struct state *st, struct sender *s)
{
    if (s->rto_state != RTO_OFF) {
        if (st->mode == STATE_SAVE)
            state_value(st, (uint64_t)(s->rto_due_ps - nic_active_ps(s->nic, st->now_ps)));
        else
            s->rto_due_ps += st->shift_ps - (ps_t)v->paused_moved[s->nic - v->hosts->nics];
    }
    state_early_timer(st, &s->rto);
}

static void visit_rare(struct state *st, struct sender *s)
{
    state_value(st, s->cold.rare != NULL);
    if (!s->cold.rare)
        return;
    state_visit(st, &rare_table, s->cold.rare, s->flow);
    state_visit(st, &cuts_table, &s->cold.rare->cuts, s->flow);
    state_timer(st, &s->cold.rare->cc_timer);
}

// The times of the last packet and of the next one have no effect on a flow that has nothing to
// send, is not paced, and has sent its last packet completely, unless its policy changes the rate.
static void visit_last_packet(struct hosts_visit *v, struct state *st, struct sender *s)
{
    const struct port *port = &v->hosts->net->ports[s->port];
    bool hidden = s->oldest == MESSAGE_NIL && s->pace_q == 0 && s->next_send_ps <= st->now_ps &&
                  port->busy_until_ps <= st->now_ps;
    if (st->mode == STATE_SHIFT || !hidden) {
        state_time(st, &s->next_send_ps);
        state_time(st, &s->last_start_ps);
    }
    if (st->mode == STATE_SAVE)
        v->flows[s->flow].hidden = hidden;
    state_value(st, hidden);
}

static void visit_messages(struct hosts_visit *v, struct state *st, struct sender *s,
                           struct state_base seq, struct state_base bytes)
{
    for (uint32_t slot = s->oldest; slot != MESSAGE_NIL;
         slot = hosts_message(v->hosts, slot)->next) {
        struct message *m = hosts_message(v->hosts, slot);
        state_visit(st, &message_table, m, s->flow);
        state_from(st, &m->first_seq, seq);
        state_from(st, &m->start_byte, bytes);
        if (st->mode == STATE_SAVE)
            state_value(st, (uint64_t)(v->posted_ps(v->ctx, m->token) - st->now_ps));
        state_token(st, &m->token);
        state_value(st, slot == s->sending);
    }
    state_value(st, UINT64_MAX); // the end of the list
}

static void visit_sender(struct hosts_visit *v, struct state *st, struct sender *s,
                         struct state_base seq)
{
    const struct transport_state *ops = s->dim->ops->state;
    if (st->mode == STATE_SAVE)
        v->flows[s->flow].stirred = s->cold.stirred;
    s->cold.stirred = false;
    state_visit(st, &sender_table, s, s->flow);
    state_visit(st, &cold_table, &s->cold, s->flow);
    state_from(st, &s->nxt, seq);
    state_from(st, &s->max, seq);
    state_from(st, &s->tail, seq);
    struct state_base bytes = state_count(st, &s->una_bytes);
    state_from(st, &s->nxt_bytes, bytes);
    state_value(st, s->ackreq_end > seq.from ? s->ackreq_end - seq.from : 0);
    s->ackreq_end += seq.moved;
    if (s->oldest == MESSAGE_NIL && s->cc->ops->on_post)
        state_time(st, &s->cold.idle_since_ps);
    visit_last_packet(v, st, s);
    visit_account(v, st, s);
    visit_rto(v, st, s);
    visit_rare(st, s);
    visit_messages(v, st, s, seq, bytes);
    hosts_visit_policy(v, st, s, bytes);
    ops->sender(s, st, seq);
    struct receiver *r = v->hosts->receivers[s->flow];
    state_value(st, r != NULL);
    if (r)
        ops->receiver(r, st, seq);
}

static bool is_dormant(const struct hosts_visit *v, const struct sender *s)
{
    const struct receiver *r = v->hosts->receivers[s->flow];
    bool quiet = s->oldest == MESSAGE_NIL && s->rto_state == RTO_OFF && !v->in_flight[s->flow];
    for (unsigned t = 0; t < CC_TIMERS; t++)
        quiet &= s->cc->timer_at_ps[t] == PS_NEVER;
    return quiet && (!r || s->dim->ops->state->is_quiet(r));
}

static void visit_flow(struct hosts_visit *v, struct state *st, uint32_t flow)
{
    struct flow_state *f = &v->flows[flow];
    if (st->mode == STATE_SAVE)
        *f = (struct flow_state){.at = st->n,
                                 .count_at = st->n_counts,
                                 .account_at = STATE_NO_ACCOUNT,
                                 .dormant = is_dormant(v, v->hosts->senders[flow])};
    else if (v->dormant[flow])
        return;
    st->at = f->count_at;
    visit_sender(v, st, v->hosts->senders[flow], v->seqs[flow]);
}

/* ---- NICs and the rest ---- */

static void visit_nic(struct hosts_visit *v, struct state *st, uint32_t index)
{
    struct nic *nic = &v->hosts->nics[index];
    uint64_t total = (uint64_t)nic->paused_total_ps;
    state_visit(st, &nic_table, nic, index);
    v->paused_moved[index] = state_count(st, &total).moved;
    nic->paused_total_ps = (ps_t)total;
    if (nic->paused)
        state_time(st, &nic->paused_since_ps);
    for (const struct sender *s = nic->ready_head; s; s = s->ready_next)
        state_value(st, s->flow);
    state_value(st, UINT64_MAX); // the end of the list
}

// Connections that the messages of a pair use in turn.
static void visit_pairs(struct hosts_visit *v, struct state *st)
{
    uint32_t most = 1;
    for (uint32_t d = 0; d < v->hosts->n_dims; d++)
        most = v->hosts->dims[d].connections_per_pair > most
                   ? v->hosts->dims[d].connections_per_pair
                   : most;
    state_value(st, v->hosts->pairs->n);
    for (size_t i = 0; most > 1 && i < v->hosts->pairs->n; i++) {
        struct pair *pair = &v->hosts->pairs->pairs[i];
        state_visit(st, &pair_table, pair, (uint32_t)i);
        for (uint32_t d = 0; d < v->hosts->n_dims; d++)
            state_value(st, pair->turn % v->hosts->dims[d].connections_per_pair);
        state_count32(st, &pair->turn);
    }
}

static void check_dims(const struct hosts *hosts, struct state *st)
{
    if (hosts->adapters)
        state_refuse(st, "NICs are not ideal (`nic`)");
    for (uint32_t d = 0; d < hosts->n_dims; d++) {
        const struct transport_dim *dim = &hosts->dims[d];
        if (!dim->ops->state)
            state_refuse(st, "the transport does not declare its state");
        if (dim->fresh_connections)
            state_refuse(st, "every message has a connection of its own (`transport.qp`)");
        if (dim->sprays)
            state_refuse(st, "senders spray packets");
        if (dim->int_records)
            state_refuse(st, "switches write telemetry (INT) into packets");
    }
}

static void visit_meta(void *ctx, struct state *st, struct packet *p, struct packet_meta *meta)
{
    struct hosts_visit *v = ctx;
    const struct sender *s = v->hosts->senders[p->flow];
    v->in_flight[p->flow] = true;
    if (s->dim->ops->state)
        s->dim->ops->state->meta(st, p, meta, v->seqs[p->flow]);
    if (p->kind == PACKET_DATA && p->flags & (PACKET_LAST | PACKET_RETX))
        meta_visit_waits(v->hosts->net, st, p->meta);
}

static void reserve(struct hosts_visit *v)
{
    size_t n = v->hosts->flows.n;
    if (n > v->n_flows || !v->flows) {
        v->flows = memory_resize(v->flows, n + 1, sizeof *v->flows);
        v->seqs = memory_resize(v->seqs, n + 1, sizeof *v->seqs);
        v->in_flight = memory_resize(v->in_flight, n + 1, sizeof *v->in_flight);
    }
    v->n_flows = n;
    if (!v->paused_moved)
        v->paused_moved = memory_zeroed(v->hosts->n_nics, sizeof *v->paused_moved);
}

void hosts_visit(struct hosts_visit *v, struct state *st)
{
    struct hosts *hosts = v->hosts;
    const struct packet_visit packets = {visit_meta, v};
    reserve(v);
    check_dims(hosts, st);
    if (st->refused)
        return;
    memset(v->in_flight, 0, v->n_flows);
    for (uint32_t flow = 0; flow < hosts->flows.n; flow++)
        v->seqs[flow] = state_count(st, &hosts->senders[flow]->una);
    network_visit(hosts->net, st, &packets);
    state_visit(st, &hosts_table, hosts, 0);
    state_value(st, hosts->flows.n);
    for (uint32_t d = 0; d < hosts->n_dims; d++)
        for (size_t i = 0; i < sizeof hosts->dims[d].counters / sizeof(uint64_t); i++)
            state_count(st, (uint64_t *)&hosts->dims[d].counters + i);
    visit_pairs(v, st);
    for (uint32_t i = 0; i < hosts->n_nics; i++)
        visit_nic(v, st, i);
    for (uint32_t flow = 0; flow < hosts->flows.n; flow++)
        visit_flow(v, st, flow);
    struct flow_state *end = &v->flows[hosts->flows.n];
    if (st->mode == STATE_SAVE)
        *end = (struct flow_state){.at = st->n, .count_at = st->n_counts};
    st->at = end->count_at;
}

void hosts_visit_free(struct hosts_visit *v)
{
    free(v->flows);
    free(v->seqs);
    free(v->paused_moved);
    free(v->in_flight);
    free(v->scratch);
    *v = (struct hosts_visit){0};
}
