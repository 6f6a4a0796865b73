// SPDX-License-Identifier: MIT
// Graphs of topology kinds for tests, from names and settings.
#pragma once

#include "net/topology/topology.h"

extern const struct link_spec graphs_links[TOPOLOGY_MAX_LINKS]; // all links are different

// One dimension: its kind, and "key=value" settings that end with NULL.
struct graph_dim {
    const char *kind;
    uint32_t size;
    const char *settings[5];
};

void graphs_params(const struct topology_kind *kind, const struct graph_dim *dim, void *params);

// Build and seal a graph. The caller calls graph_free().
void graphs_build(struct graph *g, uint32_t n, const struct graph_dim *dims);

// Check that ports are in order of (node, local) and that every link has two ends.
void graphs_check_ports(const struct graph *g);
