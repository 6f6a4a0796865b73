// SPDX-License-Identifier: MIT
// Settings of the algorithms that have some, as their tables describe them, for who sets them by hand.
// Each is read by its own algorithm alone; "auto" is PARAM_AUTO.
#pragma once

#include "engine/param.h"

struct coll_ring_params {
    uint64_t directions; // 2 = half of the vector each way
    uint64_t pieces;     // of a broadcast or reduce; auto = as many as ranks
};

struct coll_direct_params {
    uint64_t in_flight; // messages of a rank at once; auto = to all others
};

// tree, double_binary_tree
struct coll_tree_params {
    uint64_t pieces; // auto = 1
};

struct coll_shifted_params {
    uint64_t ranks_per_server; // auto = those of the innermost dimension
};

// The row of a uint64_t `pieces`, to include in the table of an algorithm.
extern const struct param coll_pieces_params[];
