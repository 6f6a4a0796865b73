// SPDX-License-Identifier: MIT
// The results of runs as rows of numbers, read from their metrics: a row for the whole run, and one
// for each job where there are several. Written as JSON and CSV.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/critical_path.h"
#include "report/metric.h"

// A column: its key in JSON and CSV, its heading in tables ("" = not shown there), and the path of
// a metric of metrics.json, averaged over lists on the path.
struct row_column {
    const char *key, *heading;
    const char *path;
    const char *job_path; // in an item of jobs[] ("training." = in the job's training); NULL = none
};

#define ROW_COLUMNS 28
extern const struct row_column row_columns[ROW_COLUMNS];

// The number of a column by its key; ROW_COLUMNS = there is none.
size_t row_column_find(const char *key);
enum metric_unit row_column_unit(size_t column);

// The value of a column for a whole run, from its metrics; NAN = the run does not have it.
double row_column_value(size_t column, const json_t *metrics);

// Where the rates of the whole come from that a shrunk scenario was made of.
#define WHOLE_OF_SHRUNK                                                                            \
    "the whole one runs in closed form, in seconds: its scenario with --set network=analytical"

struct row {
    const char *scenario, *policy; // as the user wrote them; borrowed
    const char *name;              // in tables: the policy, or with varied values both; borrowed
    const json_t *vary;            // values of a comparison by path; NULL = none vary; borrowed
    uint64_t seed;
    char *job;          // name of the job; NULL = the whole run
    const char *status; // "completed", "incomplete", "interrupted", "failed"; of jobs "running"
    char *failure;      // why there are no results; NULL = unknown
    json_t *reasons;    // of the whole run: why it did not complete, which ranks wait, explanations
    size_t n_why;       // number of the first `reasons` that are no explanations
    json_t *costs;  // of the whole run: its critical path and what cost it time, for report/why.h
    char *measured; // of the whole run: the text of report/measured.h
    char *shrunk;   // `shrunk` of the scenario, or of the job; NULL = it is not
    char *after;    // of the whole run: the text of report/after_jobs.h
    char *thinned;  // of the whole run: the text of report/series.h
    bool noisy;     // hosts have noise, so single seeds may be outliers
    uint64_t n_unlisted;        // messages, if there are more than report.flows_max; else 0
    double values[ROW_COLUMNS]; // NAN = the run does not have it
    double shares[PATH_CAUSES]; // of the whole run's critical path; NAN = the run has none
    json_t *draws; // of the whole run: what report/comparison/draws.h says of its ratio, null for
                   // the baseline; NULL = nothing was drawn; owned
};

// Description of a run, which may have no metrics.
struct row_source {
    const char *scenario, *policy;
    const char *name;   // NULL = the policy
    const json_t *vary; // values of a comparison by path, as in struct row
    uint64_t seed;
    const char *metrics; // text of metrics.json, NULL = the run failed without metrics
    const char *failure; // reason for the failure, NULL = unknown
};

// The rows of all runs; zero-initialise, free with rows_free().
struct rows {
    struct row *list;
    size_t n, cap;
};

// Append the row of the whole run, and those of its jobs if there are several.
void rows_add(struct rows *rows, const struct row_source *run);
void rows_free(struct rows *rows);

// Append a row without values and sentences: of the whole run (job NULL) or of a job.
struct row *rows_add_plain(struct rows *rows, const struct row_source *run, const char *job,
                           const char *status);

// The rows as a JSON list, and as CSV; the text is to be freed.
json_t *rows_json(const struct rows *rows);
char *rows_csv(const struct rows *rows);

// The document that `collwire run --format json` prints; to be freed.
char *rows_document(const struct rows *rows, const char *name);

// Sentence `i` of the whole run, first why it did not complete; NULL after the last one.
const char *row_sentence(const struct row *row, size_t i);

// A value with its unit, "-" if it is unknown.
void row_value_text(size_t column, double value, char *text, size_t size);

// A run as a table of at most `width` columns: its values, and a line for each job where there are
// several; to be freed.
char *rows_run_table(const struct rows *rows, size_t width);
