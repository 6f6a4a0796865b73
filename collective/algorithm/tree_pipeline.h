// SPDX-License-Identifier: MIT
// A vector that goes up binary trees (summed), down them (copied), or both, in pieces.
//
// One tree carries the whole vector; two trees carry half each. The second tree is the mirror image
// of the first (n even) or the first shifted by one position (n odd): in both cases its inner nodes
// are the odd positions, so no rank is an inner node of both. `top` is a rank above the roots of
// the trees, which then span the other ranks: the root of a rooted operation.
// A node at depth d of trees of height h sends piece j up in step h - d + j. It sends piece j to
// its children in step d + j, plus h if there was an upward pass.
// Source: Sanders, Speck, Traeff, Parallel Computing 35 (2009). Their schedule alternates between
// the trees by a colouring, so a node sends one message at a time; here a node sends to all its
// children in one step.
#pragma once

#include "collective/algorithm/collective.h"

#define PIPELINE_NO_TOP UINT32_MAX

struct tree_pipeline {
    uint32_t ranks, top;
    uint64_t bytes;
    uint32_t pieces, n_trees;
    bool up, down;
};

uint32_t pipeline_steps(const struct tree_pipeline *t);
uint32_t pipeline_n_sends(const struct tree_pipeline *t, uint32_t rank, uint32_t step);
uint32_t pipeline_n_recvs(const struct tree_pipeline *t, uint32_t rank, uint32_t step);
struct coll_send pipeline_send(const struct tree_pipeline *t, uint32_t rank, uint32_t step,
                               uint32_t k);
