// SPDX-License-Identifier: MIT
// A transport for tests: numbered datagrams over UDP, one acknowledgement each, everything again
// from the first missing one after a timeout. Packets that come out of order are discarded.
//
//  Ethernet 14 | IPv4 20 | UDP 8 | sequence number 4 | message bytes 4 | payload
#include <string.h>

#include "net/wire/address.h"
#include "net/wire/bytes.h"
#include "net/wire/ip.h"
#include "transport/host.h"

enum { HEADER = ETHERNET_BYTES + IPV4_BYTES + 8 + 8, UDP_PORT = 9000 };

/* ---- settings ---- */

struct toy_spec {
    uint64_t datagram_bytes;
    ps_t timeout_ps;
};

static const struct param params[] = {
    PARAM_ROW("datagram", BYTES, offsetof(struct toy_spec, datagram_bytes), .def = "1400B",
              .min = "1B", .max = "8000B", .help = "payload of a datagram", .source = "this test"),
    PARAM_ROW("timeout", TIME, offsetof(struct toy_spec, timeout_ps), .def = "1ms", .min = "1us",
              .max = "1s", .help = "without progress, everything is sent again",
              .source = "this test"),
};

static const struct toy_spec *spec_of(const struct transport_dim *dim)
{
    return (const void *)dim->spec.own;
}

static struct packet_sizes data_sizes(const struct transport_spec *t, uint32_t payload, bool first)
{
    (void)first;
    return packet_sizes_of(t, HEADER + t->int_bytes + payload,
                           payload + (uint32_t)t->overhead_data + t->int_bytes);
}

static void prepare(struct transport_dim *dim)
{
    const struct toy_spec *spec = spec_of(dim);
    dim->mtu_bytes = dim->seq_bytes = (uint32_t)spec->datagram_bytes;
    dim->packets_per_ack = dim->connections_per_pair = 1;
    dim->retransmits = dim->echoes_marks = true;
    dim->full = dim->first = data_sizes(&dim->spec, dim->mtu_bytes, true);
    dim->ack = packet_sizes_of(&dim->spec, HEADER + dim->spec.int_bytes,
                               (uint32_t)dim->spec.overhead_ack + dim->spec.int_bytes);
}

static ps_t shortest_timer_ps(const struct transport_spec *t, ps_t base_rtt_ps)
{
    (void)base_rtt_ps;
    return ((const struct toy_spec *)(const void *)t->own)->timeout_ps;
}

/* ---- frames ---- */

static void encode(const struct frame_source *source, struct frame *frame)
{
    const struct flow_id *id = source->flow;
    const struct packet *p = source->packet;
    bool data = p->kind == PACKET_DATA;
    uint32_t from = data ? id->src : id->dst, to = data ? id->dst : id->src;
    size_t payload = data ? source->meta->payload_bytes : 0;
    struct ipv4_fields ip = {
        .src = rank_ip(from),
        .dst = rank_ip(to),
        .total_bytes = (uint16_t)(HEADER - ETHERNET_BYTES + payload),
        .id = (uint16_t)source->meta->seq,
        .tos = (uint8_t)(id->data_dscp << 2 | (p->flags & PACKET_CE ? IP_CE : IP_ECT0)),
        .ttl = 64,
        .protocol = IP_PROTOCOL_UDP};
    uint8_t *at = ethernet_put(frame->head, rank_mac(to), rank_mac(from), ETHERTYPE_IPV4);
    at = put16(ipv4_put(at, &ip), data ? id->src_port : id->dst_port);
    at = put16(put16(put16(at, UDP_PORT), (uint16_t)(16 + payload)), 0);
    put32(put32(at, source->meta->seq), data ? source->meta->message_bytes : 0);
    frame->head_bytes = HEADER;
    frame->zero_bytes = payload;
    frame->tail_bytes = 0;
    if (frame_bytes(frame) < ETHERNET_MIN_BYTES)
        frame->zero_bytes = ETHERNET_MIN_BYTES - HEADER;
}

static const struct frame_ops frames = {.encode = encode};

/* ---- sender ---- */

static void name_connection(struct sender *s, uint32_t count)
{
    struct flow_id *id = &sender_hosts(s)->flows.ids[s->flow];
    id->src_conn = id->src_port = (uint16_t)(20000 + count);
    id->dst_conn = id->dst_port = UDP_PORT;
    id->data_dscp = id->ack_dscp = (uint8_t)(8 * id->cls);
    id->entropy = s->entropy = id->src_port * 2654435761u + id->dst;
    id->back_entropy = ~s->entropy;
}

static void open_sender(struct sender *s, const struct transport_path *path)
{
    (void)path;
    s->cc_needs_acks = s->dim->cc->on_ack != NULL;
}

