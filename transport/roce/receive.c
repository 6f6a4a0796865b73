// SPDX-License-Identifier: MIT
// The receiver of a queue pair: packet order, ACKs, one NAK per gap, completed messages.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "transport/roce/roce.h"

static const struct roce_spec *spec_of(const struct roce_receiver *r)
{
    return roce_spec_const(&r->base.dim->spec);
}

// Send an ACK. It takes over the meta-data of the data packet, so that the sender gets the packet's
// start time and telemetry.
static void send_ack(struct roce_receiver *r, struct packet *data, uint8_t flags, ps_t now)
{
    const struct transport_dim *dim = r->base.dim;
    struct network *net = dim->hosts->net;
    struct packet_sizes size = dim->ack;
    struct packet ack = {.flow = r->base.flow,
                         .dst = r->src_node,
                         .entropy = r->entropy,
                         .meta = data->meta,
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_ACK,
                         .ingress = PACKET_OWN,
                         .cls = r->ack_cls,
                         .flags = flags,
                         .arrives_ps = now};
    struct packet_meta *meta = meta_at(&net->meta, data->meta);
    meta->sack_seq = meta->seq;
    meta->msn = r->msn;
    meta->seq = (uint32_t)r->expected_psn;
    meta->payload_bytes = 0;
    data->meta = 0;
    port_enqueue(net, r->port, &ack, now);
}

static void progress(const struct roce_receiver *r, const struct packet *p, ps_t now)
{
    struct hosts *hosts = r->base.dim->hosts;
    hosts_progress(hosts, meta_at(&hosts->net->meta, p->meta)->payload_bytes, now);
}

static void deliver(const struct roce_receiver *r, uint64_t token, ps_t now)
{
    const struct hosts *hosts = r->base.dim->hosts;
    hosts_deliver(hosts, token, now);
}

/* ---- packets after the next expected one ---- */

static struct roce_early *early_of(struct roce_receiver *r)
{
    if (!r->early)
        r->early = memory_zeroed(1, sizeof *r->early);
    return r->early;
}

static void keep_early(struct roce_receiver *r, const struct packet *p, uint64_t psn, ps_t now)
{
    struct roce_early *early = early_of(r);
    if (p->flags & PACKET_ACKREQ && psn >= early->asked_end)
        early->asked_end = psn + 1;
    if (!psn_set_add(&early->psns, r->expected_psn, psn))
        return;
    progress(r, p, now);
    if (!(p->flags & PACKET_LAST))
        return;
    if (early->n_ends == early->cap_ends)
        early->ends = memory_grow(early->ends, &early->cap_ends, sizeof *early->ends);
    // Insert the end of the message in ascending order of packet numbers.
    size_t at = early->n_ends++;
    for (; at > 0 && early->ends[at - 1].psn > psn; at--)
        early->ends[at] = early->ends[at - 1];
    const struct packet_meta *meta = meta_at(&r->base.dim->hosts->net->meta, p->meta);
    early->ends[at] = (struct early_message){psn, meta->token};
}

// True if the NAK of this gap is old enough for another one.
static bool repeats_nak(const struct roce_receiver *r, ps_t now)
{
    ps_t repeat_ps = spec_of(r)->nak_repeat_ps;
    return repeat_ps > 0 && r->early && now - r->early->nak_ps >= repeat_ps;
}

static void out_of_order(struct roce_receiver *r, struct packet *p, uint64_t psn, ps_t now)
{
    const enum recovery recovery = (enum recovery)spec_of(r)->recovery;
    bool nak = recovery == RECOVERY_GO_BACK_N && (!r->nak_sent || repeats_nak(r, now));
    // In selective repeat a NAK acknowledges every packet that arrives early (selective.c).
    if (recovery == RECOVERY_SELECTIVE_REPEAT) {
        nak = true;
        keep_early(r, p, psn, now);
    }
    if (nak) {
        r->nak_sent = true;
        if (spec_of(r)->nak_repeat_ps > 0)
            early_of(r)->nak_ps = now;
        r->base.dim->hosts->counters.naks++;
        send_ack(r, p, PACKET_NAK, now);
        roce_notify_nak(r, (uint32_t)psn, now);
    }
}

// Returns the number of messages, among those whose last packet came early, that are now complete.
static uint32_t complete_early(const struct roce_early *early, uint64_t expected_psn)
{
    uint32_t n = 0;
    while (n < early->n_ends && early->ends[n].psn < expected_psn)
        n++;
    return n;
}

// Deliver `n` messages. The callbacks may post messages, but never to this receiver.
static void deliver_early(struct roce_receiver *r, uint32_t n, ps_t now)
{
    struct roce_early *early = r->early;
    for (uint32_t i = 0; i < n; i++)
        deliver(r, early->ends[i].token, now);
    early->n_ends -= n;
    memmove(early->ends, early->ends + n, early->n_ends * sizeof *early->ends);
}

/* ---- ECN echo ---- */

// Returns the ECN echo of the ACK about to be sent, and starts a new count.
static uint8_t reset_echo(struct roce_receiver *r)
{
    uint8_t echo = r->ce_since_ack ? PACKET_ECHO_CE : 0;
    r->base.dim->hosts->counters.echoed_marks += r->ce_since_ack;
    r->ce_since_ack = r->unacked = false;
    return echo;
}

