// SPDX-License-Identifier: MIT
// Transfers of one direction of a TCP connection, from its segments.
//
// The first transfer after a handshake starts with the SYN, unless the first data came later than
// the gap after it. Bytes are counted by the advance of the highest sequence number, so that
// retransmissions do not count again, and segments that the capture has missed do. TCP marks no
// messages. A transfer ends, and the next new byte begins another, when all its bytes have been
// acknowledged and then
//  - the peer sends payload (the application takes turns), or
//  - nothing follows for longer than the gap, or than twice the round trip of the handshake where
//    that is longer.
// Silence before the acknowledgment is a retransmission timer or a closed window, not the
// application. Where the acknowledgments are not captured, silence alone ends a transfer. In
// captures of collwire the PSH flag ends each message and nothing else does.
#pragma once

#include "cli/replay/flow_rows.h"

struct tcp_segment {
    uint32_t seq, ack, payload;
    bool syn, fin, rst, has_ack, push;
};

struct tcp_transfers {
    uint32_t src, dst; // endpoints
    bool own;          // of a capture of collwire
    bool begun;        // `next` is valid
    bool open;         // a transfer has begun
    bool answers;      // the other end's acknowledgments are captured
    bool acked;        // all bytes of the transfer
    bool turned;       // the peer has sent payload since
    bool pushed;       // the last byte had PSH
    bool opens;        // this end has sent the first SYN, at syn_ns, and nothing since
    bool greeted;      // and no payload since; start_ns is the time of its first SYN
    uint32_t next;     // sequence number behind the highest byte
    uint64_t bytes;    // of the open transfer
    int64_t start_ns, last_ns, acked_ns, syn_ns, rtt_ns;
    int64_t end_ns; // latest sighting of payload of the open transfer
};

// Read a TCP header. Returns SKIP_NONE, or why it cannot be used.
enum skip tcp_segment_read(const struct span *body, struct tcp_segment *out);

// Note a segment of direction `t`; `peer` is the other direction, NULL if no packet of it was
// captured. Returns false if it has no new payload.
bool tcp_transfers_add(struct tcp_transfers *t, struct tcp_transfers *peer,
                       const struct tcp_segment *s, int64_t ns, int64_t gap_ns,
                       struct flow_rows *rows);

// End the open transfer.
void tcp_transfers_finish(struct tcp_transfers *t, struct flow_rows *rows);
