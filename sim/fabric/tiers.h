// SPDX-License-Identifier: MIT
// Tiers of a graph, and the rates of a switch towards the tiers above and below it.
#pragma once

#include "net/topology/graph.h"

// Returns the tier of every node, its distance in links from the nearest rank; to be freed.
uint32_t *tiers_of(const struct graph *g);

struct subscription {
    uint64_t up_bps, down_bps; // to the tier above, and to the one below
};
struct subscription tier_subscription(const struct graph *g, const uint32_t *tier, uint32_t node);

// Returns up / down, at most 1.
double subscription_share(const struct subscription *s);
