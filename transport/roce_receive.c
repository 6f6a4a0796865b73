// SPDX-License-Identifier: MIT
// The receiver of a queue pair: order, ACK, NAK once per gap, and the notification point.
#include "transport/roce.h"

// The ACK takes over what the data carries: when it was sent, and what it has gathered on its way.
static void answer(struct roce *roce, uint32_t port, struct packet *data, const struct qp *qp,
                   uint8_t flags, ps_t now)
{
    const struct roce_dim *dim = roce_dim_of(roce, qp);
    struct packet_sizes size = dim->ack;
    struct packet ack = {.flow = qp->index,
                         .psn = (uint32_t)qp->rcv.expected_psn,
                         .dst = qp->src_node,
                         .cargo = data->cargo,
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_ACK,
                         .ingress = PACKET_OWN,
                         .cls = roce_ack_class(dim, qp) & 7,
                         .flags = flags,
                         .arrives_ps = now};
    struct cargo *cargo = cargo_at(&roce->net->cargo, data->cargo);
    cargo->aux = qp->rcv.msn;
    cargo->sack_psn = data->psn;
    cargo->payload_bytes = 0;
    data->cargo = 0;
    port_enqueue(roce->net, port, &ack, now);
}

static void send_cnp(struct roce *roce, const struct qp *qp, uint32_t port, ps_t now)
{
    struct packet_sizes size = cnp_sizes(&roce_dim_of(roce, qp)->spec);
    struct packet cnp = {.flow = qp->index,
                         .dst = qp->src_node,
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_CNP,
                         .ingress = PACKET_OWN,
                         .cls = NET_CLASS_CONTROL,
                         .arrives_ps = now};
    roce->cnps_sent++;
    port_enqueue(roce->net, port, &cnp, now);
}

// Notification point (Zhu et al., SIGCOMM 2015): a CNP at once when idle, then at most one per
// interval; a mark inside the window is remembered until its end. The timer runs only then. Where
// queue pairs share a window, the first one marked in it gets the CNP at its end and the marks of
// the others are lost, as in NICs that limit CNPs per port or address.
static void notification_point(struct roce *roce, struct qp *qp, uint32_t port, ps_t now)
{
    struct np_window *np = qp->rcv.np ? qp->rcv.np : &roce->np_ports[port];
    if (np->marked)
        return;
    if (now < np->end_ps) {
        np->marked = qp;
        sim_timer_start(roce->net->engine, &np->timer, np->end_ps);
        return;
    }
    np->end_ps = now + roce_dim_of(roce, qp)->spec.cnp_interval_ps;
    send_cnp(roce, qp, port, now);
}

void roce_np_fired(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct np_window *np = timer->data;
    struct qp *qp = np->marked;
    struct roce *roce = qp->roce;
    np->marked = NULL;
    np->end_ps = e->now_ps + roce_dim_of(roce, qp)->spec.cnp_interval_ps;
    send_cnp(roce, qp, qp->rcv.np_port, e->now_ps);
}

// Messages that are whole, from the oldest on: count them, or tell of them.
static uint32_t whole_messages(const struct roce *roce, const struct qp_receiver *r)
{
    uint32_t n = 0;
    for (uint32_t slot = r->receiving; slot != MESSAGE_NIL; n++) {
        const struct message *m = &roce->messages.slots[slot];
        if (message_end_psn(m) > r->expected_psn)
            break;
        slot = m->next;
    }
    return n;
}

static void deliver(struct roce *roce, struct qp *qp, uint32_t n, ps_t now)
{
    struct qp_receiver *r = &qp->rcv;
    for (; n > 0; n--) {
        struct message *m = roce_message(roce, r->receiving);
        m->delivered_ps = now;
        r->receiving = m->next;
        roce->client.delivered(roce->client.ctx, m->token, now);
    }
}

static void progress(struct roce *roce, const struct packet *p, ps_t now)
{
    roce->delivered_bytes += cargo_at(&roce->net->cargo, p->cargo)->payload_bytes;
    roce->last_delivery_ps = now;
}

// A packet beyond the next expected one.
static void out_of_order(struct roce *roce, struct qp *qp, uint32_t port, struct packet *p,
                         uint64_t psn, ps_t now)
{
    struct qp_receiver *r = &qp->rcv;
    const enum recovery recovery = (enum recovery)roce_dim_of(roce, qp)->spec.recovery;
    bool nak = recovery == RECOVERY_GO_BACK_N && !r->nak_sent; // once per gap
    if (recovery == RECOVERY_SELECTIVE_REPEAT) {
        nak = true;
        if (psn_set_add(&r->early, r->expected_psn, psn))
            progress(roce, p, now);
    }
    if (nak) {
        r->nak_sent = true;
        roce->naks++;
        answer(roce, port, p, qp, PACKET_NAK, now);
    }
}

// The echo of the ACK that goes now; the next begins to count.
static uint8_t echo_take(struct roce *roce, struct qp_receiver *r)
{
    uint8_t echo = r->ce_since_ack ? PACKET_ECHO_CE : 0;
    roce->echoed_marks += r->ce_since_ack;
    r->ce_since_ack = r->unacked = false;
    return echo;
}

// For policies that weigh marks, before `data` is taken in as the next in order: where its CE differs from
// that of the packets that wait for an ACK, they get theirs (RFC 8257, section 3.2). It carries the time at
// which `data` was sent, since that packet makes it.
__attribute__((noinline)) static void split_ack(struct roce *roce, uint32_t port,
                                                const struct packet *data, struct qp *qp, ps_t now)
{
    struct cargo_pool *pool = &roce->net->cargo;
    bool ce = data->flags & PACKET_CE;
    if (qp->rcv.unacked && ce != qp->rcv.ce_since_ack) {
        struct packet before = *data;
        ps_t sent_ps = cargo_at(pool, data->cargo)->sent_ps;
        before.cargo = cargo_take(pool);
        *cargo_at(pool, before.cargo) = (struct cargo){.sent_ps = sent_ps};
        answer(roce, port, &before, qp, echo_take(roce, &qp->rcv), now);
    }
    qp->rcv.unacked = true;
}

void roce_on_data(struct roce *roce, uint32_t port, struct packet *p, ps_t now)
{
    struct qp *qp = qp_at(&roce->qps, p->flow);
    struct qp_receiver *r = &qp->rcv;
    if (r->failed)
        return;
    uint64_t psn = psn_restore(p->psn, r->expected_psn);
    r->np_port = port;
    if (qp->splits_acks && psn == r->expected_psn)
        split_ack(roce, port, p, qp, now);
    if (p->flags & PACKET_CE) {
        r->ce_since_ack = true;
        if (qp->wants_cnps)
            notification_point(roce, qp, port, now);
    }
    if (psn > r->expected_psn) {
        out_of_order(roce, qp, port, p, psn, now);
        return;
    }
    uint32_t whole = 0;
    if (psn == r->expected_psn) { // first, since the answer speaks of it
        r->expected_psn++;
        while (psn_set_has(&r->early, r->expected_psn))
            psn_set_remove(&r->early, r->expected_psn++);
        if (p->flags & PACKET_LAST || r->expected_psn > psn + 1)
            whole = whole_messages(roce, r);
        r->msn += whole;
        r->nak_sent = false;
        progress(roce, p, now);
    }
    if (p->flags & PACKET_ACKREQ)
        answer(roce, port, p, qp, echo_take(roce, r), now);
    deliver(roce, qp, whole, now);
}
