// SPDX-License-Identifier: MIT
// Logs of NCCL's Inspector (and RCCL's), an object a line for each collective or message of a rank.
//
// {"header": {"id": "0x7f8c496ae9f661", "comm_name": .., "rank": 2, "n_ranks": 8, "nnodes": 1},
//  "metadata": {"dump_timestamp_us": .., "hostname": .., "pid": ..},
//  "coll_perf": {"coll": "AllReduce", "coll_sn": 1407, "coll_msg_size_bytes": 17179869184,
//                "coll_exec_time_us": 61974, "coll_timing_source": "kernel_gpu", ..}}
//
// or "p2p_perf" with p2p, p2p_sn, p2p_peer, p2p_msg_size_bytes and p2p_exec_time_us. Sizes are as
// in NCCL's interface: of all-gather, reduce-scatter and all-to-all those of one rank's part. With
// NCCL_INSPECTOR_DUMP_VERBOSE=1 `event_trace_ts` has the starts and ends of the kernels; without it
// collectives follow each other. Times are microseconds. A file may have several communicators;
// the process (hostname, pid) is the GPU, and the communicator with most ranks numbers them.
//
// Source: NVIDIA/nccl, plugins/profiler/inspector (README.md, inspector_json.cc).
#pragma once

#include "cli/import/recording.h"

void inspector_read(struct recording *r, const char *path);

// All files have been read: make the ranks and groups.
void inspector_end(struct recording *r);
