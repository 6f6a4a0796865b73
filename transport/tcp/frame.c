// SPDX-License-Identifier: MIT
// TCP frame encoder (RFC 9293, section 3.1).
//
//  Ethernet 14 | IPv4 20 | TCP 20 + options | payload
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  |          source port          |       destination port        |
//  |                        sequence number                        |
//  |                     acknowledgment number                     |
//  |offset |  0    |C|E|U|A|P|R|S|F|            window             |
//  |           checksum            |        urgent pointer         |
//
// A SYN has MSS, SACK permitted, timestamps and window scale; other packets have timestamps, and
// ACKs have SACK blocks (RFC 7323, 2018). The payload is zeros, so the checksum depends on headers
// and length alone. The initial sequence numbers and the start of the timestamp clocks are hashes
// of the connection's name. The IP id is the low 16 bits of the sequence number.
#include "transport/tcp/frame.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/rng.h"
#include "net/wire/address.h"
#include "net/wire/bytes.h"
#include "net/wire/ip.h"
#include "transport/tcp/tcp.h"

#define TCP_BYTES 20
#define OPTIONS_MAX 40
#define HEADERS_MAX (ETHERNET_BYTES + IPV4_BYTES + TCP_BYTES + OPTIONS_MAX)
#define TTL 64

enum option {
    OPTION_NOP = 1,
    OPTION_MSS = 2,
    OPTION_SCALE = 3,
    OPTION_SACK_OK = 4,
    OPTION_SACK = 5,
    OPTION_TIMESTAMPS = 8
};
enum flag { FLAG_PSH = 0x08, FLAG_ACK = 0x10, FLAG_ECE = 0x40, FLAG_CWR = 0x80 };

// Start of the sequence numbers, or of the timestamps, of one end of a connection.
static uint32_t start_of(const struct flow_id *id, bool from_source, uint32_t use)
{
    uint64_t name = (uint64_t)id->src << 32 | id->dst;
    if (id->duplex) { // equal for both directions of the connection
        bool swaps = id->src > id->dst;
        name = swaps ? (uint64_t)id->dst << 32 | id->src : name;
        return (uint32_t)hash_mix(hash_mix(name + id->src_conn) + 2 * use + (from_source != swaps));
    }
    return (uint32_t)hash_mix(hash_mix(name + id->src_conn) + 4 * (uint64_t)id->number + 2 * use +
                              from_source);
}

static uint8_t *put_timestamps(uint8_t *at, uint32_t value, uint32_t echo)
{
    return put32(put32(put8(put8(at, OPTION_TIMESTAMPS), 10), value), echo);
}

static uint8_t *put_syn_options(uint8_t *at, const struct flow_id *id, uint32_t value,
                                uint32_t echo)
{
    at = put16(put8(put8(at, OPTION_MSS), 4), id->mss_bytes);
    if (id->sack)
        at = put8(put8(at, OPTION_SACK_OK), 2);
    else
        at = put8(put8(at, OPTION_NOP), OPTION_NOP);
    if (id->timestamps)
        at = put_timestamps(at, value, echo);
    else
        at = put8(put8(at, OPTION_NOP), OPTION_NOP);
    return put8(put8(put8(put8(at, OPTION_NOP), OPTION_SCALE), 3), id->window_scale);
}

static uint8_t *put_options(uint8_t *at, const struct frame_source *source, uint32_t value,
                            uint32_t echo)
{
    const struct packet_meta *meta = source->meta;
    bool data = source->packet->kind == PACKET_DATA;
    unsigned first = !source->flow->duplex || meta->n_sacks == 0 ? 0
                     : data                                      ? TCP_CARRIED
                                                                 : TCP_OWN_NUMBER;
    if (source->flow->timestamps)
        at = put_timestamps(put8(put8(at, OPTION_NOP), OPTION_NOP), value, echo);
    if (meta->n_sacks == first)
        return at;
    uint32_t start = start_of(source->flow, !data, 0) + 1;
    at = put8(put8(at, OPTION_NOP), OPTION_NOP);
    at = put8(put8(at, OPTION_SACK), (uint8_t)(2 + 8 * (meta->n_sacks - first)));
    for (unsigned i = first; i < meta->n_sacks; i++)
        at = put32(put32(at, start + source->sacks[i].start), start + source->sacks[i].end);
    return at;
}

// The sequence and acknowledgment numbers of a packet.
static void numbers(const struct frame_source *source, bool data, uint32_t *seq, uint32_t *ack)
{
    const struct packet_meta *meta = source->meta;
    uint32_t stream = start_of(source->flow, true, 0) + 1 + meta->seq;
    uint32_t reply = start_of(source->flow, false, 0);
    bool syn = meta->tcp_control & TCP_SYN, after = meta->tcp_control & TCP_AFTER_FIN;
    if (data) {
        *seq = stream;
        *ack = syn ? 0 : reply + 1 + after;
    } else {
        bool fin = meta->tcp_control & TCP_FIN;
        *seq = reply + !syn + (after && !fin);
        *ack = stream;
    }
    if (source->flow->duplex && meta->n_sacks > 0) { // the other direction
        if (data)
            *ack = reply + 1 + source->sacks[0].start;
        else
            *seq = reply + 1 + source->sacks[0].start;
    }
}

