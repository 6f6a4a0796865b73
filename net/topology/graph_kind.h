// SPDX-License-Identifier: MIT
// A fabric given link by link, as plain data that config/ reads from a file.
#pragma once

#include "net/topology/topology.h"

struct graph_end {
    uint32_t index; // of the rank or of the switch
    bool is_switch;
};

struct graph_link {
    struct graph_end ends[2];
    struct link_spec link;
};

struct graph_params {
    const char *file; // file name, for messages
    bool transit;
    /* read from the file */
    uint64_t hosts; // ranks that it has; 0 = a file that names ranks without their number
    uint64_t switches;
    size_t n_links;
    struct graph_link *links; // owned by the reader of the file
};

extern const struct topology_kind topology_graph;
