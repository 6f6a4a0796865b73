// SPDX-License-Identifier: MIT
// UEC frame encoder: UDP port 4793, the packet delivery sublayer (PDS) and, with data, the semantic
// sublayer (SES). Field layouts are those of the public headers of the XDP2 project
// (include/uet/pds.h, ses.h), as UEC 1.0 defines them.
//
//  RUD request with CC state:  type 5 | next 4 | flags 7 | clear PSN offset 16 | PSN 32 |
//                              source PDC 16 | destination PDC 16 | CCC id 8 | credit target 24
//  ACK with CC state:          type 5 | next 4 | flags 7 | ACK PSN offset 16 | CACK PSN 32 |
//                              source PDC 16 | destination PDC 16 | CC type 4, flags 4 | MPR 8 |
//                              SACK PSN offset 16 | SACK bitmap 64 | service time 16 |
//                              restore 1, penalty 7 | received bytes 24 | out of order 16
//  NACK:                       type 5 | next 4 | flags 7 | code 8 | vendor 8 | PSN 32 |
//                              source PDC 16 | destination PDC 16 | payload 32
//  Control:                    as NACK, with the control type in "next" and an opaque field
//  SES standard request:       44 bytes, see ses_put()
//
// Not public or not modelled, and zero here: service time, number of packets out of order, resource
// index, generation. The units of MPR and received bytes are taken as 128 packets and 256 B.
// The SYN flag is never set, since connections are not opened. A trimmed packet ends after its
// headers, and its IP and UDP length fields are those of the shortened packet.
#include "transport/uec/frame.h"

#include <stdio.h>
#include <string.h>

#include "engine/base/rng.h"
#include "net/wire/address.h"
#include "net/wire/bytes.h"
#include "net/wire/ip.h"
#include "transport/uec/uec.h"

#define UDP_BYTES 8
#define PDS_AT (ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES)
#define TTL 64
#define FCS_BYTES 4

enum pds_type { RUD_CC_REQUEST = 13, ACK_CC = 8, NACK = 10, CONTROL = 11 };
enum next_header { NEXT_NONE = 0, NEXT_REQUEST_STD = 3 };
enum control_type { CONTROL_CREDIT = 7, CONTROL_CREDIT_REQUEST = 8 };
enum pds_flag { FLAG_ACKREQ = 1 << 3, FLAG_RETRANSMIT = 1 << 4, FLAG_ECN = 1 << 5 };
enum nack_code { NACK_TRIMMED = 1, NACK_TRIMMED_LAST_HOP = 2 };
enum { SES_WRITE = 1, SES_START = 1, SES_END = 2 };
#define MPR_UNITS (UEC_PSN_RANGE / 128)
#define RECEIVED_UNIT 256

static uint8_t *prologue_put(uint8_t *at, unsigned type, unsigned next, unsigned flags)
{
    return put16(at, (uint16_t)(type << 11 | next << 7 | flags));
}

static uint8_t *connections_put(uint8_t *at, const struct flow_id *id, bool forward)
{
    at = put16(at, (uint16_t)(forward ? id->src_conn : id->dst_conn));
    return put16(at, (uint16_t)(forward ? id->dst_conn : id->src_conn));
}

/* ---- data ---- */

// opcode | version, flags | message id 16 | generation, job | process | index | buffer offset 64 |
// initiator 32 | memory key 64 | header data 64, or payload length and message offset | length 32
static uint8_t *ses_put(uint8_t *at, const struct frame_source *f, uint32_t length)
{
    const struct packet_meta *meta = f->meta;
    bool first = f->packet->flags & PACKET_FIRST, last = f->packet->flags & PACKET_LAST;
    at = put8(at, SES_WRITE);
    at = put8(at, (uint8_t)((first ? SES_START : 0) | (last ? SES_END : 0)));
    at = put16(at, (uint16_t)(meta->seq - meta->place));
    at = put32(at, f->flow->job);
    at = put16(at, 0);
    at = put16(at, 0);
    at = put64(at, 0);
    at = put32(at, f->flow->src);
    at = put64(at, f->flow->dst_conn);
    if (first) {
        at = put64(at, 0);
    } else {
        uint64_t offset =
            last ? length - meta->payload_bytes : (uint64_t)meta->place * meta->payload_bytes;
        at = put16(put16(at, 0), meta->payload_bytes);
        at = put32(at, (uint32_t)offset);
    }
    return put32(at, length);
}

static uint8_t *request_put(uint8_t *at, const struct frame_source *f)
{
    const struct packet *p = f->packet;
    unsigned flags = (p->flags & PACKET_ACKREQ ? FLAG_ACKREQ : 0u) |
                     (p->flags & PACKET_RETX ? FLAG_RETRANSMIT : 0u);
    uint32_t target = f->sacks ? f->sacks->start : 0, length = f->sacks ? f->sacks->end : 0;
    at = prologue_put(at, RUD_CC_REQUEST, NEXT_REQUEST_STD, flags);
    at = put16(at, 0);
    at = put32(at, f->meta->seq);
    at = connections_put(at, f->flow, true);
    at = put24(put8(at, 0), target & 0xffffff);
    return ses_put(at, f, length);
}

/* ---- what comes back ---- */

