// SPDX-License-Identifier: MIT
// Selective repeat at the sender, after IRN (Mittal et al., SIGCOMM 2018, sections 3.1 and 3.2).
//
// The receiver keeps packets that arrive early and acknowledges each with a NAK that contains the
// first missing packet and the early packet. The sender records which packets have arrived. A
// packet counts as lost when another packet, sent more than `reorder` packets later, has arrived;
// it is then retransmitted once, before new packets. A packet lost a second time waits for the
// timeout, which is short with at most three packets in flight, else long enough for the queues on
// the path. An AETH has no room for the early packet: IRN needs a new header, and captures show a
// plain NAK.
//
// Where switches trim packets (switch/trimming.h) the receiver reports each packet that arrives
// without its payload, and that packet is sent again at once, whatever `reorder`. It is sent once
// more only after another report or a timeout.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "transport/roce/roce.h"

#define FEW_PACKETS 3
#define SHORT_TIMEOUT_PS (100 * PS_PER_US) // RTO_low of the authors, on a 40G network

// Sets both timeouts.
//
// With a timeout of a few base RTTs a queue would look like a loss: in an incast of 63 senders,
// three packets wait for those of all others, and while the queue of a small buffer drains, all
// retries would be used up. The authors' value is therefore the lower limit of both timeouts.
//
// Where switches trim, packets that find no room are reported, so that timeouts only serve for
// losses on links. They cover the queues of the class of data and of the control class, in which
// headers of trimmed packets may wait twice as long.
static void timeouts_of(const struct transport_dim *dim, ps_t base_rtt_ps, ps_t queueing_ps,
                        ps_t *low_ps, ps_t *high_ps)
{
    const struct roce_spec *spec = roce_spec_const(&dim->spec);
    ps_t low = spec->rto_low_ps, high = spec->rto_high_ps, rtts_ps = 2 * base_rtt_ps;
    if (high == PARAM_AUTO_TIME)
        high = dim->trimmed
                   ? base_rtt_ps + 6 * queueing_ps
                   : ps_longer(base_rtt_ps + queueing_ps, ps_longer(rtts_ps, SHORT_TIMEOUT_PS));
    if (low == PARAM_AUTO_TIME)
        low = dim->trimmed ? high : ps_longer(rtts_ps, ps_shorter(SHORT_TIMEOUT_PS, high));
    *low_ps = low;
    *high_ps = high;
}

size_t roce_autos(const struct transport_dim *dim, const struct transport_path *path,
                  struct transport_auto *out)
{
    const struct roce_spec *spec = roce_spec_const(&dim->spec);
    ps_t low_ps, high_ps;
    size_t n = 0;
    if (spec->recovery != RECOVERY_SELECTIVE_REPEAT)
        return 0;
    timeouts_of(dim, path->base_rtt_ps, path->queueing_ps, &low_ps, &high_ps);
    if (spec->rto_low_ps == PARAM_AUTO_TIME) {
        out[n].key = "rto_low";
        human_time(low_ps, out[n++].text);
    }
    if (spec->rto_high_ps == PARAM_AUTO_TIME) {
        out[n].key = "rto_high";
        human_time(high_ps, out[n++].text);
    }
    return n;
}

void roce_selective_open(struct sender *s, ps_t queueing_ps)
{
    s->cold.own = memory_zeroed(1, sizeof(struct roce_selective));
    if (roce_spec_const(&s->dim->spec)->bdp_cap)
        s->cold.cap_bytes = cc_bdp_bytes(sender_env(s));
    struct roce_selective *r = roce_selective_of(s);
    uint64_t window_bytes = roce_spec_const(&s->dim->spec)->window_packets * s->dim->mtu_bytes;
    if (window_bytes > 0 && window_bytes < s->cold.cap_bytes)
        s->cold.cap_bytes = window_bytes;
    timeouts_of(s->dim, sender_env(s)->base_rtt_ps, queueing_ps, &r->rto_low_ps, &r->rto_high_ps);
}

