// SPDX-License-Identifier: MIT
// The double binary tree between servers (graph/trees.cc): two trees, in each of which every server
// that is inner in one is a leaf in the other.
//
// Source: Sanders, Speck and Traff, "Two-tree algorithms for full bandwidth broadcast, reduction
// and scan", Parallel Computing 2009.
#pragma once

#include <stdint.h>

#define NCCL_NO_NODE UINT32_MAX

struct nccl_tree_node {
    uint32_t up, down[2]; // NCCL_NO_NODE = none
    uint32_t child;       // which child of `up` it is, 0 or 1
};

// The place of `node` of `nodes` in tree 0 or 1.
struct nccl_tree_node nccl_tree_node(uint32_t nodes, uint32_t node, unsigned tree);
