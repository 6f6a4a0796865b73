// SPDX-License-Identifier: MIT
// Tree collectives: in one piece over a binomial tree; in several pieces pipelined over a binary
// tree.
//
// Binomial: nodes are numbered from the root, v = rank - root mod p. Node v with lowest set bit b
// is a child of v - b and the root of the subtree v .. v + b - 1. Upwards (reduce, gather): in step
// s of L = ceil(log2 p), nodes with b = 2^s send to their parent, which adds or stores. Downwards
// (broadcast, scatter): the same levels in reverse order, and between two levels a step in which a
// child sends an empty answer to its parent. A parent thus serves its children one after the other,
// as with blocking sends; if the messages shared the link, the first and largest subtree would be
// delayed by the others. An all-reduce goes up to rank 0 and down; so does a barrier, with empty
// messages and without answers. At powers of two each direction costs L (a + n/G); gather and
// scatter L a + (p-1)/p n/G; the answers on the way down add (L - 1) a at the root.
// In pieces (broadcast, reduce, all_reduce): the root is above a binary tree of the other ranks. No
// rank sends more than two copies of the vector in one direction, so with many pieces the time
// approaches 2n/G (an all-reduce: 3n/G) instead of n/G log2 p. If p is a power of two the tree is
// as deep as the binomial tree.
// Sources: Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 4; for the binary tree see
// binary_tree.h.
#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/tree_pipeline.h"

extern const struct coll_algorithm coll_tree;

static const struct param tree_params[] = {
    {.include = coll_pieces_params, .offset = offsetof(struct coll_tree_params, pieces)},
};

static uint32_t pieces_of(const struct coll_shape *shape)
{
    const struct coll_tree_params *p = shape->params;
    return p != NULL && p->pieces != PARAM_AUTO ? (uint32_t)p->pieces : 1;
}

static bool tree_supports(const struct coll_shape *shape, const char **why)
{
    if (!coll_shape_valid(shape, why))
        return false;
    switch (shape->op) {
    case COLL_REDUCE_SCATTER:
    case COLL_ALL_GATHER:
    case COLL_ALL_TO_ALL:
        *why = "its root would have to carry all of it; use ring, direct or bruck";
        return false;
    case COLL_SEND_RECV:
        *why = "there is no tree in it; use ring or direct";
        return false;
    default:
        return true;
    }
}

static bool goes_up(enum coll_op op)
{
    return op == COLL_ALL_REDUCE || op == COLL_REDUCE || op == COLL_GATHER || op == COLL_BARRIER;
}

static bool goes_down(enum coll_op op)
{
    return op == COLL_ALL_REDUCE || op == COLL_BROADCAST || op == COLL_SCATTER ||
           op == COLL_BARRIER;
}

static uint32_t root_of(const struct coll_shape *shape)
{
    return coll_op_rooted(shape->op) ? shape->root : 0;
}

static bool in_pieces(const struct coll_shape *shape)
{
    return pieces_of(shape) > 1 && shape->ranks > 1 &&
           (shape->op == COLL_ALL_REDUCE || shape->op == COLL_BROADCAST ||
            shape->op == COLL_REDUCE);
}

static struct tree_pipeline pipeline_of(const struct coll_shape *shape)
{
    return (struct tree_pipeline){
        .ranks = shape->ranks,
        .top = root_of(shape),
        .bytes = shape->bytes,
        .pieces = pieces_of(shape),
        .n_trees = 1,
        .up = goes_up(shape->op),
        .down = goes_down(shape->op),
    };
}

static uint32_t levels(const struct coll_shape *shape)
{
    uint32_t log2 = 0;
    while ((shape->ranks - 1) >> log2 != 0)
        log2++;
    return log2;
}

static uint32_t down_steps(const struct coll_shape *shape)
{
    uint32_t n = levels(shape);
    if (n == 0 || !goes_down(shape->op))
        return 0;
    // Between the n levels there are n - 1 steps for answers; a barrier has none.
    return shape->op == COLL_BARRIER ? n : 2 * n - 1;
}

