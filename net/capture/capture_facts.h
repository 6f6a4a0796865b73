// SPDX-License-Identifier: MIT
// Facts about a packet in a pcapng file beside its bytes: options of its block.
//
// Comments are sentences for a reader, about what happened to the packet: marks, drops, pauses,
// retransmissions. The packet facts are for programs (net/capture/wireshark/collwire.lua). They are
// the value of a verdict option of type 0 ("hardware"), which Wireshark shows as frame.verdict.hw.
// Big-endian:
//
//    0  version, 1                              24  u32 collective of the communicator
//    1  kind: 0 data, 1 ACK or NAK, 2 CNP       28  u16 chunk        30  u16 phase
//    2  u16 flags (enum facts_flag)             32  u64 policy's window at sending, bytes
//    4  u32 source rank of the flow             40  u64 policy's rate at sending, bit/s
//    8  u32 destination rank of the flow        48  u16 communicator of the job
//   12  u32 number of the flow at its source    50  u8 length of the operation's name
//   16  u32 message of the source rank          51  u8 length of the job's or layer's name
//   20  u16 job          22  u16 step           52  the names
//
// An ACK has the message, window and rate of the data packet that it acknowledges.
#pragma once

#include "net/drop.h"
#include "net/flow_id.h"
#include "net/note.h"
#include "net/packet.h"
#include "net/tap.h"

enum facts_flag {
    FACTS_RETRANSMISSION = 1,
    FACTS_MESSAGE = 2,
    FACTS_COLLECTIVE = 4,
    FACTS_WINDOW = 8,
    FACTS_RATE = 16,
    FACTS_MARKED = 32, // CE was set by the port of this link
    FACTS_DROPPED = 64,
    FACTS_HELD = 128,      // waited at this port for the end of a pause
    FACTS_TRIGGERED = 256, // its arrival at the switch that sends it here triggered an XOFF
};

// A packet at the capture point, as the source of its facts.
struct facts_source {
    uint32_t port; // global index of the transmitting port
    bool outbound;
    const struct packet *packet;
    const struct flow_id *flow;     // NULL for PFC frames
    const struct flow_id *trigger;  // XOFF: flow of the packet that triggered it; NULL = none
    const struct packet_note *note; // NULL = none
    uint32_t seq;                   // sequence number of the packet
    uint32_t early_seq;             // NAK: of the packet that has arrived out of order
    ps_t sent_ps;                   // meta-data of the packet
    ps_t start_ps;
    ps_t held_ps; // 0 = not held by a pause
    bool dropped;
    enum drop_reason reason; // if dropped
    struct drop_level level; // if dropped
};

// Names of ports for comments and flags.
struct facts_names {
    const char *(*port)(void *ctx, uint32_t port, char *buf, size_t room); // "leaf0->rank8"
    // the node at the other end of a port ("rank8")
    const char *(*peer)(void *ctx, uint32_t port, char *buf, size_t room);
    bool (*same_node)(void *ctx, uint32_t port, uint32_t other);
    void *ctx;
};

#define FACTS_MAX 4096 // bytes of all options of a packet

// Write the options of a packet to `out`, of FACTS_MAX bytes, and return their length.
size_t facts_put(uint8_t *out, const struct facts_source *source, const struct facts_names *names);
