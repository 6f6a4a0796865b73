// SPDX-License-Identifier: MIT
// Completions of messages that the NIC has ended and the program does not know of yet: `nic.completion`.
#pragma once

#include "sim/sim_internal.h"

enum completion_kind { COMPLETION_DELIVERED, COMPLETION_SENT, COMPLETION_FAILED };

struct completion {
    ps_t due_ps;
    uint64_t token, bytes; // of the client
    uint32_t path;         // of the message; 0 = none
    enum path_cause late;  // cause of the time between the end of the path and now
    enum completion_kind kind;
};

// Tell the client about a message of `rank` in a dimension: at once, or when its NIC's completion is due.
// Takes over the path.
void sim_complete(struct sim *sim, uint32_t rank, uint32_t dim, struct completion c, ps_t now);

// The time that completions of a rank take.
ps_t sim_completion_ps(const struct sim *sim, uint32_t rank, uint32_t dim);
