// SPDX-License-Identifier: MIT
// Writes a node program as execution traces of schema 0.0.4, one file a rank, and its groups.
//
// Values without a field in the schema are in attributes whose names begin with "collwire_", which
// other readers ignore: exact times, streams, priorities, roots, names of uses and layers, vectors
// of different sizes. Nodes without a time, and fixed delays, are operations of the CPU. Groups
// have the ids 1, 2, .. in the order of the program, as ASTRA-sim 2 expects them.
#pragma once

#include "engine/base/err.h"
#include "workload/nodes/node.h"

// Write PREFIX.N.et.part for each rank N and PREFIX.groups.json.part. Returns 0, or -1 with an
// error.
int trace_write(const struct node_program *p, const char *prefix, struct err *err);

// The names of these files, to be freed: `i` is a rank, or n_ranks for the groups.
char *trace_file(const struct node_program *p, const char *prefix, uint32_t i);
