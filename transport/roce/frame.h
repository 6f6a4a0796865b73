// SPDX-License-Identifier: MIT
// RoCEv2 frames: the header fields of a simulated packet, and the encoder.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/wire/frame.h"

#define ROCE_UDP_PORT 4791
#define ROCE_TTL 64

enum roce_opcode {
    ROCE_WRITE_FIRST = 0x06,
    ROCE_WRITE_MIDDLE = 0x07,
    ROCE_WRITE_LAST = 0x08,
    ROCE_WRITE_LAST_IMMEDIATE = 0x09,
    ROCE_WRITE_ONLY = 0x0a,
    ROCE_WRITE_ONLY_IMMEDIATE = 0x0b,
    ROCE_ACKNOWLEDGE = 0x11,
    ROCE_CNP = 0x81,
};

enum roce_syndrome { ROCE_ACK = 0x1f, ROCE_NAK_SEQUENCE = 0x60 };

// All fields of a frame that are neither constant nor computed (lengths, PadCnt, checksum, ICRC).
struct roce_fields {
    /* Ethernet, IPv4, UDP */
    uint64_t dst_mac, src_mac;
    uint32_t src_ip, dst_ip;
    uint16_t src_udp, dst_udp;
    uint16_t ip_id;
    uint8_t tos, ttl;
    /* BTH */
    uint8_t opcode; // enum roce_opcode: selects whether RETH or AETH follows
    bool ack_req, becn;
    uint32_t dst_qpn, psn; // low 24 bits are used
    /* RETH: WRITE FIRST and ONLY */
    uint64_t va;
    uint32_t rkey, dma_bytes;
    /* AETH: ACKNOWLEDGE */
    uint8_t syndrome; // enum roce_syndrome
    uint32_t msn;     // low 24 bits are used
    /* sizes */
    uint16_t payload_bytes; // zeros, without padding
    uint16_t trailer_bytes; // bytes after the IP packet
    const uint8_t *trailer; // NULL = zeros
};

// Returns the header fields of a DATA, ACK or CNP packet of flow `id`. Data and ACKs have room for
// id->int_bytes of INT.
struct roce_fields roce_fields_of(const struct packet *p, const struct packet_meta *meta,
                                  const struct flow_id *id);

// Returns the length of the whole frame without FCS.
size_t roce_frame_bytes(const struct roce_fields *f);

void roce_encode(const struct roce_fields *f, struct frame *frame);

extern const struct frame_ops roce_frames;
