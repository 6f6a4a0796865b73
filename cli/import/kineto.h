// SPDX-License-Identifier: MIT
// Traces of PyTorch's profiler (Kineto): Chrome's trace events in JSON, one file a rank.
//
// Used are: `distributedInfo` (rank, world_size, pg_config), `baseTimeNanoseconds`,
// `deviceProperties`, and of `traceEvents` those with these categories: kernel, gpu_memcpy,
// gpu_memset (what ran on the GPU); cuda_runtime, cuda_driver (when it was launched, and when the
// CPU waited); cuda_sync (which stream waited for which); user_annotation ProfilerStep#N
// (iterations). Kernels of NCCL and RCCL describe the collective in `args`, or have the External
// id of a record_param_comms that does. Times are microseconds.
//
// Where neither describes it, the graph of PyTorch's ExecutionTraceObserver does, if the folder has
// one of the same process: by the "Record function id" of record_param_comms.
//
// Before PyTorch 1.12 the categories are Kernel, Memcpy, Memset, Runtime and Operator.
//
// Sources: PyTorch's Kineto, libkineto/src/output_json.cpp; ExecutionTraceObserver,
// torch/csrc/profiler/standalone/execution_trace_observer.cpp.
#pragma once

#include "cli/import/recording.h"

// Read a graph of ExecutionTraceObserver. Returns false, having read nothing, for other files; true
// also after an error, which names the file and the byte.
bool kineto_graph_read(struct recording *r, const char *path);

void kineto_end(struct recording *r);

// Read a file as one rank; errors name the file and the byte.
void kineto_read(struct recording *r, const char *path);
