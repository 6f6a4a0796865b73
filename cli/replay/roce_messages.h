// SPDX-License-Identifier: MIT
// Messages of one direction of a queue pair, from its packets.
//
// The first packet of a message and the last one have numbers (PSNs), and all but the last carry
// the same number of bytes, the path MTU. So a SEND has (last - first) * MTU + rest bytes,
// whichever of the packets between were captured; a WRITE states its length in the first packet. A
// message starts at the time of its earliest packet. A PSN that was seen before is a
// retransmission, or the same packet at another interface.
//
// A message ends with the latest sighting of any of its packets, which may be at another interface,
// or a retransmission; so the last messages that are complete are kept for a while.
//
// Packets may come in any order. Incomplete messages are a short list of marks, ascending by PSN:
// first packets without a last one, last packets without a first one, and the earliest packet of a
// message that has neither.
#pragma once

#include "cli/replay/flow_rows.h"
#include "cli/replay/replay.h"
#include "cli/replay/seen.h"

// Marks that are kept; with more, the lowest is given up.
#define MARKS_MAX 64

// Complete messages that are kept.
#define RECENT_MAX 16

struct roce_mark;

struct roce_recent {
    int64_t first, last; // PSNs
    size_t row;          // in flow_rows
};

struct roce_messages {
    uint32_t src, dst;       // endpoints of the packets
    enum flow_origin origin; // of its messages
    bool begun;
    int64_t highest; // PSN, without wrapping
    struct seen seen;
    struct roce_mark *marks;
    uint32_t n_marks, cap_marks;
    struct roce_recent *recent; // a ring once it has RECENT_MAX
    uint32_t n_recent, turn;
};

// Note a packet. Returns false if it has been seen before.
bool roce_messages_add(struct roce_messages *m, const struct bth *bth, int64_t ns,
                       struct flow_rows *rows);

// Give up the marks that are left at the end of the capture, and free.
void roce_messages_finish(struct roce_messages *m, struct flow_rows *rows);
