// SPDX-License-Identifier: MIT
// What the exports hold, before it is known which GPU is which rank.
#pragma once

#include <sqlite3.h>

#include "profile/recording.h"

struct nvtx_range { // of a function of NCCL
    int64_t start_ns, pid, tid;
    uint64_t communicator;
    struct call call; // bytes: as in the payload
    uint64_t group;   // of ncclGroupStart; 0 = none
    bool taken;
};

struct nsys_gpu { // a device of a process
    char *path;
    int64_t pid, device;
    struct rank_recording rank; // calls' `group`: index into communicators
    struct undescribed {        // kernels of NCCL
        uint32_t event;
        const char *name;
        int64_t launch_ns;
    } * kernels;
    size_t n_kernels, cap_kernels;
    uint32_t number; // rank of the job
};

struct nsys_member { // a GPU in a communicator
    uint32_t gpu;
    int64_t rank; // -1 = not recorded
};

struct nsys_communicator {
    uint64_t id;
    int64_t n_ranks; // -1 = not recorded
    struct nsys_member *members;
    size_t n_members, cap_members;
};

struct nsys_launch {
    int64_t pid, start_ns;
    int64_t correlation;
};

struct nsys {
    struct nsys_gpu *gpus;
    size_t n_gpus, cap_gpus;
    struct nsys_communicator *communicators;
    size_t n_communicators, cap_communicators;
};

struct nsys_init { // of a communicator in a process
    int64_t pid, device;
    uint64_t communicator;
    int64_t n_ranks, rank;
};

// The file that is read.
struct nsys_file {
    struct recording *recording;
    struct nsys *nsys;
    const char *path;
    sqlite3 *db;
    size_t first_gpu; // of this file, in `nsys`
    struct nvtx_range *ranges;
    size_t n_ranges, cap_ranges;
    struct nsys_init *inits;
    size_t n_inits, cap_inits;
    struct nsys_launch *launches;
    size_t n_launches, cap_launches;
    struct host_wait_of {
        int64_t pid;
        struct host_wait wait;
    } * waits;
    size_t n_waits, cap_waits;
};

// Prepare a statement, to be released by sqlite3_finalize(). NULL with an error that names the
// file; with `optional` a table or column that does not exist is no error.
sqlite3_stmt *nsys_query(struct nsys_file *f, bool optional, const char *sql);

// The next row; false at the end, or after an error, which names the file.
bool nsys_row_next(struct nsys_file *f, sqlite3_stmt *statement);

// The text of a column, "" where it has none.
static inline const char *nsys_text(sqlite3_stmt *row, int column)
{
    const unsigned char *text = sqlite3_column_text(row, column);
    return text != NULL ? (const char *)text : "";
}

// Read the ranges of NCCL's functions, in the order of their starts.
void nsys_ranges_read(struct nsys_file *f);

// Give the kernels of NCCL of a GPU their calls.
void nsys_kernels_match(struct nsys_file *f, struct nsys_gpu *gpu);

uint32_t nsys_communicator_find(struct nsys *n, uint64_t id);
struct nsys_member *nsys_member_find(struct nsys *n, uint32_t communicator, uint32_t gpu);
