// SPDX-License-Identifier: MIT
// The graph of a collective as ASTRA-sim 2 takes it: an execution trace for each rank, with sends,
// receives and computations that depend on each other.
//
// Source of the format: astra-sim 2, CustomAlgorithm.cc: the trace of position N is PREFIX.N.et;
// messages match by their ranks, their tag and their size; computations last for their duration.
#pragma once

#include "engine/base/err.h"
#include "engine/base/units.h"

struct trace_graph_node {
    uint8_t type; // TRACE_COMP, TRACE_SEND, TRACE_RECV
    uint32_t rank, peer;
    uint64_t id, tag, bytes;
    ps_t takes_ps;      // of a computation
    uint32_t record;    // of the file
    uint32_t n_after;   // nodes that must have ended before ..
    size_t first_after; // .. in the list of the graph
    uint32_t turn;      // place in the order of the rank: behind all that it waits for
    uint32_t match;     // of a message: the node of the other rank
};

struct trace_graph {
    uint32_t n_ranks;
    uint32_t
        *first; // [n_ranks + 1] of the nodes of each rank, which stand in the order of the file
    struct trace_graph_node *nodes;
    uint32_t *after; // nodes
    size_t n_nodes, n_after, cap_nodes;
};

// Read the files of a prefix, as seen from folder `dir`. Returns false with one error at `path`
// that names the file and the node. Release with trace_graph_free(), also after an error.
bool trace_graph_read(struct trace_graph *g, const char *dir, const char *prefix, const char *path,
                      struct err *err);
void trace_graph_free(struct trace_graph *g);
