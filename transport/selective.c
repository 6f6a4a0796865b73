// SPDX-License-Identifier: MIT
// Selective repeat at the sender, after IRN (Mittal et al., SIGCOMM 2018, sections 3.1 and 3.2).
//
// The receiver keeps packets that come early and answers each with a NAK that names the first missing
// packet and the early one. The sender remembers what has arrived; a packet is lost once one sent more
// than `reorder` later has arrived, and is sent again once, before new ones. What is lost a second
// time waits for the timeout: short with at most three packets in flight, else long enough for the
// queues on the way. The record of one NAK is more than an AETH can say on the wire: IRN needs a new
// header, captures show a plain NAK.
#include "transport/roce.h"

#define FEW_PACKETS 3

// Once the short timeout has fired without progress, the queue ahead may simply be longer than it: the
// next one waits for what the buffers of the path can hold, so that no flow is given up for a queue.
ps_t roce_selective_rto_ps(const struct qp_sender *s)
{
    bool few = s->snd_nxt - s->snd_una <= FEW_PACKETS;
    return few && s->retries == 0 ? s->rto_low_ps : s->rto_high_ps;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Find the first lost packet that has not been sent again.
static void look_for_loss(struct qp_sender *s)
{
    s->retx_next = later(s->retx_next, s->snd_una);
    while (s->retx_next < s->lost_end && psn_set_has(&s->sacked, s->retx_next))
        s->retx_next++;
    s->retx_due = s->retx_next < s->lost_end;
}

void roce_selective_ack(struct roce *roce, struct qp *qp, const struct packet *p, uint64_t una)
{
    struct qp_sender *s = &qp->snd;
    for (uint64_t psn = una; s->sacked.n > 0 && psn < s->snd_una; psn++)
        psn_set_remove(&s->sacked, psn);
    if (s->snd_una >= s->recover_psn)
        s->recover_psn = 0;
    if (p->flags & PACKET_NAK) {
        uint64_t early = psn_restore(cargo_at(&roce->net->cargo, p->cargo)->sack_psn, s->snd_una);
        uint64_t reorder = roce_dim_of(roce, qp)->spec.reorder_packets;
        if (early >= s->snd_una && early < s->snd_max)
            psn_set_add(&s->sacked, s->snd_una, early);
        if (early > s->snd_una + reorder && early < s->snd_max)
            s->lost_end = later(s->lost_end, early - reorder);
    }
    look_for_loss(s);
    if (s->retx_due && s->recover_psn == 0)
        s->recover_psn = s->snd_max;
}

void roce_selective_timeout(struct qp_sender *s)
{
    s->retx_next = s->snd_una;
    s->lost_end = s->recover_psn = s->snd_max; // all that has not arrived
    look_for_loss(s);
}

uint64_t roce_selective_take(struct qp_sender *s)
{
    uint64_t psn = s->retx_next++;
    look_for_loss(s);
    return psn;
}
