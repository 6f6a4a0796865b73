// SPDX-License-Identifier: MIT
// The in-order binary tree over positions 1..n: even positions are inner nodes, odd ones leaves.
//
// A position whose lowest set bit is b > 1 has children b/2 before and b/2 after it. If the
// position after it exceeds n, the child is the nearest existing position b/4, b/8 ... after it (or
// none). The root is the largest power of two <= n. Every inner node except possibly the last has
// two children, so n positions have floor(n/2) inner nodes.
// Source: Sanders, Speck, Traeff, Parallel Computing 35 (2009), section 3.
#pragma once

#include <stdint.h>

struct binary_node {
    uint32_t parent;               // 0 = the root
    uint32_t child[2], n_children; // nearer to position 1 first
    uint32_t depth;                // 0 = the root
};

struct binary_node binary_node_at(uint32_t n, uint32_t position); // 1 <= position <= n
uint32_t binary_tree_root(uint32_t n);                            // n > 0
uint32_t binary_tree_height(uint32_t n);                          // largest depth; n > 0