static void fill(struct sender *s, struct packet *p, ps_t now)
{
    const struct transport_dim *dim = s->dim;
    struct network *net = dim->hosts->net;
    struct message *m = hosts_message(dim->hosts, s->sending);
    uint64_t left = m->bytes - (s->nxt - m->first_seq) * dim->mtu_bytes;
    uint32_t payload = left < dim->mtu_bytes ? (uint32_t)left : dim->mtu_bytes;
    struct packet_sizes size = data_sizes(&dim->spec, payload, false);
    bool last = s->nxt + 1 == message_end_seq(m);
    *p = (struct packet){.flow = s->flow,
                         .dst = s->dst_node,
                         .entropy = s->entropy,
                         .meta = meta_alloc(&net->meta),
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_DATA,
                         .cls = s->cls,
                         .flags = (uint8_t)(PACKET_ECT | (last ? PACKET_LAST : 0))};
    *meta_at(&net->meta, p->meta) = (struct packet_meta){.sent_ps = now,
                                                         .token = m->token,
                                                         .seq = (uint32_t)s->nxt,
                                                         .message_bytes = (uint32_t)m->bytes,
                                                         .payload_bytes = (uint16_t)payload};
    if (dim->int_records)
        meta_enable_int(&net->meta, p->meta);
    m->packets++;
    m->retransmitted += s->nxt < s->max;
    dim->hosts->counters.retransmitted += s->nxt < s->max;
    if (last)
        s->sending = m->next;
    s->nxt_bytes += payload;
    s->ackreq_end = ++s->nxt;
    s->max = s->nxt > s->max ? s->nxt : s->max;
    if (s->rto_state == RTO_OFF)
        sender_rto_restart(s, spec_of(dim)->timeout_ps, now);
}

static void on_feedback(struct sender *s, struct packet *p, ps_t now)
{
    uint64_t seq = seq_restore(meta_at(&sender_hosts(s)->net->meta, p->meta)->seq, s->una);
    if (s->failed || seq <= s->una || seq > s->max)
        return;
    uint64_t acked = sender_acknowledge(s, seq, now);
    s->retries = 0;
    if (s->una == s->max)
        sender_rto_stop(s);
    else
        sender_rto_restart(s, spec_of(s->dim)->timeout_ps, now);
    if (s->cc_needs_acks) {
        sender_notify_ack(s, p, acked, now);
        sender_apply_cc(s, now);
    }
}

static void on_timeout(struct sender *s, ps_t now)
{
    sender_count_timeout(s);
    if (s->retries++ >= 7) {
        sender_fail(s, now);
        return;
    }
    s->nxt = s->ackreq_end = s->una;
    s->nxt_bytes = s->una_bytes;
    s->sending = s->oldest;
    sender_rto_restart(s, spec_of(s->dim)->timeout_ps, now);
}

/* ---- receiver ---- */

struct toy_receiver {
    struct receiver base;
    uint64_t expected;
};

static void open_receiver(struct receiver *r) { ((struct toy_receiver *)r)->expected = 0; }

static uint64_t received_bytes(const struct receiver *r, const struct message *m)
{
    uint64_t seq = ((const struct toy_receiver *)r)->expected;
    return seq > m->first_seq ? message_offset(m, seq, r->dim->seq_bytes) - m->start_byte : 0;
}

static void on_data(struct receiver *base, uint32_t port, struct packet *p, ps_t now)
{
    struct toy_receiver *r = (struct toy_receiver *)base;
    const struct transport_dim *dim = base->dim;
    struct hosts *hosts = dim->hosts;
    const struct flow_id *id = &hosts->flows.ids[base->flow];
    struct packet_meta *meta = meta_at(&hosts->net->meta, p->meta);
    uint64_t token = meta->token;
    bool in_order = seq_restore(meta->seq, r->expected) == r->expected;
    if (in_order) {
        r->expected++;
        hosts_progress(hosts, meta->payload_bytes, now);
    }
    struct packet ack = {.flow = base->flow,
                         .dst = id->src_node,
                         .entropy = id->back_entropy,
                         .meta = p->meta,
                         .frame_bytes = (uint16_t)dim->ack.frame,
                         .wire_bytes = (uint16_t)dim->ack.wire,
                         .kind = PACKET_ACK,
                         .ingress = PACKET_OWN,
                         .cls = p->cls,
                         .flags = p->flags & PACKET_CE ? PACKET_ECHO_CE : 0,
                         .arrives_ps = now};
    hosts->counters.echoed_marks += (p->flags & PACKET_CE) != 0;
    meta->seq = (uint32_t)r->expected;
    meta->payload_bytes = 0;
    p->meta = 0;
    port_enqueue(hosts->net, port, &ack, now);
    if (in_order && p->flags & PACKET_LAST)
        hosts->client.delivered(hosts->client.ctx, token, now);
}

const struct transport_ops toy_transport = {
    .name = "toy",
    .doc = "numbered datagrams with an acknowledgement each",
    .source = "a test",
    .provides = CC_NEEDS_ECN | CC_NEEDS_PACING,
    .default_cc = "none",
    .data_class = NET_CLASS_DATA,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .spec_bytes = sizeof(struct toy_spec),
    .prepare = prepare,
    .data_sizes = data_sizes,
    .shortest_timer_ps = shortest_timer_ps,
    .frames = &frames,
    .receiver_bytes = sizeof(struct toy_receiver),
    .name_connection = name_connection,
    .open_sender = open_sender,
    .fill = fill,
    .on_feedback = on_feedback,
    .on_timeout = on_timeout,
    .open_receiver = open_receiver,
    .on_data = on_data,
    .received_bytes = received_bytes,
};
