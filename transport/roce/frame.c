// SPDX-License-Identifier: MIT
// RoCEv2 frame encoder (InfiniBand Architecture 1.4 chapter 9 and annex A17).
//
//  Ethernet 14 | IPv4 20 | UDP 8 | BTH 12 | RETH 16 / AETH 4 / CNP 16 | payload, pad | ICRC 4
//
//  BTH   0                   1                   2                   3
//        0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//       |    opcode     |S|M|pad| TVer  |             P_Key             |
//       |F|B| reserved  |                destination QP                 |
//       |A|  reserved   |            packet sequence number             |
//
// The payload is zeros. Addresses and R_Keys are made up but constant per flow; the RETH of every
// message has the start of the flow's buffer. The IP id is the PSN, so a packet can be found again
// in captures of other ports, and a retransmission has the id of its original. Not modelled: path
// migration (M), solicited events (S), FECN in the BTH (F), end-to-end credits (the AETH says "no
// credit count").
//
// A packet that a switch has trimmed is shown with the lengths and the ICRC of its remaining bytes,
// so that dissectors accept it; a real switch cuts the frame without changing them. A frame that
// has no room for its RETH is shown with it, as 74 bytes without FCS.

#include "transport/roce/frame.h"

#include <isa-l/crc.h>
#include <stdio.h>
#include <string.h>

#include "net/wire/address.h"
#include "net/wire/bytes.h"
#include "net/wire/ip.h"

#define UDP_BYTES 8
#define BTH_BYTES 12
#define RETH_BYTES 16
#define IMMEDIATE_BYTES 4
#define AETH_BYTES 4
#define CNP_RESERVED_BYTES 16
#define ICRC_BYTES 4
#define FCS_BYTES 4
#define BTH_AT (ETHERNET_BYTES + IPV4_BYTES + UDP_BYTES)
#define HEADERS_MAX (BTH_AT + BTH_BYTES + 20)

#define BTH_PKEY_DEFAULT 0xffff
#define BTH_BECN 0x40
#define BTH_ACK_REQ 0x80

static uint8_t data_opcode(uint8_t flags, bool immediate)
{
    switch (flags & (PACKET_FIRST | PACKET_LAST)) {
    case PACKET_FIRST | PACKET_LAST:
        return immediate ? ROCE_WRITE_ONLY_IMMEDIATE : ROCE_WRITE_ONLY;
    case PACKET_FIRST:
        return ROCE_WRITE_FIRST;
    case PACKET_LAST:
        return immediate ? ROCE_WRITE_LAST_IMMEDIATE : ROCE_WRITE_LAST;
    default:
        return ROCE_WRITE_MIDDLE;
    }
}

static uint8_t tos_of(uint8_t dscp, uint8_t flags)
{
    int ecn = flags & PACKET_CE ? IP_CE : flags & PACKET_ECT ? IP_ECT0 : IP_NOT_ECT;
    return (uint8_t)(dscp << 2 | ecn);
}

// Set source and destination: data goes forward along the flow, ACKs and CNPs backward.
static void set_addresses(struct roce_fields *f, const struct flow_id *id, bool forward)
{
    uint32_t from = forward ? id->src : id->dst, to = forward ? id->dst : id->src;
    f->src_mac = rank_mac(from);
    f->dst_mac = rank_mac(to);
    f->src_ip = rank_ip(from);
    f->dst_ip = rank_ip(to);
    f->src_udp = forward ? id->src_port : id->dst_port;
    f->dst_udp = ROCE_UDP_PORT;
    f->dst_qpn = forward ? id->dst_conn : id->src_conn;
    f->ttl = ROCE_TTL;
}

static size_t extension_bytes(const struct roce_fields *f)
{
    switch (f->opcode) {
    case ROCE_WRITE_FIRST:
    case ROCE_WRITE_ONLY:
        return RETH_BYTES;
    case ROCE_WRITE_ONLY_IMMEDIATE:
        return RETH_BYTES + IMMEDIATE_BYTES;
    case ROCE_WRITE_LAST_IMMEDIATE:
        return IMMEDIATE_BYTES;
    case ROCE_ACKNOWLEDGE:
        return AETH_BYTES;
    case ROCE_CNP:
        return CNP_RESERVED_BYTES;
    default:
        return 0;
    }
}

