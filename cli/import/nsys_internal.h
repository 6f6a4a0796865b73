// SPDX-License-Identifier: MIT
// What the exports hold, before it is known which GPU is which rank.
#pragma once

#include "cli/import/recording.h"
#include "engine/base/table.h"
#include "engine/database/database.h"

// What a range of the CPU says: a call of NCCL, or the begin or end of a group of calls.
enum range_kind { RANGE_CALL, RANGE_GROUP_START, RANGE_GROUP_END };

struct nvtx_range { // of a function of NCCL
    enum range_kind kind;
    int64_t start_ns, pid, tid;
    uint64_t row; // of the table: the order of ranges that start at the same time
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
    struct table communicator_of; // its id
    struct table member_of;       // communicator and GPU
};

// The ranges of a process, and for each class of kernels (nsys_match.c) the first of them that may
// still be free.
#define KERNEL_CLASSES (2 + 3 * (COLL_OPS + 1))
struct nsys_process {
    int64_t pid;
    size_t end; // of its ranges
    size_t from[KERNEL_CLASSES];
    unsigned n_gpus;
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
    struct database database;
    size_t first_gpu;    // of this file, in `nsys`
    struct table gpu_of; // process and device
    struct nsys_process *processes;
    size_t n_processes, cap_processes;
    struct table process_of; // pid
    const char **strings;    // those of StringIds that are used, in the recording's `names`
    size_t n_strings, cap_strings;
    struct table string_of; // id
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

/* ---- nsys_table.c ---- */

// The rows of one table. Each value is read by one of the functions below, which check its type: a
// wrong one is an error with its place, and makes the row bad.
struct nsys_rows {
    struct nsys_file *file;
    sqlite3_stmt *statement; // NULL = there are no rows
    const char *table;
    const char *const *columns; // by their names in the table
    const char *const *order;   // NULL = as they are in the file
    uint64_t row;               // in that order, from 1
    bool bad;
};

// Check that the tables that are read hold rows, in place of computing them. Returns false with
// errors.
bool nsys_tables_check(struct nsys_file *f);

// Read columns (a NULL-terminated list) of a table, in the order of those in `order`, a
// NULL-terminated list too, or of the file. An error names the file; that an `optional` table or
// one of its columns does not exist is none: it has no rows.
struct nsys_rows nsys_rows_open(struct nsys_file *f, const char *table, const char *const *columns,
                                const char *const *order, bool optional);
// The next row. False at the end, or after an error: the rows are closed then.
bool nsys_rows_next(struct nsys_rows *rows);

int64_t nsys_integer(struct nsys_rows *rows, int column);  // NULL in the table is 0
int64_t nsys_required(struct nsys_rows *rows, int column); // NULL in the table is an error
// NULL where the table has NULL; valid until the next row.
const char *nsys_text(struct nsys_rows *rows, int column);
const uint8_t *nsys_bytes(struct nsys_rows *rows, int column, int *n);

/* ---- the others ---- */

// The process of a globalTid or globalPid ("serialized process and thread identifiers" of the
// manual).
static inline int64_t nsys_pid(int64_t global) { return global / 0x1000000 % 0x1000000; }

static inline bool nsys_is_time(int64_t ns) { return ns > -TIME_MOST_NS && ns < TIME_MOST_NS; }

// Add an error of the file, unless there are many already.
__attribute__((format(printf, 2, 3))) void nsys_error(struct nsys_file *f, const char *format, ...);

// The text with this id; NULL if it is not kept (only the names of NCCL and of waits are).
const char *nsys_string(struct nsys_file *f, int64_t id);
struct nsys_process *nsys_process_find(struct nsys_file *f, int64_t pid);

// Read the ranges of NCCL's functions; they are sorted by process, then by start.
void nsys_ranges_read(struct nsys_file *f);

uint32_t nsys_communicator_find(struct nsys *n, uint64_t id);
struct nsys_member *nsys_member_find(struct nsys *n, uint32_t communicator, uint32_t gpu);
