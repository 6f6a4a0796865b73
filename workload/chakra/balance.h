// SPDX-License-Identifier: MIT
// Counts operations that must agree between ranks: every message is sent as often as it is
// received, and the members of a communicator run the same collectives.
#pragma once

#include "workload/chakra/set.h"

struct balance_message { // messages from one rank to another with one tag and size
    uint32_t src, dst, tag;
    int64_t open;              // sent and not received, negative = received and not sent
    uint64_t sender, receiver; // ids of the first nodes
};

struct balance_member {    // collectives of one member of a communicator
    uint64_t n, sum, last; // sum of hashes of operations and sizes; id of the last node
};

struct balance {
    struct balance_message *messages; // open hashing; dst == src = free
    size_t n_messages, slots;
    struct balance_member **members; // [group][rank]
    uint32_t n_groups;
};

void balance_free(struct balance *b);
void balance_add(struct balance *b, const struct trace_set *set, uint32_t rank,
                 const struct node *node);

// Returns 0, or -1 with errors at `path`.
int balance_check(const struct balance *b, const struct trace_set *set, const char *path,
                  struct err *err);
