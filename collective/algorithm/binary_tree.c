// SPDX-License-Identifier: MIT
// Computes parents and children in the in-order binary tree from the bits of a position.
#include "collective/algorithm/binary_tree.h"

static uint32_t lowest_bit(uint32_t x) { return x & (~x + 1); }

static uint32_t parent_of(uint32_t n, uint32_t x)
{
    uint32_t bit = lowest_bit(x), rest = x - bit, up = rest | bit << 1;
    return up <= n ? up : rest; // that position does not exist: take the next ancestor
}

uint32_t binary_tree_height(uint32_t n)
{
    uint32_t height = 0;
    while (n >> (height + 1) != 0)
        height++;
    return height;
}

uint32_t binary_tree_root(uint32_t n) { return UINT32_C(1) << binary_tree_height(n); }

struct binary_node binary_node_at(uint32_t n, uint32_t position)
{
    struct binary_node node = {.parent = parent_of(n, position)};
    uint32_t half = lowest_bit(position) / 2;
    // The left child always exists: its position is lower.
    if (half > 0)
        node.child[node.n_children++] = position - half;
    // The root of the right subtree may lie beyond the last node; the highest node of that subtree
    // that exists takes its place, as parent_of() has it.
    while (half > 0 && position + half > n)
        half /= 2;
    if (half > 0)
        node.child[node.n_children++] = position + half;
    for (uint32_t up = node.parent; up != 0; up = parent_of(n, up))
        node.depth++;
    return node;
}
