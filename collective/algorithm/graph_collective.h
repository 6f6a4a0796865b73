// SPDX-License-Identifier: MIT
// A collective given as a graph: sends, receives and computations of each member. A node begins
// as soon as all nodes that it depends on, which are of the same member, have ended.
// Source: the custom collectives of ASTRA-sim 2, CustomAlgorithm.cc.
#pragma once

#include "collective/algorithm/schedule.h"

enum coll_graph_kind { COLL_GRAPH_SEND, COLL_GRAPH_RECEIVE, COLL_GRAPH_COMPUTE };

struct coll_graph_node {
    uint8_t kind;  // enum coll_graph_kind
    uint32_t peer; // send, receive: the other member
    uint32_t tag;
    // Send, receive: messages match by sender, tag and size; each such combination that a receiver
    // expects has a number, the key. The n-th message of a key is received by the n-th receive of
    // that key to begin.
    uint32_t key;
    uint64_t bytes;
    ps_t takes_ps;   // compute
    uint32_t before; // nodes that it is after
    uint32_t first_next, n_next;
};

struct coll_graph {
    uint32_t n;     // members
    uint64_t bytes; // that all members send
    const struct coll_graph_node *nodes;
    // [n + 1] the first node and the first key of each member; nodes that become ready
    // together begin in the order of this list
    const uint32_t *first, *first_key;
    const uint32_t *next; // the nodes after a node, numbered from the member's first
};

// The graph of an operation, or NULL: the choice over all ranks at once is coll_graph_choice().
const struct coll_graph *coll_graph_of(const struct coll_schedule *s, enum coll_op op);
// `graph` may be NULL where only the name of the algorithm, "custom", is needed.
struct coll_choice coll_graph_choice(const struct coll_graph *graph);
