// SPDX-License-Identifier: MIT
// Facts about a packet that only captures show: the message that it belongs to, the policy's window
// and rate when it was sent, and where it was marked or triggered a pause. Kept beside the
// meta-data of packets, and only in runs with captures that write it.
#pragma once

#include "net/transfer.h"

enum note_fact {
    NOTE_MESSAGE = 1,  // message and origin
    NOTE_SENT = 2,     // window and rate
    NOTE_MARK = 4,     // a switch has set CE
    NOTE_XOFF = 8,     // its arrival triggered an XOFF; PFC frame: it is an XOFF or XON
    NOTE_TRIGGER = 16, // XOFF: the packet that triggered it
    NOTE_RENEWS = 32,  // XOFF: it renews an earlier one
    NOTE_MADE = 64,    // made_ps
    NOTE_TRIM = 128,   // a switch has removed its payload
};

// Reason for sending a packet again.
enum note_resend {
    RESEND_UNKNOWN,
    RESEND_NAK,     // a NAK has arrived
    RESEND_LOST,    // ACKs of later data show that it is lost
    RESEND_TIMEOUT, // of the retransmission timer
    RESEND_PROBE,   // tail loss probe
    RESEND_TRIM,    // it has arrived without its payload
};

// The mark of a packet: place, queue and probability.
struct note_mark {
    uint32_t port; // output port
    uint64_t queue_bytes;
    double probability;
};

// The trimming of a packet: place and queue.
struct note_trim {
    uint32_t port;                     // output port
    uint64_t queue_bytes, limit_bytes; // with the packet; limit 0 = not in bytes
};

#define NOTE_UNLIMITED UINT64_MAX // window or rate without a limit

struct packet_note {
    unsigned set;     // bits of enum note_fact; the other fields are valid only if their bit is set
    uint32_t message; // number among the messages of its source rank
    struct message_origin origin;
    uint64_t window_bytes, rate_bps;
    enum note_resend resend; // of a retransmission
    struct note_mark mark;   // CNP: mark of the packet that it reports
    struct note_trim trim;   // NAK: trimming of the packet that it reports
    ps_t made_ps;            // CNP, ACK of TCP, PFC frame: time when its sender made it
    /* pause */
    uint32_t ingress_port;                       // the port that sends the PFC frame
    uint64_t ingress_bytes, ingress_limit_bytes; // held when it was sent; limit 0 = not known
    uint32_t trigger_flow, trigger_seq;          // handle; sequence number
};