static uint8_t *ack_put(uint8_t *at, const struct frame_source *f)
{
    const struct packet_meta *meta = f->meta;
    uint8_t flags = f->packet->flags;
    uint32_t cumulative = meta->seq; // the first packet that is missing
    uint16_t offset = (uint16_t)(meta->acked - (cumulative - 1));
    uint64_t psn = (uint64_t)cumulative + (uint64_t)(int64_t)(int16_t)(uint16_t)(offset - 1);
    uint64_t base = uec_bitmap_base(psn, cumulative);
    at = prologue_put(at, ACK_CC, NEXT_NONE, flags & PACKET_ECHO_CE ? FLAG_ECN : 0);
    at = put16(at, offset);
    at = put32(at, cumulative - 1);
    at = connections_put(at, f->flow, false);
    at = put8(put8(at, 0), MPR_UNITS);
    at = put16(at, (uint16_t)(base - (cumulative - 1)));
    at = put64(at, meta->sack_bits);
    at = put16(at, 0);
    at = put8(at, meta->penalty);
    at = put24(at, meta->received_bytes / RECEIVED_UNIT);
    return put16(at, 0);
}

static uint8_t *nack_put(uint8_t *at, const struct frame_source *f)
{
    uint8_t flags = f->packet->flags;
    at = prologue_put(at, NACK, NEXT_NONE, flags & PACKET_ECHO_CE ? FLAG_ECN : 0);
    at = put8(at, flags & PACKET_NAK_LAST_HOP ? NACK_TRIMMED_LAST_HOP : NACK_TRIMMED);
    at = put8(at, 0);
    at = put32(at, f->meta->seq);
    at = connections_put(at, f->flow, false);
    return put32(at, 0);
}

static uint8_t *control_put(uint8_t *at, const struct frame_source *f)
{
    bool grant = f->packet->kind == PACKET_CREDIT;
    uint32_t target = f->sacks ? f->sacks->start : 0;
    at = prologue_put(at, CONTROL, grant ? CONTROL_CREDIT : CONTROL_CREDIT_REQUEST,
                      grant ? 0 : FLAG_ACKREQ);
    at = put16(at, 0);
    at = put32(at, grant ? 0 : f->meta->seq);
    at = connections_put(at, f->flow, !grant);
    return put32(at, (grant ? f->meta->seq : target) & 0xffffff);
}

/* ---- frame ---- */

static bool is_forward(const struct packet *p)
{
    return p->kind == PACKET_DATA || p->kind == PACKET_TRIMMED;
}

static uint8_t *lower_headers_put(uint8_t *at, const struct frame_source *f, size_t udp_bytes)
{
    const struct packet *p = f->packet;
    const struct flow_id *id = f->flow;
    bool forward = is_forward(p);
    uint32_t from = forward ? id->src : id->dst, to = forward ? id->dst : id->src;
    uint8_t dscp = p->cls == NET_CLASS_CONTROL ? id->ack_dscp : id->data_dscp;
    int ecn = p->flags & PACKET_CE ? IP_CE : p->flags & PACKET_ECT ? IP_ECT0 : IP_NOT_ECT;
    struct ipv4_fields ip = {.src = rank_ip(from),
                             .dst = rank_ip(to),
                             .total_bytes = (uint16_t)(IPV4_BYTES + udp_bytes),
                             .id = (uint16_t)f->meta->seq,
                             .tos = (uint8_t)(dscp << 2 | ecn),
                             .ttl = TTL,
                             .protocol = IP_PROTOCOL_UDP};
    at = ethernet_put(at, rank_mac(to), rank_mac(from), ETHERTYPE_IPV4);
    at = ipv4_put(at, &ip);
    at = put16(at, (uint16_t)((forward ? id->src_port : id->dst_port) | f->meta->entropy));
    at = put16(at, UEC_UDP_PORT);
    at = put16(at, (uint16_t)udp_bytes);
    return put16(at, 0); // no UDP checksum
}

static uint8_t *pds_put(uint8_t *at, const struct frame_source *f)
{
    const struct packet *p = f->packet;
    if (p->kind == PACKET_ACK)
        return p->flags & PACKET_NAK ? nack_put(at, f) : ack_put(at, f);
    if (p->kind == PACKET_CREDIT || (p->kind == PACKET_DATA && uec_is_request(p, f->meta)))
        return control_put(at, f);
    return request_put(at, f);
}

static void encode(const struct frame_source *f, struct frame *frame)
{
    const struct packet *p = f->packet;
    bool data = p->kind == PACKET_DATA && !uec_is_request(p, f->meta);
    size_t headers = (size_t)(pds_put(frame->head + PDS_AT, f) - (frame->head + PDS_AT));
    if (p->kind == PACKET_TRIMMED) {
        size_t room = p->frame_bytes > ETHERNET_MIN_BYTES + FCS_BYTES ? p->frame_bytes - FCS_BYTES
                                                                      : ETHERNET_MIN_BYTES;
        headers = headers < room - PDS_AT ? headers : room - PDS_AT;
    }
    frame->zero_bytes = data ? f->meta->payload_bytes : 0;
    lower_headers_put(frame->head, f, UDP_BYTES + headers + frame->zero_bytes);
    frame->head_bytes = PDS_AT + headers;
    size_t length = frame->head_bytes + frame->zero_bytes;
    frame->tail_bytes = length < ETHERNET_MIN_BYTES ? ETHERNET_MIN_BYTES - length : 0;
    memset(frame->tail, 0, frame->tail_bytes);
}

static void filter_terms(const struct flow_id *flow, bool forward, char out[FRAME_TERMS_MAX])
{
    snprintf(out, FRAME_TERMS_MAX, "udp.port == %d && uec.dpdcid == 0x%x", UEC_UDP_PORT,
             forward ? flow->dst_conn : flow->src_conn);
}

const struct frame_ops uec_frames = {.encode = encode, .filter_terms = filter_terms};
