// SPDX-License-Identifier: MIT
// Tables of queue pairs: which fields change while events are processed, and how they repeat.
#include "transport/state.h"
#include "transport/roce/roce.h"

#define F(member, kind) STATE_FIELD(struct roce_selective, member, kind)
static const struct state_field selective_fields[] = {
    F(sacked, BY_HAND),   // empty, as the other sets
    F(lost_end, SCRATCH), // at most una, as long as nothing is lost
    F(retx_next, SCRATCH),  F(recover_psn, BY_HAND), F(rto_low_ps, CONFIG),
    F(rto_high_ps, CONFIG), F(trimmed, BY_HAND),     F(resent, BY_HAND),
    F(trim_next, SCRATCH),  F(spray, CONFIG), // refused
};
STATE_TABLE(selective_table, struct roce_selective, selective_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct roce_receiver, member, kind)
static const struct state_field receiver_fields[] = {
    F(base, CONFIG),
    F(msn, BY_HAND),
    F(expected_psn, BY_HAND),
    F(np, BY_HAND),
    F(early, BY_HAND),
    F(src_node, PLAIN),
    F(entropy, PLAIN),
    F(port, PLAIN),
    STATE_BEHIND(struct roce_receiver,
                 "ack_cls nak_sent ce_since_ack unacked splits_acks own_window port_scope", port,
                 PLAIN),
};
STATE_TABLE(receiver_table, struct roce_receiver, receiver_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct np_window, member, kind)
static const struct state_field window_fields[] = {
    F(end_ps, PAST),  F(marked, BY_HAND), F(marked_psn, BY_HAND),
    F(mark, SCRATCH), F(timer, BY_HAND),
};
STATE_TABLE(window_table, struct np_window, window_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct packet_meta, member, kind)
static const struct state_field meta_fields[] = {
    F(sent_ps, TIME),        F(token, BY_HAND),       // data
    F(msn, BY_HAND),                                  // feedback, as sack_seq
    F(sack_seq, BY_HAND),    F(window_bytes, CONFIG), // other transports
    F(sack_bits, CONFIG),    F(next, CONFIG),           F(seq, BY_HAND),
    F(message_bytes, PLAIN), F(clock_ms, CONFIG), // share bytes, as the next ones do
    F(place, CONFIG),        F(received_bytes, CONFIG), F(payload_bytes, PLAIN),
    F(acked, CONFIG),        F(int_enabled, PLAIN),     F(int_hops, PLAIN),
    F(pint, PLAIN),          F(penalty, CONFIG),        F(n_sacks, PLAIN),
    F(tcp_control, CONFIG),  F(connection, CONFIG),     F(entropy, PLAIN),
};
STATE_TABLE(meta_table, struct packet_meta, meta_fields);
#undef F

static void visit_sender(struct sender *s, struct state *st, struct state_base seq)
{
    (void)seq;
    struct roce_selective *r = roce_selective_of(s);
    if (!r)
        return;
    if (r->sacked.n + r->trimmed.n + r->resent.n > 0 || r->recover_psn != 0)
        state_refuse(st, "a flow repairs a loss");
    state_visit(st, &selective_table, r, s->flow);
}

static void visit_window(struct roce_receiver *r, struct state *st, struct state_base seq)
{
    struct np_window *np = r->np;
    state_value(st, np != NULL);
    if (!np)
        return;
    state_visit(st, &window_table, np, r->base.flow);
    state_value(st, np->marked != NULL);
    if (np->marked)
        state_from32(st, &np->marked_psn, seq);
    state_timer(st, &np->timer);
}

static void visit_receiver(struct receiver *base, struct state *st, struct state_base seq)
{
    struct roce_receiver *r = (struct roce_receiver *)base;
    state_visit(st, &receiver_table, r, base->flow);
    state_from(st, &r->expected_psn, seq);
    state_count32(st, &r->msn);
    if (r->early && (r->early->psns.n > 0 || r->early->n_ends > 0))
        state_refuse(st, "packets have arrived out of order");
    if (r->port_scope || (r->np && !r->own_window))
        state_refuse(st, "flows share a window of CNPs (`transport.cnp_scope`)");
    visit_window(r, st, seq);
}

static bool is_quiet(const struct receiver *base)
{
    const struct roce_receiver *r = (const struct roce_receiver *)base;
    return !r->np || (!r->np->marked && !sim_timer_active(&r->np->timer));
}

// The message number of an ACK is only shown by captures.
static void visit_meta(struct state *st, struct packet *p, struct packet_meta *meta,
                       struct state_base seq)
{
    state_visit(st, &meta_table, meta, p->flow);
    state_from32(st, &meta->seq, seq);
    if (p->kind == PACKET_DATA)
        state_token(st, &meta->token);
    else if (p->kind == PACKET_ACK)
        state_from32(st, &meta->sack_seq, seq);
}

const struct transport_state roce_state = {visit_sender, visit_receiver, visit_meta, is_quiet};