static uint8_t flags_of(const struct frame_source *source, bool data)
{
    const struct packet_meta *meta = source->meta;
    unsigned flags = meta->tcp_control & (TCP_FIN | TCP_SYN | TCP_RST | TCP_CWR);
    if (!data || !(flags & TCP_SYN))
        flags |= FLAG_ACK;
    if (data && source->packet->flags & PACKET_LAST)
        flags |= FLAG_PSH;
    if (!data && source->packet->flags & PACKET_ECHO_CE)
        flags |= FLAG_ECE;
    if (flags & TCP_SYN && source->flow->ecn) // RFC 3168, section 6.1.1
        flags |= data ? FLAG_ECE | FLAG_CWR : FLAG_ECE;
    return (uint8_t)flags;
}

static uint16_t window_of(const struct frame_source *source, bool data)
{
    const struct packet_meta *meta = source->meta;
    const struct flow_id *id = source->flow;
    uint64_t bytes = data ? id->window_bytes : meta->window_bytes;
    if (data && id->duplex && meta->n_sacks > 0)
        bytes = source->sacks[0].end;
    if (!(meta->tcp_control & TCP_SYN))
        bytes >>= id->window_scale;
    return (uint16_t)(bytes < TCP_FIELD_MAX ? bytes : TCP_FIELD_MAX);
}

// The Internet checksum over the pseudo header, the TCP header and a payload of zeros (RFC 9293).
static uint16_t checksum(const uint8_t *ip, const uint8_t *tcp, size_t bytes, uint32_t total)
{
    uint32_t sum = IP_PROTOCOL_TCP + total;
    for (size_t i = 12; i < IPV4_BYTES; i += 2)
        sum += (uint32_t)ip[i] << 8 | ip[i + 1];
    for (size_t i = 0; i < bytes; i += 2)
        sum += (uint32_t)tcp[i] << 8 | tcp[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static size_t headers_put(uint8_t *head, const struct frame_source *source)
{
    const struct flow_id *id = source->flow;
    const struct packet *p = source->packet;
    const struct packet_meta *meta = source->meta;
    bool data = p->kind == PACKET_DATA;
    uint32_t from = data ? id->src : id->dst, to = data ? id->dst : id->src, seq, ack;
    uint8_t *ip = head + ETHERNET_BYTES, *tcp = ip + IPV4_BYTES, *at = tcp;
    uint32_t sent_ms = (uint32_t)(meta->sent_ps / PS_PER_MS);
    uint32_t value = (data ? sent_ms : meta->clock_ms) + start_of(id, data, 1);
    uint32_t echo = (data ? meta->clock_ms : sent_ms) + start_of(id, !data, 1);
    bool syn = meta->tcp_control & TCP_SYN;
    numbers(source, data, &seq, &ack);
    at = put16(put16(at, data ? id->src_port : id->dst_port), data ? id->dst_port : id->src_port);
    at = put32(put32(at, seq), ack);
    at = put8(put8(at, 0), flags_of(source, data));
    at = put32(put16(at, window_of(source, data)), 0);
    at = syn ? put_syn_options(at, id, value, data ? 0 : echo)
             : put_options(at, source, value, echo);
    size_t bytes = (size_t)(at - tcp);
    put8(tcp + 12, (uint8_t)(bytes / 4 << 4));
    int ecn = p->flags & PACKET_CE ? IP_CE : p->flags & PACKET_ECT ? IP_ECT0 : IP_NOT_ECT;
    struct ipv4_fields fields = {
        .src = rank_ip(from),
        .dst = rank_ip(to),
        .total_bytes = (uint16_t)(IPV4_BYTES + bytes + meta->payload_bytes),
        .id = (uint16_t)seq,
        .tos = (uint8_t)((data ? id->data_dscp : id->ack_dscp) << 2 | ecn),
        .ttl = TTL,
        .protocol = IP_PROTOCOL_TCP,
    };
    ethernet_put(head, rank_mac(to), rank_mac(from), ETHERTYPE_IPV4);
    ipv4_put(ip, &fields);
    put16(tcp + 16, checksum(ip, tcp, bytes, (uint32_t)bytes + meta->payload_bytes));
    return (size_t)(at - head);
}

static void encode(const struct frame_source *source, struct frame *frame)
{
    frame->head_bytes = headers_put(frame->head, source);
    frame->zero_bytes = source->meta->payload_bytes;
    frame->tail_bytes = 0;
    if (frame_bytes(frame) < ETHERNET_MIN_BYTES)
        frame->zero_bytes = ETHERNET_MIN_BYTES - frame->head_bytes;
}

static void filter_terms(const struct flow_id *flow, bool forward, char out[FRAME_TERMS_MAX])
{
    unsigned from = forward ? flow->src_port : flow->dst_port;
    unsigned to = forward ? flow->dst_port : flow->src_port;
    snprintf(out, FRAME_TERMS_MAX, "tcp.srcport == %u && tcp.dstport == %u", from, to);
}

const struct frame_ops tcp_frames = {.encode = encode, .filter_terms = filter_terms};
