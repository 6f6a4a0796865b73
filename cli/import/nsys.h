// SPDX-License-Identifier: MIT
// SQLite exports of NVIDIA Nsight Systems (nsys export --type sqlite --include-blobs=true), with
// any number of processes and GPUs in a file. A GPU of a process is a rank.
//
// Used are CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY and _MEMSET (what ran), CUPTI_ACTIVITY_KIND_RUNTIME
// (when it was launched, and when the CPU waited), StringIds, and in NVTX_EVENTS the ranges of
// NCCL's functions, whose payload (`binaryData`) has the communicator, the message's size and the
// peer: a header of 32 bytes with the schema's id at byte 8, then the fields as
// NVTX_PAYLOAD_SCHEMA_ENTRIES has them. Times are nanoseconds. A kernel of NCCL belongs to the
// first range before its launch that has none yet; all ranges of one ncclGroupStart .. ncclGroupEnd
// belong to one kernel. Ranks are numbered by ncclCommInitRank where it was recorded, else by
// "rank3" in the file's name, else by file, process and device.
//
// Sources: Nsight Systems' SQLite schema reference; NVIDIA/nccl,
// src/include/nvtx_payload_schemas.h.
#pragma once

#include "cli/import/recording.h"

void nsys_read(struct recording *r, const char *path);

// All files have been read: make the ranks and groups.
void nsys_end(struct recording *r);
