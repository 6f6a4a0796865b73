// SPDX-License-Identifier: MIT
// Shortest-path next hops: for every switch and destination rank the set of output ports.
#pragma once

#include "topology/graph.h"

// Sets are shared: set[(node - n_ranks) * n_ranks + rank] indexes first[] / count[] of `hops`, local
// port numbers of the switch. Set 0 is empty: unreachable.
struct routes {
    uint32_t n_ranks, n_switches;
    uint32_t *set;
    uint32_t n_sets;
    struct route_set {
        uint32_t first, count;
    } * sets;
    uint16_t *hops;
    size_t n_hops, cap_hops, cap_sets;
};

// All shortest paths within each dimension; ranks do not forward.
void routes_build(struct routes *r, const struct graph *g);
void routes_free(struct routes *r);

static inline struct route_set routes_get(const struct routes *r, uint32_t node, uint32_t rank)
{
    return r->sets[r->set[(size_t)(node - r->n_ranks) * r->n_ranks + rank]];
}

// The ports of a path from rank `src` to `dst` in dimension `dim` (the first of each set), global
// indices into g->ports, at most `cap`. The number of hops, 0 when unreachable.
#define ROUTE_MAX_HOPS 16
uint32_t route_path(const struct routes *r, const struct graph *g, uint32_t src, uint32_t dst,
                    uint32_t dim, uint32_t *ports, uint32_t cap);
