// SPDX-License-Identifier: MIT
// Determines which piece a rank sends to which rank in a step, from its depth in each tree.
#include "collective/algorithm/tree_pipeline.h"

#include "collective/algorithm/binary_tree.h"

// A rank's position in one of the trees; all fields are ranks.
struct tree_place {
    bool has_parent;
    uint32_t parent, child[2], n_children, depth;
};

static bool has_top(const struct tree_pipeline *t) { return t->top != PIPELINE_NO_TOP; }

// Number of ranks that are positions 1..n of the trees.
static uint32_t positions(const struct tree_pipeline *t) { return t->ranks - has_top(t); }

static uint32_t height(const struct tree_pipeline *t)
{
    return binary_tree_height(positions(t)) + has_top(t);
}

// The rank at a position of tree 0 or 1.
static uint32_t rank_at(const struct tree_pipeline *t, uint32_t tree, uint32_t position)
{
    uint32_t n = positions(t);
    // Tree 1 is tree 0 mirrored or, for an odd number of positions, shifted by one. A leaf of one
    // tree is then an inner node of the other.
    if (tree == 1)
        position = n % 2 == 0 ? n + 1 - position : position % n + 1;
    return has_top(t) ? (t->top + position) % t->ranks : position - 1;
}

static uint32_t position_of(const struct tree_pipeline *t, uint32_t tree, uint32_t rank)
{
    uint32_t n = positions(t);
    uint32_t position = has_top(t) ? (rank + t->ranks - t->top) % t->ranks : rank + 1;
    if (tree == 0)
        return position;
    return n % 2 == 0 ? n + 1 - position : (position + n - 2) % n + 1;
}

static struct tree_place place_of(const struct tree_pipeline *t, uint32_t tree, uint32_t rank)
{
    uint32_t n = positions(t);
    if (rank == t->top)
        return (struct tree_place){.child = {rank_at(t, tree, binary_tree_root(n))},
                                   .n_children = 1};
    struct binary_node node = binary_node_at(n, position_of(t, tree, rank));
    struct tree_place place = {
        .has_parent = node.parent != 0 || has_top(t),
        .n_children = node.n_children,
        .depth = node.depth + has_top(t),
    };
    if (place.has_parent)
        place.parent = node.parent != 0 ? rank_at(t, tree, node.parent) : t->top;
    for (uint32_t i = 0; i < node.n_children; i++)
        place.child[i] = rank_at(t, tree, node.child[i]);
    return place;
}

// Find the piece that nodes at this depth send up (down) in a step; returns false if there is none.
static bool piece_up(const struct tree_pipeline *t, uint32_t depth, uint32_t step, uint32_t *piece)
{
    uint32_t first = height(t) - depth;
    *piece = step - first;
    return t->up && step >= first && *piece < t->pieces;
}

static bool piece_down(const struct tree_pipeline *t, uint32_t depth, uint32_t step,
                       uint32_t *piece)
{
    uint32_t first = (t->up ? height(t) : 0) + depth;
    *piece = step - first;
    return t->down && step >= first && *piece < t->pieces;
}

static struct coll_send piece_send(const struct tree_pipeline *t, uint32_t tree, uint32_t piece)
{
    struct coll_shape trees = {.ranks = t->n_trees, .bytes = t->bytes};
    uint64_t first = coll_segment(&trees, tree);
    struct coll_shape pieces = {.ranks = t->pieces,
                                .bytes = coll_segment(&trees, tree + 1) - first};
    uint64_t offset = first + coll_segment(&pieces, piece);
    return (struct coll_send){
        .src_offset = offset,
        .dst_offset = offset,
        .bytes = first + coll_segment(&pieces, piece + 1) - offset,
    };
}

uint32_t pipeline_steps(const struct tree_pipeline *t)
{
    if (t->ranks == 1)
        return 0;
    // A piece takes as many steps as the tree is high in each direction, and the pieces follow each
    // other at a distance of one step.
    return height(t) * ((uint32_t)t->up + t->down) + t->pieces - 1;
}

uint32_t pipeline_n_sends(const struct tree_pipeline *t, uint32_t rank, uint32_t step)
{
    uint32_t n = 0, piece;
    for (uint32_t tree = 0; tree < t->n_trees; tree++) {
        struct tree_place place = place_of(t, tree, rank);
        n += place.has_parent && piece_up(t, place.depth, step, &piece);
        n += piece_down(t, place.depth, step, &piece) ? place.n_children : 0;
    }
    return n;
}

uint32_t pipeline_n_recvs(const struct tree_pipeline *t, uint32_t rank, uint32_t step)
{
    uint32_t n = 0, piece;
    for (uint32_t tree = 0; tree < t->n_trees; tree++) {
        struct tree_place place = place_of(t, tree, rank);
        // The children are one level deeper, and the parent is one level higher.
        if (place.n_children > 0 && piece_up(t, place.depth + 1, step, &piece))
            n += place.n_children;
        n += place.has_parent && piece_down(t, place.depth - 1, step, &piece);
    }
    return n;
}

struct coll_send pipeline_send(const struct tree_pipeline *t, uint32_t rank, uint32_t step,
                               uint32_t k)
{
    struct coll_send send = {0};
    for (uint32_t tree = 0; tree < t->n_trees; tree++) {
        struct tree_place place = place_of(t, tree, rank);
        uint32_t piece;
        if (place.has_parent && piece_up(t, place.depth, step, &piece) && k-- == 0) {
            send = piece_send(t, tree, piece);
            send.peer = place.parent;
            send.reduce = true;
            break;
        }
        uint32_t down = piece_down(t, place.depth, step, &piece) ? place.n_children : 0;
        if (k < down) {
            send = piece_send(t, tree, piece);
            send.peer = place.child[k];
            break;
        }
        k -= down;
    }
    send.peer_step = step;
    return send;
}
