// SPDX-License-Identifier: MIT
// Aggregation trees of a group of ranks, for reductions inside switches. Pure data:
// sim/fabric/fabric_reduction.c makes the trees, and the algorithm in_network reads them.
//
// A tree has the ranks as leaves and aggregators as inner nodes. Nodes are numbered in one list:
// the ranks of the group, then the tree's aggregators. The first aggregator is the root. Several
// trees share the work: segment j goes through tree j mod n_trees.
//
// In the algorithm an aggregator is two members: one adds what comes from its children, the other
// passes results down to them, so that neither waits for the other. Members are numbered after the
// ranks.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/units.h"

#define COLL_NO_PARENT UINT32_MAX

struct coll_tree {
    uint32_t n_aggregators;
    uint32_t first_member;  // number of the first member of its aggregators
    const uint32_t *parent; // [node] COLL_NO_PARENT = root
    const uint32_t *first;  // [aggregator] first of its children in `children`; one more at the end
    const uint32_t *children; // nodes
};

// The role of a member that is not a rank.
struct coll_place {
    uint32_t tree, node; // node: in the tree's numbering
    bool down;           // passes results down; else it adds
    uint32_t endpoint;   // its node in the network
};

// An aggregator's use of its buffer, over all reductions that pass through it.
struct coll_slots {
    uint64_t held_bytes, max_bytes; // reserved for segments that have begun and not ended
    uint64_t reduced_bytes;         // received and added
};

struct coll_reduction {
    uint32_t n_ranks, n_trees, n_members; // n_members: ranks included
    const struct coll_tree *trees;
    const struct coll_place *places; // [member - n_ranks]
    struct coll_slots *const *slots; // [member - n_ranks] of its aggregator; NULL = not counted
    uint64_t buffer_bytes;           // that one phase may hold in each aggregator of a tree
    ps_t latency_ps;                 // of an aggregator, each way; for networks in closed form
};

// The segments of a phase, and how many may be on their way at once.
struct coll_segments {
    uint64_t n, window;
    uint64_t largest_bytes;
};
struct coll_shape;
struct coll_segments coll_reduction_segments(const struct coll_shape *shape);

// Bytes of an aggregator's buffer that a segment holds: the sum, and the result of the segment
// before it in the same place, which may have to be sent to a child again (Sapio et al., NSDI
// 2021).
static inline uint64_t coll_slot_bytes(uint64_t segment_bytes) { return 2 * segment_bytes; }
