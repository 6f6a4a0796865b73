// SPDX-License-Identifier: MIT
// A simulated packet: one cache line by value, everything a hop or an end reads on the data path.
//
// Sequence numbers are packets of the flow (its PSN, low 32 bits; ends restore 64 bits, encoders wrap
// to 24). What only a capture shows (addresses, queue pair numbers, ports) is in flow_id.h by `flow`.
#pragma once

#include <stdbool.h>

#include "engine/units.h"

enum packet_kind {
    PACKET_DATA, // RoCEv2 RC RDMA WRITE FIRST / MIDDLE / LAST / ONLY
    PACKET_ACK,  // RC ACKNOWLEDGE; with PACKET_NAK set: PSN sequence error
    PACKET_CNP,  // congestion notification
    PACKET_PFC,  // 802.1Qbb PAUSE; link local
    PACKET_KINDS
};

enum packet_flag {
    PACKET_ECT = 1,      // ECN capable transport
    PACKET_CE = 2,       // congestion experienced (set by a switch)
    PACKET_FIRST = 4,    // data: first of its message, carries RETH
    PACKET_LAST = 8,     // data: last of its message
    PACKET_ACKREQ = 16,  // data: the receiver must acknowledge
    PACKET_NAK = 32,     // ack: negative
    PACKET_ECHO_CE = 64, // ack: the acknowledged packet carried CE
    PACKET_RETX = 128,   // data: sent before
};

struct packet {
    uint32_t flow; // queue pair (flow_id index); 0 for PFC
    uint32_t psn;  // data: own; ack: data PSNs before this one have arrived; nak: the one missing
    uint32_t dst;  // rank that the packet goes to (PFC: unused)
    uint32_t
        aux; // data FIRST: message bytes (saturated); ack: MSN; PFC: quanta << 8 | class vector
    uint32_t int_slot;      // INT records in the side pool, 0 = none
    uint16_t payload_bytes; // without padding
    uint16_t frame_bytes;   // what a queue holds: the frame with FCS, no preamble or gap
    uint16_t wire_bytes; // what the line spends: frame + preamble + gap, or as wire_overhead says
    uint16_t ingress;    // port of the switch it came in by, while queued there, or PACKET_OWN
    uint8_t kind, cls;   // enum packet_kind; class (priority) 0..7
    uint8_t flags;       // enum packet_flag
    uint8_t hops;
    ps_t sent_ps;      // data: left the sender; ack: echo of the acknowledged packet's
    ps_t arrives_ps;   // last byte at the far end of the link it is on
    uint32_t sack_psn; // nak of selective repeat: the packet that has arrived out of order
    uint8_t int_hops;  // records in its slot
    uint8_t pint;      // PINT digest of the path so far
    uint8_t pad[10];
};
_Static_assert(sizeof(struct packet) == 64, "struct packet is a cache line");

#define PACKET_OWN UINT16_MAX // ingress of what a rank has queued itself

static inline uint32_t packet_pfc_aux(uint8_t class_vector, uint16_t quanta)
{
    return (uint32_t)quanta << 8 | class_vector;
}
static inline uint8_t packet_pfc_classes(const struct packet *p) { return (uint8_t)p->aux; }
static inline uint16_t packet_pfc_quanta(const struct packet *p) { return (uint16_t)(p->aux >> 8); }
