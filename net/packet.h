// SPDX-License-Identifier: MIT
// A simulated packet: half a cache line, stored by value, with the fields that every hop reads.
//
// Fields that only the two ends read (sequence number, message, telemetry) are in net/meta.h, found
// by `meta`. Fields that only captures show (addresses, connection numbers, UDP ports) are in
// net/flow_id.h, found by `flow`.
#pragma once

#include <stdbool.h>

#include "engine/base/units.h"

enum packet_kind {
    PACKET_DATA,    // one packet of a message: RoCEv2 RC RDMA WRITE FIRST / MIDDLE / LAST / ONLY
    PACKET_ACK,     // RC ACKNOWLEDGE; with PACKET_NAK set: PSN sequence error
    PACKET_CNP,     // congestion notification
    PACKET_PFC,     // 802.1Qbb PFC frame, link-local
    PACKET_TRIMMED, // a data packet whose payload a switch has removed; in the control class
    PACKET_CREDIT,  // a grant of the receiver to the sender
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
    PACKET_RETX = 128,   // data: retransmission
    // the same bits with a second meaning, in kinds of packets that do not use the first one
    PACKET_LAST_HOP = 32,   // trimmed: by the switch that the destination is attached to
    PACKET_TRIM_REPORT = 4, // ack with PACKET_NAK: a packet arrived without its payload
    PACKET_HELD = 16, // ack of tcp without PACKET_NAK: made later than it was owed, meta_held()
    PACKET_NAK_LAST_HOP = 16, // ack with PACKET_TRIM_REPORT: as PACKET_LAST_HOP
};

struct packet {
    ps_t arrives_ps; // on a link: arrival of the last byte at the far end; in a queue: time of
                     // enqueue
    uint32_t flow;   // handle of its flow, the same in both directions; 0 for PFC
    uint32_t dst;    // destination rank; 0 for PFC
    union {
        uint32_t
            entropy;  // hash of the header fields; switches use it to choose among equal-cost paths
                      // (ECMP)
        uint32_t pfc; // PFC: quanta << 8 | class vector
    };
    uint32_t meta;        // index into the pool of meta-data; 0 = none
    uint16_t frame_bytes; // size in a queue: frame with FCS, without preamble and gap
    uint16_t wire_bytes;  // size on the link: frame + preamble + gap, or as `wire_overhead` defines
    union {
        uint16_t ingress; // in a queue: the switch's ingress port, or PACKET_OWN
        uint16_t onward;  // on a link: output port of the next switch, or PACKET_UNDECIDED
    };
    unsigned kind : 4;     // enum packet_kind
    unsigned cls : 3;      // class (priority) 0..7
    unsigned given_up : 1; // on a link with retry: all attempts have failed (fault_retry)
    uint8_t flags;         // enum packet_flag
};
_Static_assert(sizeof(struct packet) == 32, "struct packet is half a cache line");

#define PACKET_OWN UINT16_MAX // `ingress` of a packet that the rank itself has queued
// `onward` until node_ops.hint chooses a port; otherwise the switch looks it up
#define PACKET_UNDECIDED UINT16_MAX

static inline uint32_t packet_pfc(uint8_t class_vector, uint16_t quanta)
{
    return (uint32_t)quanta << 8 | class_vector;
}
static inline uint8_t packet_pfc_classes(const struct packet *p) { return (uint8_t)p->pfc; }
static inline uint16_t packet_pfc_quanta(const struct packet *p) { return (uint16_t)(p->pfc >> 8); }
