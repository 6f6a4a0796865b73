// SPDX-License-Identifier: MIT
// Collectives of ASTRA-sim 2's execution traces as graphs of a group's members.
#pragma once

#include "collective/algorithm/graph_collective.h"
#include "workload/trace/trace_graph.h"

// Which trace a member runs, and which member the rank is that a trace names as a peer.
struct trace_members {
    const uint32_t *file;   // [member] rank of the traces; NULL = the member's number
    const uint32_t *member; // [rank of the traces]; NULL = the same number
};

// Make the graph of as many members as the traces have ranks, which `what` names in errors. A
// computation without a duration takes 1 ns. Returns NULL with one error at `path`. free() it.
struct coll_graph *trace_collective_make(const struct trace_graph *g,
                                         const struct trace_members *members, const char *what,
                                         const char *path, struct err *err);
