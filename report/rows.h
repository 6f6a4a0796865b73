// SPDX-License-Identifier: MIT
// Runs side by side, one row each, read from their metrics: as a table for people, as JSON and as
// CSV.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct row {
    const char *policy; // as the user wrote it
    uint64_t seed;
    const char *metrics; // text of metrics.json, NULL = the run failed without metrics
    const char *failure; // reason for the failure, NULL = unknown
};

// A column: its key in JSON and CSV, its heading in tables, and the path of a metric of
// metrics.json, averaged over lists on the path.
struct row_column {
    const char *key, *heading;
    const char *path;
};

extern const struct row_column row_columns[];
extern const size_t n_row_columns;

// All rows as a table, as JSON or as CSV; to be freed by the caller.
char *rows_table(const struct row *rows, size_t n);
char *rows_json(const struct row *rows, size_t n, const char *name);
char *rows_csv(const struct row *rows, size_t n);

// The explanations of a run, one per line, each after `prefix`; to be freed.
char *row_explanations(const struct row *row, const char *prefix);

// "completed", "incomplete" or "interrupted"; "failed" without metrics.
const char *row_status(const struct row *row);
