// SPDX-License-Identifier: MIT
// Files with what was measured, of any of the kinds that people have, as observed values.
#pragma once

#include "cli/diagnose/cause_kind.h"
#include "cli/measured/measured_table.h"
#include "cli/options/options.h"

// A time of the job with another size.
struct size_time {
    uint64_t bytes; // largest per-rank buffer
    double time_ns, relative;
};

struct measured_files {
    struct observed values;  // of CSV
    struct size_time *sizes; // of tables and recordings, ascending
    size_t n_sizes;
    const char *op;              // of the sizes: "all_reduce"; NULL = no file says it
    uint32_t ranks;              // of a recording; 0 = no file says it
    struct measured_signs signs; // of a table, of its operation
    bool large;                  // all sizes are too large for packets
    size_t n_later;              // last values of the list that few causes are tried with
    bool per_rank;               // sizes count what one rank contributes, as in OSU's tables
    char *environment; // "NCCL_ALGO=Ring NCCL_PROTO=LL", as a log of NCCL has it; NULL = none
    char *stall;       // of a size that took longer than a larger one; NULL = there is none
    char *notes;       // lines, indented: what was left out
};

// Read the files. Returns 0, or -1 with errors. measured_files_free() the result in both cases.
int measured_files_read(struct measured_files *m, const char *const *paths, size_t n,
                        struct err *err);
void measured_files_free(struct measured_files *m);

// The job that the sizes are of, for a network whose scenario has none: a collective of all ranks.
// NULL = there are no sizes. The operation is that of the files, or of the columns of a table of
// `ranks` ranks (0 = not known yet), and else an all-reduce.
json_t *measured_files_job(const struct measured_files *m, uint32_t ranks, bool on_machine);

// How libraries run an operation where a scenario does not say it: all-to-all directly, as NCCL and
// MPI do, other ones by rings.
const char *measured_algorithm(const char *op);

// Move what was measured to `list`: of sizes a few that can be simulated in short time on so many
// ranks, or where all are larger, the smallest ones (m->large). *bytes is the size that the job is
// to have; 0 = its own.
int measured_files_take(struct measured_files *m, struct observed *list, const char *op,
                        uint32_t ranks, bool small_too, uint64_t *bytes, struct err *err);

/* ---- files of one host or a pair (measured_ends.c) ---- */

// The file of FILE@PLACE, to be freed; `place` is "" where the argument is the name of a file.
char *measured_file_of(const char *path, const char **place);
// Add a value in the unit of the results, which is shown in `unit`: that of the results by `scale`.
void measured_value_add(struct measured_files *m, const char *quantity, const char *place,
                        double value, double spread, const char *unit, double scale);
// Take what a capture of one host says: packets, marks, CNPs, retransmissions, goodput. Returns 0,
// or -1 with an error.
int measured_capture_read(struct measured_files *m, const char *path, const char *place,
                          struct err *err);
// Take the latency or the bandwidth of a table of messages; without a place it has no job yet.
int measured_messages_take(struct measured_files *m, const struct measured_table *t,
                           const char *path, const char *place, struct err *err);
// Give tests without a place one: the first rank and that in the middle. Returns it, to be freed;
// NULL = all have one.
char *measured_pairs_fill(struct observed *values, uint32_t ranks);
