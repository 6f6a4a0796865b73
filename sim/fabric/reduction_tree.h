// SPDX-License-Identifier: MIT
// Aggregation trees over the switches of one dimension of a graph.
#pragma once

#include "collective/algorithm/reduction.h"
#include "net/topology/graph.h"

// A search from a root: the distance of each switch, and its neighbour on the way to the root.
struct tree_search {
    const struct graph *g;
    uint32_t dim;
    uint32_t *distance; // [node] GRAPH_NONE = not reached
    uint32_t *towards;  // [node]
    uint32_t *queue;
    uint32_t n_reached;
};

void tree_search_init(struct tree_search *s, const struct graph *g, uint32_t dim);
void tree_search_free(struct tree_search *s);

// Search from switch `root`. Returns the largest distance of a rank's switch to it, or GRAPH_NONE
// if a rank has no port to a switch that was reached.
uint32_t tree_search_from(struct tree_search *s, uint32_t root, const uint32_t *ranks, uint32_t n);

// The tree that the last search has found. `switches`: [aggregator] their switches, to be freed, as
// the arrays of the tree. A switch that would have a single child has no aggregator in the tree.
struct coll_tree tree_of_search(const struct tree_search *s, uint32_t root, const uint32_t *ranks,
                                uint32_t n, uint32_t **switches);
