// SPDX-License-Identifier: MIT
// Port patterns of a scenario, and the ports of the graph that they match.
#pragma once

#include "topology/graph.h"

// Match a pattern: "rank3", "rank3:dim1", "leaf0", "dim0.sw5", "leaf0->spine2", with '*' matching
// any characters. The name of a node matches all its output ports. Calls `each` for every matching
// port in ascending order; returns the number of ports.
size_t port_patterns_match(const struct graph *g, const char *pattern,
                           void (*each)(void *ctx, uint32_t port), void *ctx);

// Cut the next pattern off a list with commas, without blanks around it; NULL at the end.
char *port_patterns_next(char **rest);
