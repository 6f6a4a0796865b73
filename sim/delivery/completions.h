// SPDX-License-Identifier: MIT
// Completions that a NIC has not reported to its program yet (`nic.completion`). As with packets,
// the receiver's program is notified of a message before the sender's program.
#pragma once

#include "sim/delivery/delivery_internal.h"

enum completion_kind { COMPLETION_DELIVERED, COMPLETION_SENT, COMPLETION_FAILED };

struct completion {
    ps_t due_ps;
    uint64_t token, bytes; // of the client
    uint32_t path;         // of the message; 0 = none
    enum path_cause late;  // cause of the time between the end of the path and now
    ps_t held_ps;          // COMPLETION_SENT: time for which the receiver held back the last ACK
    enum completion_kind kind;
};

// Report a message of `rank` in a dimension to the client at c.due_ps, or at once if that is now.
// Takes over the path.
void completions_add(struct delivery *delivery, uint32_t rank, uint32_t dim, struct completion c,
                     ps_t now);

// Report to the client that a message has entered its connection's send buffer. Takes over the path
// up to the post.
void completions_entered(struct delivery *delivery, uint64_t token, uint32_t path, ps_t now);

// Returns the time at which the NIC of `rank` reports an event of `now` to the rank's program.
ps_t completion_due_ps(const struct delivery *delivery, uint32_t rank, uint32_t dim, ps_t now);

// Keep the record of a message that has ended at its NICs, when its sender's program is notified.
void completions_record(struct delivery *delivery, const struct flow_record *record);
