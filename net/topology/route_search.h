// SPDX-License-Identifier: MIT
// Shortest paths to up to 64 destinations at once, as bits of a word: they share nearly all of the
// nodes that a search visits, so a network of 65,536 ranks takes a 64th of the visits (MS-BFS: Then
// et al., VLDB 2014; with link costs by buckets of distances, Dial 1969).
#pragma once

#include <stdbool.h>

#include "net/topology/graph.h"

enum { ROUTE_SEARCH_WIDTH = 64 };

// Local ports of a node that lead to the same destinations, and these as bits.
struct route_hop {
    uint16_t port;
    uint64_t destinations;
};

// A node that is `distance` away from the destinations in `settled`, with its next hops, in
// ascending order of ports. At distance 0 it is the destination itself, without hops.
struct route_settled {
    uint32_t node, distance;
    uint64_t settled;
    const struct route_hop *hops;
    uint32_t n_hops;
};

struct route_search;

// Nodes for which `forwards` is false do not forward packets in the dimension. The graph must
// outlive the search, and costs of links are at least 1.
struct route_search *route_search_new(const struct graph *g,
                                      bool (*forwards)(const struct graph *g, uint32_t node,
                                                       uint32_t dim));
void route_search_free(struct route_search *s);

// Find the shortest paths over links of dimension `dim` to nodes[0..n), n <= ROUTE_SEARCH_WIDTH. In
// sets of destinations nodes[i] is bit i. Calls `visit` for each node and each distance that it has
// to some of them, in ascending order of distances.
void route_search_to(struct route_search *s, const uint32_t *nodes, uint32_t n, uint32_t dim,
                     void (*visit)(void *ctx, const struct route_settled *at), void *ctx);
