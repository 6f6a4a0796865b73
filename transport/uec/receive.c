// SPDX-License-Identifier: MIT
// The receiver: packets in any order, messages that are complete, ACKs and reports of trimmed
// packets.
//
// An ACK is sent at once if the packet is marked, requests an ACK, is the first of the connection,
// is a duplicate, fills a gap behind which another packet has requested an ACK, or is the last one
// that was sent before a request. Otherwise one is sent after `ack_every` bytes.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "transport/nic/adapter.h"
#include "transport/uec/uec.h"

/* ---- reports ---- */

void uec_send_report(const struct uec_receiver *r, enum packet_kind kind, uint32_t slot,
                     struct packet_sizes size, uint8_t flags, ps_t now)
{
    struct network *net = r->base.dim->hosts->net;
    uint32_t entropy = meta_at(&net->meta, slot)->entropy;
    uint32_t path = r->base.dim->numbers_paths && r->n_entropies > 1
                        ? entropy
                        : path_entropy(r->addresses, r->port_base | entropy, 0);
    struct packet p = uec_control(r->base.flow, r->src_node, path, slot, size, now);
    p.kind = kind;
    p.flags = flags;
    meta_note_made(&net->meta, slot, now);
    port_enqueue(net, r->port, &p, now);
}

// Destination flow control: the penalty that the receiver writes into its ACKs. It is 0 until the
// packets held by the NIC reach half of its XOFF threshold, and grows in proportion beyond; when
// nothing is held, the window is restored. (No standard defines the receiver's rule.)
static uint8_t penalty_of(const struct uec_receiver *r)
{
    enum { PENALTY_MAX = 127, RESTORE = 128 };
    const struct adapter *a = adapter_of_port(r->base.dim->hosts, r->port);
    if (!a || !uec_spec_const(&r->base.dim->spec)->destination_control)
        return 0;
    uint64_t half = a->xoff_bytes / 2, held = a->held_bytes;
    if (held == 0)
        return RESTORE;
    uint64_t penalty = held > half ? PENALTY_MAX * (held - half) / (half + 1) : 0;
    return (uint8_t)(penalty < PENALTY_MAX ? penalty : PENALTY_MAX);
}

// Send an ACK for packet `psn`. The ACK takes over the packet's meta-data and keeps its start of
// transmission and its entropy.
static void send_ack(struct uec_receiver *r, struct packet *p, uint64_t psn, ps_t now)
{
    struct network *net = r->base.dim->hosts->net;
    uint8_t flags = p->flags & PACKET_ACKREQ;
    if (p->flags & PACKET_CE) {
        flags |= PACKET_ECHO_CE;
        r->base.dim->hosts->counters.echoed_marks++;
    }
    struct packet_meta *meta = meta_at(&net->meta, p->meta);
    meta->seq = (uint32_t)r->expected;
    meta->acked = (uint16_t)psn;
    meta->received_bytes = (uint32_t)r->received_bytes;
    meta->sack_bits = psn_set_bits(&r->early, uec_bitmap_base(psn, r->expected));
    meta->n_sacks = 0;
    meta->penalty = penalty_of(r);
    r->since_ack_bytes = 0;
    uint32_t slot = p->meta;
    p->meta = 0;
    uec_send_report(r, PACKET_ACK, slot, r->base.dim->ack, flags, now);
}

// Report that packet `p` has lost its payload.
static void send_nack(struct uec_receiver *r, struct packet *p, ps_t now)
{
    const struct transport_dim *dim = r->base.dim;
    uint8_t flags = PACKET_NAK | PACKET_TRIM_REPORT;
    flags |= p->flags & PACKET_CE ? PACKET_ECHO_CE : 0;
    flags |= p->flags & PACKET_LAST_HOP ? PACKET_NAK_LAST_HOP : 0;
    uint32_t slot = p->meta;
    meta_at(&dim->hosts->net->meta, slot)->n_sacks = 0;
    p->meta = 0;
    uec_send_report(r, PACKET_ACK, slot, uec_nack_sizes(&dim->spec), flags, now);
}

/* ---- messages ---- */

static struct uec_partial *partial_at(struct uec_receiver *r, uint64_t first_psn)
{
    for (size_t i = r->n_partial; i > 0; i--)
        if (r->partial[i - 1].first_psn == first_psn)
            return &r->partial[i - 1];
    if (r->n_partial == r->cap_partial)
        r->partial = memory_grow(r->partial, &r->cap_partial, sizeof *r->partial);
    r->partial[r->n_partial] = (struct uec_partial){.first_psn = first_psn};
    return &r->partial[r->n_partial++];
}

// Count a new packet of a message. Returns true if the message is complete.
static bool count_packet(struct uec_receiver *r, const struct packet *p,
                         const struct packet_meta *meta, uint64_t psn)
{
    if ((p->flags & (PACKET_FIRST | PACKET_LAST)) == (PACKET_FIRST | PACKET_LAST))
        return true;
    struct uec_partial *m = partial_at(r, psn - meta->place);
    if (p->flags & PACKET_LAST)
        m->n_psn = meta->place + UINT64_C(1);
    m->bytes += meta->payload_bytes;
    if (++m->arrived != m->n_psn)
        return false;
    *m = r->partial[--r->n_partial];
    return true;
}

