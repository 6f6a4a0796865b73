// SPDX-License-Identifier: MIT
// The entries of the ledger of messages, and their numbers.
#pragma once

#include <stdalign.h>

#include "engine/base/slots.h"
#include "sim/delivery/delivery_internal.h"

struct ledger_entry {
    uint64_t token; // token of the client
    uint64_t bytes;
    uint32_t src, dst;
    uint32_t number; // index among the messages of src
    uint16_t job;
    bool failed : 1, control : 1;
    uint8_t dim;
    ps_t posted_ps, delivered_ps; // PS_NEVER = not delivered
    ps_t timeout_ps; // waited for the retransmission timer since the last packet was first sent
    uint32_t posted; // critical path up to the post, until the last packet is sent
    uint32_t path;   // 0 = the last packet has not been sent
};
_Static_assert(sizeof(struct ledger_entry) == 64, "an entry is as large as a cache line");

// Processes, or threads that use the ledger at the same time, take every n-th number of an entry
// for the messages that their ranks post.
struct ledger_part {
    alignas(64) struct slots numbers;
    uint64_t n_messages;
};

struct ledger {
    struct delivery *delivery;
    struct ledger_entry *entries;
    size_t cap, reserved_bytes; // reserved: the entries never move; 0 = they may
    struct ledger_part *parts;  // [n_parts] of processes or shards
    uint32_t n_parts;
    size_t cap_origins;
    struct message_origin *origins; // [entry]; NULL unless packets have notes
    uint32_t *n_posted;             // [rank or aggregator]
};

// The part that has the messages of `src`.
struct ledger_part *ledger_part(const struct ledger *l, uint32_t src);

// Take the number of an entry for a message of `src`, and give it back.
uint32_t ledger_entry_take(struct ledger *l, uint32_t src);
void ledger_entry_give(struct ledger *l, uint64_t number);

void ledger_entries_init(struct ledger *l);
void ledger_entries_free(struct ledger *l);
