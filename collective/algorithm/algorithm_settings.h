// SPDX-License-Identifier: MIT
// Settings of the algorithms that have any, in the layout that their tables describe, for callers
// that set them in code. Only the algorithm itself reads them; "auto" is PARAM_AUTO.
#pragma once

#include "engine/base/param.h"

struct coll_ring_params {
    uint64_t directions; // 2 = half of the vector in each direction
    uint64_t pieces;     // of a broadcast or reduce; auto = the number of ranks
};

struct coll_direct_params {
    uint64_t in_flight; // messages of a rank at once; auto = one to every other rank
};

struct coll_double_tree_params {
    uint64_t pieces;  // auto = by the bytes; 1 if `alternating`
    bool alternating; // a chunk goes whole through one tree, the next one through the other
};

struct coll_tree_params {
    uint64_t pieces; // auto = 1
};

struct coll_shifted_params {
    uint64_t ranks_per_server; // auto = the size of the innermost dimension
};

struct coll_in_network_params {
    uint64_t segment_bytes;
    uint64_t trees; // auto = one in each plane
};

// for sparse_doubling and sparse_split
struct coll_sparse_params {
    double density;
    uint64_t value_bytes, index_bytes;
    uint64_t seed; // 0 = expected sizes
};

// A row for a uint64_t `pieces`, to include in the table of an algorithm.
extern const struct param coll_pieces_params[];