uint64_t uec_received_bytes(const struct receiver *base, const struct message *m)
{
    const struct uec_receiver *r = (const struct uec_receiver *)base;
    for (size_t i = 0; i < r->n_partial; i++)
        if (r->partial[i].first_psn == m->first_seq)
            return r->partial[i].bytes;
    return m->first_seq < r->expected || psn_set_has(&r->early, m->first_seq) ? m->bytes : 0;
}

void uec_hand_over_receiver(struct parcel *p, struct receiver *base)
{
    struct uec_receiver *r = (struct uec_receiver *)base;
    PARCEL(p, r->expected);
    psn_set_hand_over(p, &r->early);
    PARCEL(p, r->n_partial);
    if (p->reads) {
        r->cap_partial = r->n_partial;
        r->partial = memory_zeroed(r->n_partial, sizeof *r->partial);
    }
    parcel_value(p, r->partial, r->n_partial * sizeof *r->partial);
}

/* ---- data ---- */

static void accept(struct uec_receiver *r, uint64_t psn)
{
    if (psn != r->expected) {
        psn_set_add(&r->early, r->expected, psn);
        return;
    }
    r->expected++;
    while (r->early.n > 0 && psn_set_remove(&r->early, r->expected))
        r->expected++;
}

// Returns true if the new packet must be acknowledged at once.
static bool due(struct uec_receiver *r, const struct packet *p, uint64_t expected_before)
{
    bool asks = p->flags & PACKET_ACKREQ, filled = r->expected > expected_before;
    bool now = p->flags & PACKET_CE || asks || !r->begun ||
               r->since_ack_bytes >= uec_spec_const(&r->base.dim->spec)->ack_every_bytes ||
               (filled && r->ack_asked) ||
               (filled && expected_before < r->asked_end && r->expected >= r->asked_end);
    if (asks)
        r->ack_asked = true;
    if (r->early.n == 0)
        r->ack_asked = false;
    r->begun = true;
    return now;
}

static void take_request(struct uec_receiver *r, const struct packet *p, bool asked, ps_t now)
{
    struct meta_pool *pool = &r->base.dim->hosts->net->meta;
    uint32_t target = r->pull.target;
    if (meta_at(pool, p->meta)->n_sacks > 0)
        target = meta_sacks(pool, p->meta)->start;
    uec_pull_asked(r, target, asked, now);
}

void uec_on_data(struct receiver *base, uint32_t port, struct packet *p, ps_t now)
{
    struct uec_receiver *r = (struct uec_receiver *)base;
    struct hosts *hosts = base->dim->hosts;
    const struct packet_meta meta = *meta_at(&hosts->net->meta, p->meta);
    uint64_t psn = seq_restore(meta.seq, r->expected), before = r->expected;
    bool request = uec_is_request(p, &meta);
    r->port = port;
    if (r->credits)
        take_request(r, p, request, now);
    if (request && psn > r->asked_end)
        r->asked_end = psn;
    if (request || psn < r->expected || psn_set_has(&r->early, psn)) {
        uec_dim(base->dim)->counters.spurious += !request;
        send_ack(r, p, request ? r->expected - 1 : psn, now); // a request has no number of its own
        return;
    }
    accept(r, psn);
    r->received_bytes += meta.payload_bytes;
    r->since_ack_bytes += p->wire_bytes;
    hosts_progress(hosts, meta.payload_bytes, now);
    bool complete = count_packet(r, p, &meta, psn);
    if (due(r, p, before))
        send_ack(r, p, psn, now);
    if (complete)
        hosts_deliver(hosts, meta.token, now);
}

void uec_on_trimmed(struct receiver *base, uint32_t port, struct packet *p, ps_t now)
{
    struct uec_receiver *r = (struct uec_receiver *)base;
    const struct packet_meta *meta = meta_at(&base->dim->hosts->net->meta, p->meta);
    uint64_t psn = seq_restore(meta->seq, r->expected);
    r->port = port;
    if (r->credits)
        take_request(r, p, true, now);
    if (psn < r->expected || psn_set_has(&r->early, psn))
        send_ack(r, p, psn, now);
    else
        send_nack(r, p, now);
}

/* ---- life ---- */

void uec_open_receiver(struct receiver *base)
{
    struct uec_receiver *r = (struct uec_receiver *)base;
    const struct transport_dim *dim = base->dim;
    const struct flow_id *id = &dim->hosts->flows.ids[base->flow];
    r->src_node = id->src_node;
    r->addresses = address_hash(id->dst, id->src);
    r->port_base = id->dst_port;
    const struct uec_spec *spec = uec_spec_const(&dim->spec);
    r->n_entropies = spec->spray == SPRAY_KIND_NONE ? 1 : (uint16_t)spec->entropies;
    r->credits = dim->cc->needs & CC_NEEDS_CREDITS;
}

void uec_close_receiver(struct receiver *base)
{
    struct uec_receiver *r = (struct uec_receiver *)base;
    psn_set_free(&r->early);
    free(r->partial);
}
