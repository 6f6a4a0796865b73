// SPDX-License-Identifier: MIT
// Measured times of a file beside the collectives of a run that has ended.
#pragma once

#include "sim/result/result.h"

struct against_time {
    uint64_t bytes;
    double time_ns; // above 0
};

// What a file has: times of one operation by size, largest buffer of a rank. All is borrowed.
struct against_file {
    const char *path, *kind;
    const struct against_time *times;
    size_t n;
};

// Put the times beside the collectives of job `job` into the result: a row for each operation, size
// and number of ranks that the file has a time for, in the order in which they began.
void against_collect(struct result *r, uint32_t job, const struct against_file *file);
