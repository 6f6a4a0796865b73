// SPDX-License-Identifier: MIT
// Graphs of topology kinds for tests, from names and settings.
#pragma once

#include "topology/topology.h"

extern const struct link_spec graphs_links[TOPOLOGY_MAX_LINKS]; // all different

// One dimension: its kind, "key=value" settings, NULL at the end.
struct graph_dim {
    const char *kind;
    uint32_t size;
    const char *settings[5];
};

void graphs_params(const struct topology_kind *kind, const struct graph_dim *dim, void *params);

// Build and seal; graph_free() it.
void graphs_build(struct graph *g, uint32_t n, const struct graph_dim *dims);

// Ports lie in order of (node, local), and every link has its two ends.
void graphs_check_ports(const struct graph *g);