// After a short timeout without progress the queue on the path may simply be longer than the
// timeout. The next timeout therefore covers what the buffers of the path can hold, so that no flow
// fails because of a queue.
ps_t roce_selective_rto_ps(const struct sender *s)
{
    bool few = s->nxt - s->una <= FEW_PACKETS;
    return few && s->retries == 0 ? roce_selective_of(s)->rto_low_ps
                                  : roce_selective_of(s)->rto_high_ps;
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

// Find the first lost packet that has not been retransmitted.
static void find_loss(struct sender *s)
{
    struct roce_selective *r = roce_selective_of(s);
    r->retx_next = later(r->retx_next, s->una);
    while (r->retx_next < r->lost_end &&
           (psn_set_has(&r->sacked, r->retx_next) || psn_set_has(&r->resent, r->retx_next) ||
            psn_set_has(&r->trimmed, r->retx_next)))
        r->retx_next++;
    s->special_due = r->retx_next < r->lost_end || r->trimmed.n > 0;
}

// Remove from `set` the packets that an ACK has just acknowledged: from `una`, the value before
// that ACK, to s->una.
static void forget_acknowledged(const struct sender *s, struct psn_set *set, uint64_t una)
{
    for (uint64_t psn = una; set->n > 0 && psn < s->una; psn++)
        psn_set_remove(set, psn);
}

bool roce_selective_ack(struct sender *s, const struct packet *p, uint64_t una)
{
    struct roce_selective *r = roce_selective_of(s);
    bool recovering = r->recover_psn != 0;
    forget_acknowledged(s, &r->sacked, una);
    forget_acknowledged(s, &r->trimmed, una);
    forget_acknowledged(s, &r->resent, una);
    if (s->una >= r->recover_psn)
        r->recover_psn = 0;
    if (p->flags & PACKET_NAK) {
        const struct packet_meta *meta = meta_at(&sender_hosts(s)->net->meta, p->meta);
        uint64_t early = seq_restore(meta->sack_seq, s->una);
        uint64_t reorder = roce_spec_const(&s->dim->spec)->reorder_packets;
        if (early >= s->una && early < s->max)
            psn_set_add(&r->sacked, s->una, early);
        if (early > s->una + reorder && early < s->max)
            r->lost_end = later(r->lost_end, early - reorder);
        s->cold.resends = RESEND_NAK;
    }
    find_loss(s);
    if (s->special_due && r->recover_psn == 0)
        r->recover_psn = s->max;
    return r->recover_psn != 0 && !recovering;
}

bool roce_selective_trimmed(struct sender *s, uint64_t psn)
{
    struct roce_selective *r = roce_selective_of(s);
    bool recovering = r->recover_psn != 0;
    if (psn < s->una || psn >= s->max || psn_set_has(&r->sacked, psn))
        return false;
    r->trim_next = r->trimmed.n == 0 || psn < r->trim_next ? psn : r->trim_next;
    psn_set_add(&r->trimmed, s->una, psn);
    s->special_due = true;
    s->cold.resends = RESEND_TRIM;
    if (!recovering)
        r->recover_psn = s->max;
    return !recovering;
}

void roce_selective_timeout(struct sender *s)
{
    struct roce_selective *r = roce_selective_of(s);
    psn_set_clear(&r->trimmed);
    psn_set_clear(&r->resent);
    r->retx_next = s->una;
    r->lost_end = r->recover_psn = s->max; // all packets that have not arrived are lost
    find_loss(s);
}

uint64_t roce_selective_next(struct sender *s)
{
    struct roce_selective *r = roce_selective_of(s);
    uint64_t psn = r->retx_next;
    if (r->trimmed.n > 0) {
        for (psn = later(r->trim_next, s->una); !psn_set_has(&r->trimmed, psn); psn++)
            ;
        psn_set_remove(&r->trimmed, psn);
        psn_set_add(&r->resent, s->una, psn);
        r->trim_next = psn + 1;
    } else {
        r->retx_next++;
    }
    find_loss(s);
    return psn;
}
