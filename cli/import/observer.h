// SPDX-License-Identifier: MIT
// Graphs of PyTorch's ExecutionTraceObserver as the program of a rank, one file a rank.
//
// {"schema": "1.1.0-chakra.0.0.4", "pid": .., "nodes": [{"id": .., "name": "record_param_comms",
// "inputs": {"values": [[TENSOR..], 33, ["0", "default_pg"], 1, "allreduce", ..]}, "attrs":
// [{"name": "collective_name", "value": ..}, ..]}, ..]}
//
// Used are the nodes record_param_comms, in the order of their ids: collectives and messages, and
// "wait", which names by its number the collective that the program waits for from there on; and
// "## process_group:init ##", which lists the process groups. The integers behind the number are
// the rank in its group (of rooted operations the root, of messages the peer). Schema 1.0 has no
// attributes: then operation, sizes and parts are those of `inputs`, and the one process group,
// which has no name, is taken for all ranks of the job.
//
// The graph has no times: computations are left out. A collective follows the one before it in its
// group, and waits for those that the program has waited for.
//
// Source: PyTorch, torch/csrc/profiler/standalone/execution_trace_observer.cpp;
// torch/csrc/distributed/c10d/ParamCommsUtils.hpp.
#pragma once

#include "cli/import/recording.h"

// Read a file as one rank; errors name the file and the byte.
void observer_read(struct recording *r, const char *path);