// Keep only the headers of a trimmed packet, and payload as far as the frame has room for it.
static void trim_fields(struct roce_fields *f, const struct packet *p, const struct flow_id *id)
{
    size_t headers = BTH_AT + BTH_BYTES + extension_bytes(f) + ICRC_BYTES + FCS_BYTES;
    f->tos = tos_of(id->cnp_dscp, p->flags | PACKET_ECT);
    f->payload_bytes = (uint16_t)(p->frame_bytes > headers ? (p->frame_bytes - headers) & ~3u : 0);
    f->trailer_bytes = 0;
}

// PSN of a NAK: the first missing packet, or the trimmed packet that the NAK reports.
static uint32_t nak_psn(const struct packet *p, const struct packet_meta *meta)
{
    return p->flags & PACKET_TRIM_REPORT ? meta->sack_seq : meta->seq;
}

struct roce_fields roce_fields_of(const struct packet *p, const struct packet_meta *meta,
                                  const struct flow_id *id)
{
    struct roce_fields f = {0};
    set_addresses(&f, id, p->kind == PACKET_DATA || p->kind == PACKET_TRIMMED);
    switch (p->kind) {
    case PACKET_TRIMMED:
    case PACKET_DATA:
        f.src_udp ^= meta->entropy; // of a sprayed packet, or of another path
        f.opcode = data_opcode(p->flags, id->immediate);
        f.tos = tos_of(id->data_dscp, p->flags);
        f.psn = meta->seq;
        f.ack_req = p->flags & PACKET_ACKREQ;
        f.va = (uint64_t)(id->dst_conn + 1) << 32;
        f.rkey = id->dst_conn + 1;
        f.dma_bytes = meta->message_bytes;
        f.payload_bytes = meta->payload_bytes;
        f.trailer_bytes = id->int_bytes;
        if (p->kind == PACKET_TRIMMED)
            trim_fields(&f, p, id);
        break;
    case PACKET_ACK:
        // An ACK has the PSN of the last packet that arrived in order, a NAK that of the first
        // missing packet (IBA 9.7.5).
        f.opcode = ROCE_ACKNOWLEDGE;
        f.tos = tos_of(id->ack_dscp, p->flags);
        f.syndrome = p->flags & PACKET_NAK ? ROCE_NAK_SEQUENCE : ROCE_ACK;
        f.psn = p->flags & PACKET_NAK ? nak_psn(p, meta) : meta->seq - 1;
        f.msn = meta->msn;
        f.trailer_bytes = id->int_bytes;
        break;
    default:
        f.opcode = ROCE_CNP;
        f.tos = tos_of(id->cnp_dscp, p->flags);
        f.becn = true;
    }
    f.ip_id = (uint16_t)f.psn;
    return f;
}

static uint8_t pad_bytes(const struct roce_fields *f) { return (uint8_t)(-f->payload_bytes & 3); }

static size_t zero_bytes(const struct roce_fields *f)
{
    return (size_t)f->payload_bytes + pad_bytes(f);
}

static size_t udp_bytes(const struct roce_fields *f)
{
    return UDP_BYTES + BTH_BYTES + extension_bytes(f) + zero_bytes(f) + ICRC_BYTES;
}

size_t roce_frame_bytes(const struct roce_fields *f)
{
    size_t len = ETHERNET_BYTES + IPV4_BYTES + udp_bytes(f) + f->trailer_bytes;
    return len < ETHERNET_MIN_BYTES ? ETHERNET_MIN_BYTES : len;
}

static uint8_t *bth_put(uint8_t *at, const struct roce_fields *f)
{
    at = put8(at, f->opcode);
    at = put8(at, (uint8_t)(pad_bytes(f) << 4));
    at = put16(at, BTH_PKEY_DEFAULT);
    at = put8(at, f->becn ? BTH_BECN : 0);
    at = put24(at, f->dst_qpn);
    at = put8(at, f->ack_req ? BTH_ACK_REQ : 0);
    return put24(at, f->psn);
}

static uint8_t *reth_put(uint8_t *at, const struct roce_fields *f)
{
    at = put64(at, f->va);
    at = put32(at, f->rkey);
    return put32(at, f->dma_bytes);
}

