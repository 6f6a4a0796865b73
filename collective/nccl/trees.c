// SPDX-License-Identifier: MIT
// Numbers by their lowest set bit: a node with the lowest bit b has the children node - b/2 and
// node + b/2, and its parent is node ^ b with the next bit set. Where that is outside, it is the
// next one above that exists.
#include "collective/nccl/trees.h"

// Lowest set bit of a node; for 0, the first power of two that is not below `nodes`.
static uint32_t level_of(uint32_t nodes, uint32_t node)
{
    uint32_t bit = 1;
    while (bit < nodes && (node & bit) == 0)
        bit *= 2;
    return bit;
}

static struct nccl_tree_node first_tree(uint32_t nodes, uint32_t node)
{
    struct nccl_tree_node n = {NCCL_NO_NODE, {NCCL_NO_NODE, NCCL_NO_NODE}, 0};
    uint32_t bit = level_of(nodes, node);
    if (node == 0) { // the root has one child
        n.down[1] = nodes > 1 ? bit / 2 : NCCL_NO_NODE;
        return n;
    }
    // The lowest set bit moves up by one: the parent's position lies in the middle of a block of
    // twice the size.
    n.up = (node ^ bit) | (2 * bit);
    if (n.up >= nodes)
        n.up = node ^ bit;
    n.child = node < n.up ? 0 : 1;
    uint32_t half = bit / 2;
    if (half == 0)
        return n; // a leaf
    n.down[0] = node - half;
    // The right subtree is incomplete at the end of the nodes: its highest node that exists is the
    // child.
    while (half > 0 && node + half >= nodes)
        half /= 2;
    n.down[1] = half > 0 ? node + half : NCCL_NO_NODE;
    return n;
}

static uint32_t turned(uint32_t nodes, uint32_t node)
{
    if (node == NCCL_NO_NODE)
        return node;
    return nodes % 2 == 1 ? (node + 1) % nodes : nodes - 1 - node;
}

struct nccl_tree_node nccl_tree_node(uint32_t nodes, uint32_t node, unsigned tree)
{
    if (tree == 0)
        return first_tree(nodes, node);
    // The second tree is the first one shifted by one where the number of nodes is odd, else
    // mirrored: the leaves of the first, which have odd numbers, are inner nodes of the second.
    uint32_t at = nodes % 2 == 1 ? (node + nodes - 1) % nodes : nodes - 1 - node;
    struct nccl_tree_node n = first_tree(nodes, at);
    n.up = turned(nodes, n.up);
    n.down[0] = turned(nodes, n.down[0]);
    n.down[1] = turned(nodes, n.down[1]);
    return n;
}
