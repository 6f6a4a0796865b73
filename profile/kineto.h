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
// Source: PyTorch's Kineto, libkineto/src/output_json.cpp.
#pragma once

#include "profile/recording.h"

// Read a file as one rank; errors name the file and the byte.
void kineto_read(struct recording *r, const char *path);
