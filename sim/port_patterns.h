// SPDX-License-Identifier: MIT
// Names of places in a scenario -> ports of the graph.
#pragma once

#include "topology/graph.h"

// The output ports that a place names: "rank3", "rank3:dim1", "leaf0", "dim0.sw5", "leaf0->spine2",
// '*' matching any run of characters. A node names all ports that leave it. Calls `each` for every
// port in ascending order; returns how many.
size_t port_patterns_match(const struct graph *g, const char *pattern,
                           void (*each)(void *ctx, uint32_t port), void *ctx);
