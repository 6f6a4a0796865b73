// SPDX-License-Identifier: MIT
// Tables of nccl-tests, rccl-tests, OSU's micro-benchmarks and perftest, as people copy them from a
// terminal, the JSON of nccl-tests and rccl-tests, and the collectives of recordings
// (measured_recording.h).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "sim/collect/against.h"

struct measured_row {
    uint64_t bytes;
    // of a collective out of place; of a bandwidth that of a message at it; of a recording the mean
    double time_us;
    const char *op; // of a recording; NULL = that of the table
    uint32_t ranks; // of a recording; 0 = the file does not say
    uint64_t count; // of a recording
};

struct measured_rank { // of a recording
    uint32_t rank;
    double time_us, compute_us; // from its first event to its last; on its stream of computation
};

// What tells the operation of a table of nccl-tests, which does not name it.
struct measured_signs {
    double factor; // busbw by algbw of the row with most digits; 0 = not known
    double digits; // of that row: its busbw
    enum { REDUCES_UNKNOWN, REDUCES_NOT, REDUCES } reduces;
    bool rooted, in_place; // it has a root; the test has both variants
};

struct measured_table {
    struct measured_row *rows;
    size_t n;
    const char *kind; // of the file: "nccl-tests", or that of a recording
    bool recording;
    uint32_t world;                 // ranks of a recording; 0 = not known
    uint64_t steps;                 // iterations of a recording; 0 = not known
    struct measured_rank *of_ranks; // [n_ranks]
    size_t n_ranks;
    enum against_what what;
    uint32_t ranks; // that a table names; 0 = it does not
    const char *op; // "all_reduce", "write", as the table names it; NULL = it does not
    struct measured_signs signs;
    // Sizes count what one rank contributes, not its whole buffer: measured_table_fit() multiplies
    // them by the number of ranks.
    bool per_rank;
};

// Read the table of a file: the columns by its heading, whatever a launcher has put before each
// line. Returns 0, or -1 with an error: no table, two of them, or a row that the heading does not
// explain, with its line. measured_table_free() the result.
int measured_table_read(struct measured_table *t, const char *path, struct err *err);

// Make the sizes those of the largest buffer of a rank, as here, for `ranks` ranks. Returns -1 with
// an error where the table is of messages or of another operation than `op`, by its name; where it
// is of another number of ranks, or its busbw is that of another operation, a warning says so. Of a
// recording the rows of the operation and number of ranks remain.
int measured_table_fit(struct measured_table *t, const char *path, const char *op, uint32_t ranks,
                       struct err *err);

// Warn where busbw by algbw of a table is that of another operation or number of ranks.
void measured_factor_check(const struct measured_signs *signs, const char *path, const char *op,
                           uint32_t ranks, struct err *err);

// The operation of a table of nccl-tests of so many ranks; NULL = its columns fit none.
const char *measured_op_of(const struct measured_signs *signs, uint32_t ranks);

// Returns -1 with an error that says which sizes there are where the table does not have `bytes`.
int measured_table_need(const struct measured_table *t, const char *path, uint64_t bytes,
                        struct err *err);
void measured_table_free(struct measured_table *t);

// The row of a size; NULL = there is none.
const struct measured_row *measured_table_at(const struct measured_table *t, uint64_t bytes);
