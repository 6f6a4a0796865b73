// SPDX-License-Identifier: MIT
// Port patterns of a scenario, and the ports of the graph that they match.
#pragma once

#include "net/topology/graph.h"

// Match a pattern: "rank3", "rank3:dim1", "leaf0", "dim0.sw5", "leaf0->spine2", with '*' matching
// any characters. The name of a node matches all its output ports. Calls `each` for every matching
// port in ascending order; returns the number of ports.
size_t port_patterns_match(const struct graph *g, const char *pattern,
                           void (*each)(void *ctx, uint32_t port), void *ctx);

// Add an error at `path` for a pattern that matches no port: it says how the link is written that
// is meant, where the links of a node lead if there is no such link, or else what the nodes are
// called. Returns -1.
int port_patterns_unknown(const struct graph *g, const char *pattern, const char *path,
                          struct err *err);

// Cut the next pattern off a list with commas, without blanks around it; NULL at the end.
char *port_patterns_next(char **rest);
