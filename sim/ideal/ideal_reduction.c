// SPDX-License-Identifier: MIT
// The larger of two bounds, each in every tree. Sending: a rank's bytes have arrived at its
// aggregator, then the last segment goes up and down the tree. Receiving: a first segment has gone
// up the tree and down to the rank's aggregator, then all that the rank receives comes from there.
#include "sim/ideal/ideal_reduction.h"

#include <stdlib.h>

#include "collective/algorithm/reduction.h"
#include "engine/base/memory.h"
#include "sim/ideal/ideal_internal.h"

struct tree_time {
    const struct ideals *ideals;
    const struct coll_shape *shape;
    const struct coll_tree *tree;
    const uint32_t *ranks;
    uint32_t transport, dim;
    uint64_t up_bytes, down_bytes; // least bytes of a segment on every hop
};

static uint32_t end_of(const struct tree_time *t, uint32_t node)
{
    uint32_t n = t->shape->ranks;
    const struct coll_place *places = t->shape->reduction->places;
    return node < n ? t->ranks[node] : places[t->tree->first_member - n + 2 * (node - n)].endpoint;
}

static double hop_ps(const struct tree_time *t, uint32_t from, uint32_t to, uint64_t bytes)
{
    uint32_t src = end_of(t, from), dst = end_of(t, to);
    struct ideal_path path = ideal_path_of(t->ideals, src, dst, t->dim, t->transport, bytes);
    return ideal_delivery_ps(t->ideals, &path, src, dst, t->transport, bytes);
}

static double up_ps(const struct tree_time *t, uint32_t node)
{
    double ps = 0;
    for (uint32_t up; (up = t->tree->parent[node]) != COLL_NO_PARENT; node = up)
        ps += hop_ps(t, node, up, t->up_bytes);
    return ps;
}

static double down_ps(const struct tree_time *t, uint32_t node)
{
    double ps = 0;
    for (uint32_t up; (up = t->tree->parent[node]) != COLL_NO_PARENT; node = up)
        ps += hop_ps(t, up, node, t->down_bytes);
    return ps;
}

// Bytes of the smallest segment: parts differ by at most a byte, and so do their segments.
static uint64_t least_segment(const struct coll_shape *s)
{
    return s->op == COLL_BARRIER ? 0 : s->bytes / coll_reduction_segments(s).n;
}

struct rank_bytes ideal_reduction_bytes(const struct coll_shape *s, uint32_t rank)
{
    uint64_t n = coll_reduction_segments(s).n, trees = s->reduction->n_trees;
    uint64_t segment = least_segment(s), all = n / trees * segment;
    uint64_t own = n / s->ranks / trees * segment;
    bool root = rank == s->root;
    switch (s->op) {
    case COLL_REDUCE:
        return (struct rank_bytes){all, root ? all : 0};
    case COLL_BROADCAST:
        return (struct rank_bytes){root ? all : 0, root ? 0 : all};
    case COLL_REDUCE_SCATTER:
        return (struct rank_bytes){all, own};
    case COLL_ALL_GATHER:
        return (struct rank_bytes){own, (n - n / s->ranks) / trees * segment};
    default:
        return (struct rank_bytes){all, all};
    }
}

uint32_t ideal_reduction_parent(const struct coll_shape *shape, uint32_t tree, uint32_t rank)
{
    const struct coll_reduction *r = shape->reduction;
    uint32_t a = r->trees[tree].parent[rank] - shape->ranks;
    return r->places[r->trees[tree].first_member - shape->ranks + 2 * a].endpoint;
}

// Raise end[] of each rank to the earliest end that a tree allows.
static void bound_in_tree(const struct tree_time *t, const double *enter, double *end)
{
    uint32_t n = t->shape->ranks;
    double last_up = 0, first_up = 0;
    for (uint32_t r = 0; r < n; r++) {
        uint32_t parent = t->tree->parent[r];
        double sent = enter[r] + hop_ps(t, r, parent, ideal_reduction_bytes(t->shape, r).sent);
        double first = enter[r] + up_ps(t, r);
        last_up = sent + up_ps(t, parent) > last_up ? sent + up_ps(t, parent) : last_up;
        first_up = first > first_up ? first : first_up;
    }
    for (uint32_t r = 0; r < n; r++) {
        uint32_t parent = t->tree->parent[r];
        double last = last_up + down_ps(t, r);
        double received = first_up + down_ps(t, parent) +
                          hop_ps(t, parent, r, ideal_reduction_bytes(t->shape, r).received);
        double most = last > received ? last : received;
        end[r] = most > end[r] ? most : end[r];
    }
}

void ideal_reduction(const struct ideals *ideals, const struct coll_shape *shape,
                     const uint32_t *ranks, uint32_t transport, double *enter_ps)
{
    const struct coll_reduction *r = shape->reduction;
    uint64_t n = coll_reduction_segments(shape).n;
    uint64_t segment = least_segment(shape);
    bool adds = shape->op == COLL_ALL_REDUCE || shape->op == COLL_REDUCE ||
                shape->op == COLL_REDUCE_SCATTER;
    double *end = memory_zeroed(shape->ranks, sizeof *end);
    for (uint32_t i = 0; shape->ranks > 1 && i < r->n_trees; i++) {
        struct tree_time t = {.ideals = ideals,
                              .shape = shape,
                              .tree = &r->trees[i],
                              .ranks = ranks,
                              .transport = transport,
                              .up_bytes = adds ? segment : 0,
                              .down_bytes = shape->op == COLL_ALL_REDUCE ? segment : 0};
        // With fewer segments than trees, the last trees have nothing to do.
        if (n <= i)
            continue;
        t.dim = ideals->fabric->graph.nodes[end_of(&t, shape->ranks)].dim;
        bound_in_tree(&t, enter_ps, end);
    }
    for (uint32_t m = 0; m < shape->ranks; m++)
        enter_ps[m] = shape->ranks > 1 ? end[m] : enter_ps[m];
    free(end);
}