// An immediate value is the bytes of the message, as in NCCL.
static uint8_t *extension_put(uint8_t *at, const struct roce_fields *f)
{
    switch (f->opcode) {
    case ROCE_WRITE_FIRST:
    case ROCE_WRITE_ONLY:
        return reth_put(at, f);
    case ROCE_WRITE_ONLY_IMMEDIATE:
        return put32(reth_put(at, f), f->dma_bytes);
    case ROCE_WRITE_LAST_IMMEDIATE:
        return put32(at, f->dma_bytes);
    case ROCE_ACKNOWLEDGE:
        return put24(put8(at, f->syndrome), f->msn);
    case ROCE_CNP:
        return put64(put64(at, 0), 0);
    default:
        return at;
    }
}

// Write all headers before the payload and return their length, at most HEADERS_MAX.
static size_t headers_put(uint8_t *head, const struct roce_fields *f)
{
    struct ipv4_fields ip = {
        .src = f->src_ip,
        .dst = f->dst_ip,
        .total_bytes = (uint16_t)(IPV4_BYTES + udp_bytes(f)),
        .id = f->ip_id,
        .tos = f->tos,
        .ttl = f->ttl,
        .protocol = IP_PROTOCOL_UDP,
    };
    uint8_t *at = ethernet_put(head, f->dst_mac, f->src_mac, ETHERTYPE_IPV4);
    at = ipv4_put(at, &ip);
    at = put16(at, f->src_udp);
    at = put16(at, f->dst_udp);
    at = put16(at, (uint16_t)udp_bytes(f));
    at = put16(at, 0); // no UDP checksum: the ICRC covers the packet (annex A17.3.1)
    at = bth_put(at, f);
    at = extension_put(at, f);
    return (size_t)(at - head);
}

// The invariant CRC. Fields that a router may change, and 8 bytes in the place of the link header,
// count as ones (annex A17.3.3).
static uint32_t icrc(struct frame *frame)
{
    const uint8_t *head = frame->head;
    size_t head_bytes = frame->head_bytes;
    enum { LRH = 8, IP = LRH, UDP = IP + IPV4_BYTES, BTH = UDP + UDP_BYTES };
    uint8_t masked[LRH + HEADERS_MAX];
    memset(masked, 0xff, LRH);
    memcpy(masked + LRH, head + ETHERNET_BYTES, head_bytes - ETHERNET_BYTES);
    masked[IP + 1] = 0xff;             // TOS
    masked[IP + 8] = 0xff;             // TTL
    memset(masked + IP + 10, 0xff, 2); // header checksum
    memset(masked + UDP + 6, 0xff, 2); // UDP checksum
    masked[BTH + 4] = 0xff;            // FECN, BECN, reserved
    uint32_t crc = crc32_gzip_refl(0, masked, LRH + head_bytes - ETHERNET_BYTES);
    return ~crc_append_zeros(&frame->crc_zeros, ~crc, frame->zero_bytes);
}

void roce_encode(const struct roce_fields *f, struct frame *frame)
{
    frame->head_bytes = headers_put(frame->head, f);
    frame->zero_bytes = zero_bytes(f);
    frame->tail_bytes = roce_frame_bytes(f) - frame->head_bytes - frame->zero_bytes;
    uint32_t crc = icrc(frame);
    memset(frame->tail, 0, frame->tail_bytes);
    for (size_t i = 0; i < ICRC_BYTES; i++)
        frame->tail[i] = (uint8_t)(crc >> 8 * i);
    if (f->trailer)
        memcpy(frame->tail + ICRC_BYTES, f->trailer, f->trailer_bytes);
}

static void encode(const struct frame_source *source, struct frame *frame)
{
    struct roce_fields f = roce_fields_of(source->packet, source->meta, source->flow);
    f.trailer = source->trailer;
    roce_encode(&f, frame);
}

static void filter_terms(const struct flow_id *flow, bool forward, char out[FRAME_TERMS_MAX])
{
    snprintf(out, FRAME_TERMS_MAX, "infiniband.bth.destqp == 0x%x",
             forward ? flow->dst_conn : flow->src_conn);
}

const struct frame_ops roce_frames = {.encode = encode, .filter_terms = filter_terms};
