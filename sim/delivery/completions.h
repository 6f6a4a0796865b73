// SPDX-License-Identifier: MIT
// Completions of messages that the NIC has ended and the program does not know of yet:
// `nic.completion`. The program of the receiver learns of a message before that of the sender does,
// as by packets.
#pragma once

#include "sim/delivery/delivery_internal.h"

enum completion_kind { COMPLETION_DELIVERED, COMPLETION_SENT, COMPLETION_FAILED };

struct completion {
    ps_t due_ps;
    uint64_t token, bytes; // of the client
    uint32_t path;         // of the message; 0 = none
    enum path_cause late;  // cause of the time between the end of the path and now
    ps_t held_ps;          // sent: the receiver held back the last ACK for so long
    enum completion_kind kind;
};

// Tell the client about a message of `rank` in a dimension at c.due_ps, or at once if that is now.
// Takes over the path.
void completions_add(struct delivery *delivery, uint32_t rank, uint32_t dim, struct completion c,
                     ps_t now);

// Tell the client that a message has entered its connection's send buffer. Takes over the path up
// to the post.
void completions_entered(struct delivery *delivery, uint64_t token, uint32_t path, ps_t now);

// When the program of `rank` learns of what its NIC knows now.
ps_t completion_due_ps(const struct delivery *delivery, uint32_t rank, uint32_t dim, ps_t now);

// Keep the record of a message that has ended at its NICs, when its sender's program knows.
void completions_record(struct delivery *delivery, const struct flow_record *record, ps_t now);
