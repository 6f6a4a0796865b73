// SPDX-License-Identifier: MIT
// Two complementary binary trees; each carries half of the vector.
//
// A rank is an inner node of at most one of the trees, so it sends (an inner node half of the
// vector to each of two children) and receives at most the size of the vector, where a single
// binary tree takes twice that: with many pieces the time of a broadcast or reduce approaches n/G,
// and of an all-reduce 2n/G, with a latency proportional to log2 p instead of p. Broadcast and
// reduce: the root is above both trees, which span the other ranks. All-reduce: each half is summed
// at the root of its own tree.
// `alternating` is the double tree of ASTRA-sim, where every chunk of an all-reduce passes whole
// over each edge of one tree: even chunks go through a tree below the last rank, odd ones through a
// tree below the first. It takes about twice the time of the two halves.
// Sources: Sanders, Speck, Traeff, Parallel Computing 35 (2009); NCCL 2.4 (Jeaugey, "Massively
// scale your deep learning training with NCCL 2.4", 2019). The root of NCCL's trees has one child,
// so with an odd number of ranks rank 0 is an inner node of both trees; here no rank ever is.
#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/binary_tree.h"
#include "collective/algorithm/tree_pipeline.h"

#define PIECES_MAX 65536 // as the table of `pieces` has it

static const struct param tree_params[] = {
    {.include = coll_pieces_params, .offset = offsetof(struct coll_double_tree_params, pieces)},
    PARAM_ROW(
        "alternating", BOOL, offsetof(struct coll_double_tree_params, alternating), .def = "false",
        .help =
            "as in ASTRA-sim: a chunk of an all-reduce goes whole through one of the trees, the "
            "next chunk through the other"),
};

static bool alternates(const struct coll_shape *shape)
{
    const struct coll_double_tree_params *p = shape->params;
    return p != NULL && p->alternating && shape->op == COLL_ALL_REDUCE;
}

// Number of pieces of each half, as NCCL cuts the data of a channel: pieces of 512 KiB, halved
// while they are few for the depth of the tree and remain large enough to be worth a message.
// Source: NCCL 2.8 to 2.18, src/enqueue.cc, chunkSize of the tree algorithm under protocol Simple.
static uint32_t pieces_as_nccl(const struct coll_shape *shape)
{
    static const struct {
        uint64_t per_level, least_bytes;
    } rules[] = {{8, 128 << 10}, {4, 64 << 10}, {1, 32 << 10}};
    uint64_t half = shape->bytes / 2, piece = 512 << 10;
    uint64_t depth = binary_tree_height(shape->ranks);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        while (half / piece < depth * rules[i].per_level && piece > rules[i].least_bytes)
            piece /= 2;
    uint64_t pieces = (half + piece - 1) / piece;
    return pieces < 1 ? 1 : pieces < PIECES_MAX ? (uint32_t)pieces : PIECES_MAX;
}

static uint32_t pieces_of(const struct coll_shape *shape)
{
    const struct coll_double_tree_params *p = shape->params;
    if (p != NULL && p->pieces != PARAM_AUTO)
        return (uint32_t)p->pieces;
    return alternates(shape) ? 1 : pieces_as_nccl(shape);
}

static bool dbt_supports(const struct coll_shape *shape, const char **why)
{
    if (!coll_shape_valid(shape, why))
        return false;
    if (shape->op == COLL_ALL_REDUCE || shape->op == COLL_BROADCAST || shape->op == COLL_REDUCE)
        return true;
    *why = "only all_reduce, broadcast and reduce move the whole vector through trees";
    return false;
}

static struct tree_pipeline pipeline_of(const struct coll_shape *shape)
{
    if (alternates(shape))
        return (struct tree_pipeline){.ranks = shape->ranks,
                                      .top = shape->chunk % 2 == 0 ? shape->ranks - 1 : 0,
                                      .bytes = shape->bytes,
                                      .pieces = pieces_of(shape),
                                      .n_trees = 1,
                                      .up = true,
                                      .down = true};
    return (struct tree_pipeline){
        .ranks = shape->ranks,
        .top = coll_op_rooted(shape->op) ? shape->root : PIPELINE_NO_TOP,
        .bytes = shape->bytes,
        .pieces = pieces_of(shape),
        .n_trees = 2,
        .up = shape->op != COLL_BROADCAST,
        .down = shape->op != COLL_REDUCE,
    };
}

static uint32_t dbt_steps(const struct coll_shape *shape)
{
    struct tree_pipeline t = pipeline_of(shape);
    return pipeline_steps(&t);
}

static uint32_t dbt_n_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    struct tree_pipeline t = pipeline_of(shape);
    return pipeline_n_sends(&t, rank, step);
}

static uint32_t dbt_n_recvs(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    struct tree_pipeline t = pipeline_of(shape);
    return pipeline_n_recvs(&t, rank, step);
}

static struct coll_send dbt_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                 uint32_t k)
{
    struct tree_pipeline t = pipeline_of(shape);
    return pipeline_send(&t, rank, step, k);
}

extern const struct coll_algorithm coll_double_binary_tree;
const struct coll_algorithm coll_double_binary_tree = {
    .name = "double_binary_tree",
    .doc = "two binary trees with half of the vector each, no rank inner in both; pipelined",
    .source = "Sanders, Speck, Traeff, Parallel Computing 35 (2009)",
    .astra = "doubleBinaryTree",
    .params = tree_params,
    .n_params = sizeof tree_params / sizeof *tree_params,
    .params_bytes = sizeof(struct coll_double_tree_params),
    .never_splits = true,
    .by_chunk = true,
    .supports = dbt_supports,
    .steps = dbt_steps,
    .n_sends = dbt_n_sends,
    .send = dbt_send,
    .n_recvs = dbt_n_recvs,
};
