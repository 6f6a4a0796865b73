// SPDX-License-Identifier: MIT
// Weights of equal-cost next hops by the capacity of the paths behind them (WCMP: Zhou et al.,
// EuroSys 2014).
//
// The capacity from a switch to a destination is the sum over its next hops. That of a next hop is
// the capacity from there on, shared in proportion to their rates among all links that lead packets
// for the destination to that neighbour, and at most the rate of the link to it. Where the
// capacities of a switch's next hops differ, its set is replaced by one that repeats each port in
// proportion, as entries of a hash table do.
#pragma once

#include "net/topology/routes.h"

#define WEIGHTS_MAX_ENTRIES 128 // of a set: other proportions are rounded, at least 1 per port

// Weigh the next hops of all switches of a dimension. Returns 0, or -1 if there are more than
// ROUTE_MAX_SETS different sets.
int routes_weigh(struct routes *r, const struct graph *g, uint32_t dim);