static uint32_t tree_steps(const struct coll_shape *shape)
{
    if (in_pieces(shape)) {
        struct tree_pipeline t = pipeline_of(shape);
        return pipeline_steps(&t);
    }
    return (goes_up(shape->op) ? levels(shape) : 0) + down_steps(shape);
}

// The part of a rank in a step over the binomial tree.
struct turn {
    bool up;       // messages go to parents
    bool answer;   // the message is an answer of a child that has been served
    bool is_child; // the rank exchanges with its parent
    bool is_parent;
    uint32_t node, bit; // v, and the distance to the partner
};

static struct turn turn_of(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t n = levels(shape), up_steps = goes_up(shape->op) ? n : 0;
    struct turn turn = {.up = step < up_steps};
    uint32_t level = step; // 0 = the leaves
    if (!turn.up) {
        uint32_t down = step - up_steps, per_level = shape->op == COLL_BARRIER ? 1 : 2;
        // Each level of the way down is a step for the message and one for the answer.
        level = n - 1 - down / per_level;
        turn.answer = turn.up = down % per_level == 1;
    }
    turn.bit = UINT32_C(1) << level;
    turn.node = (rank + shape->ranks - root_of(shape)) % shape->ranks;
    uint32_t low = turn.node & (2 * turn.bit - 1);
    turn.is_child = low == turn.bit;
    // With rank counts that are no powers of two, the last nodes lack some children.
    turn.is_parent = low == 0 && turn.node + turn.bit < shape->ranks;
    return turn;
}

static uint32_t tree_n_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    if (in_pieces(shape)) {
        struct tree_pipeline t = pipeline_of(shape);
        return pipeline_n_sends(&t, rank, step);
    }
    struct turn turn = turn_of(shape, rank, step);
    return turn.up ? turn.is_child : turn.is_parent;
}

static uint32_t tree_n_recvs(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    if (in_pieces(shape)) {
        struct tree_pipeline t = pipeline_of(shape);
        return pipeline_n_recvs(&t, rank, step);
    }
    struct turn turn = turn_of(shape, rank, step);
    return turn.up ? turn.is_parent : turn.is_child;
}

// The b-th segment of a gather or scatter message between a node and its parent: those of the
// node's subtree.
static struct coll_block tree_block(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                    uint32_t k, uint32_t b)
{
    (void)k;
    struct turn turn = turn_of(shape, rank, step);
    uint32_t child = turn.up ? rank : rank + turn.bit;
    return (struct coll_block){.segment = (child + b) % shape->ranks};
}

static struct coll_send tree_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                  uint32_t k)
{
    if (in_pieces(shape)) {
        struct tree_pipeline t = pipeline_of(shape);
        return pipeline_send(&t, rank, step, k);
    }
    uint32_t p = shape->ranks;
    struct turn turn = turn_of(shape, rank, step);
    struct coll_send send = {
        .peer = (turn.up ? rank + p - turn.bit : rank + turn.bit) % p,
        .peer_step = step,
    };
    if (turn.answer || shape->op == COLL_BARRIER)
        return send;
    if (shape->op == COLL_GATHER || shape->op == COLL_SCATTER) {
        uint32_t child = turn.up ? turn.node : turn.node + turn.bit;
        // The subtree of a child has `bit` nodes, unless the ranks end before.
        send.blocks = turn.bit < p - child ? turn.bit : p - child;
        send.bytes = coll_blocks_bytes(&coll_tree, shape, rank, step, k, send.blocks);
    } else {
        send.bytes = shape->bytes;
        send.reduce = turn.up;
    }
    return send;
}

const struct coll_algorithm coll_tree = {
    .name = "tree",
    .doc = "up to a root, down from it: a binomial tree, or in pieces through a binary tree",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .params = tree_params,
    .n_params = sizeof tree_params / sizeof *tree_params,
    .params_bytes = sizeof(struct coll_tree_params),
    .supports = tree_supports,
    .steps = tree_steps,
    .n_sends = tree_n_sends,
    .send = tree_send,
    .n_recvs = tree_n_recvs,
    .block = tree_block,
};
