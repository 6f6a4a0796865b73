// SPDX-License-Identifier: MIT
// Measured times of a file beside the collectives or messages, and the ranks of a run that has
// ended.
#pragma once

#include "sim/result/result.h"

struct against_time {
    uint64_t bytes; // largest buffer of a rank, or of a message
    double time_ns; // above 0; of a goodput the size by it
    const char *op; // NULL = that of the job
    uint32_t ranks; // 0 = those of the job
};

// What a file has: times of collectives or messages, and of ranks. All is borrowed.
struct against_file {
    const char *path, *kind;
    const char *op; // of messages: "write"
    enum against_what what;
    bool from_last; // times are from the start of the last member, not of the first one
    const struct against_time *times;
    size_t n;
    const struct against_rank *ranks; // [n_ranks] what was measured
    size_t n_ranks;
    uint64_t steps; // iterations in the file; 0 = not known
};

// Put the times beside the collectives or messages of job `job` into the result: a row for each
// operation, size and number of ranks that the file has a time for, of collectives in the order in
// which they began, of messages by size; and beside its ranks, scaled to its iterations where the
// file and the job have other numbers of them.
void against_collect(struct result *r, uint32_t job, const struct against_file *file);