// Used for policies that need the exact share of marked bytes. Called before `data` is accepted as
// the next packet in order: if its CE differs from that of the packets not yet acknowledged, those
// are acknowledged first (RFC 8257, section 3.2). This ACK carries the start time of `data`, which
// caused it.
__attribute__((noinline)) static void split_ack(struct roce_receiver *r, const struct packet *data,
                                                ps_t now)
{
    struct meta_pool *pool = &r->base.dim->hosts->net->meta;
    bool ce = data->flags & PACKET_CE;
    if (r->unacked && ce != r->ce_since_ack) {
        struct packet before = *data;
        struct packet_meta meta = {.sent_ps = meta_at(pool, data->meta)->sent_ps,
                                   .seq = meta_at(pool, data->meta)->seq};
        // `data` needs its own slot for its own ACK, so the additional ACK gets a new one.
        before.meta = meta_alloc(pool);
        *meta_at(pool, before.meta) = meta;
        send_ack(r, &before, reset_echo(r), now);
    }
    r->unacked = true;
}

/* ---- data ---- */

// Start a fresh connection. Its first packet is the next in order, because every message has its
// own connection.
__attribute__((noinline)) static void restart(struct roce_receiver *r)
{
    const struct hosts *hosts = r->base.dim->hosts;
    r->entropy = hosts->flows.ids[r->base.flow].back_entropy;
    r->ce_since_ack = r->unacked = false;
    roce_notify_restart(r);
}

// Accept the next packet in order. Returns the number of messages, among those whose last packet
// came early, that are now complete.
static uint32_t accept(struct roce_receiver *r, const struct packet *p, ps_t now)
{
    uint32_t n = 0;
    r->expected_psn++;
    if (r->early) {
        struct psn_set *psns = &r->early->psns;
        while (psn_set_has(psns, r->expected_psn))
            psn_set_remove(psns, r->expected_psn++);
        n = complete_early(r->early, r->expected_psn);
    }
    r->msn += n + (p->flags & PACKET_LAST ? 1 : 0);
    r->nak_sent = false;
    progress(r, p, now);
    return n;
}

// Packet `psn` has arrived in order. Returns true if `psn` has filled a gap before a later packet
// that has requested an ACK. The ACK is then due now, because the NAK of that packet could not
// report the packets before it, and `psn` itself may not request an ACK.
static bool answers_early(struct roce_receiver *r, uint64_t psn)
{
    struct roce_early *early = r->early;
    bool asked = early && early->asked_end > psn + 1 && r->expected_psn > psn + 1;
    if (asked && early->asked_end <= r->expected_psn)
        early->asked_end = 0;
    return asked;
}

void roce_on_data(struct receiver *base, uint32_t port, struct packet *p, ps_t now)
{
    struct roce_receiver *r = (struct roce_receiver *)base;
    const struct packet_meta *meta = meta_at(&base->dim->hosts->net->meta, p->meta);
    uint64_t psn = seq_restore(meta->seq, r->expected_psn), token = meta->token;
    bool in_order = psn == r->expected_psn, ends = in_order && p->flags & PACKET_LAST;
    r->port = port;
    if (base->dim->fresh_connections && in_order && p->flags & PACKET_FIRST)
        restart(r);
    if (r->splits_acks && in_order)
        split_ack(r, p, now);
    if (p->flags & PACKET_CE) {
        r->ce_since_ack = true;
        roce_notify_mark(r, p, (uint32_t)psn, now);
    }
    if (psn > r->expected_psn) {
        out_of_order(r, p, psn, now);
        return;
    }
    // A packet before the expected one is a duplicate. It changes no state, but a requested ACK is
    // sent again.
    uint32_t early = in_order ? accept(r, p, now) : 0; // before the ACK, which reports the new
                                                       // state
    if (p->flags & PACKET_ACKREQ || (in_order && answers_early(r, psn)))
        send_ack(r, p, reset_echo(r), now);
    if (ends)
        deliver(r, token, now);
    if (early > 0)
        deliver_early(r, early, now);
}

// Report a packet that has lost its payload in a switch, so that the sender sends it again at once.
// If another transmission has delivered the payload, the packet is reported as arrived instead.
void roce_on_trimmed(struct receiver *base, uint32_t port, struct packet *p, ps_t now)
{
    struct roce_receiver *r = (struct roce_receiver *)base;
    uint32_t seq = meta_at(&base->dim->hosts->net->meta, p->meta)->seq;
    uint64_t psn = seq_restore(seq, r->expected_psn);
    r->port = port;
    if (p->flags & PACKET_CE) {
        r->ce_since_ack = true;
        roce_notify_mark(r, p, (uint32_t)psn, now);
    }
    // Another transmission has delivered the payload, so an ACK answers a request.
    if (psn < r->expected_psn) {
        if (p->flags & PACKET_ACKREQ)
            send_ack(r, p, reset_echo(r), now);
        return;
    }
    bool early = r->early && psn_set_has(&r->early->psns, psn);
    base->dim->hosts->counters.naks++;
    send_ack(r, p, early ? PACKET_NAK : PACKET_NAK | PACKET_TRIM_REPORT, now);
}
