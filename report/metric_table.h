// SPDX-License-Identifier: MIT
// Every metric of every file of a run, in the order in which the files have them.
#pragma once

#include "report/metric.h"
#include "sim/result/result.h"

#define METRICS_SCHEMA "collwire.metrics/1"

// The record behind metrics.json and run.json: a result and facts known to the writer only.
struct metrics_record {
    struct result result;
    const char *schema;
    const char *scenario; // resolved, as JSON text
    bool brief;           // without most of long lists, see report/metrics_brief.h
};

struct run_record {
    struct result result;
    const char *version, *compiler, *jansson;
};

extern const struct metric_table metrics_table, run_table;

// The keys of `series`, which report/series.c writes: t_ns, then one per series_kind.
extern const struct metric_table series_table;

// A row of EndToEnd.csv: a layer of a job. Only the first row of a job has its totals.
struct end_to_end_row {
    struct training_layer_result layer;
    const char *run;
    ps_t total_ps, compute_ps, exposed_ps;
};

// A row of phases.csv: all phases of one operation, dimension and part of a layer.
struct phase_row {
    struct training_phase_result phase;
    const char *run;
};

// A row of dimensions.csv: one time step and one dimension.
struct dimension_row {
    const char *run;
    ps_t at_ps;
    uint32_t dim;
    double share;
};

extern const struct metric_table end_to_end_table, phases_table, dimensions_table;

// The columns of detailed.csv, which report/training_csv.c writes: there is one for each k and d.
extern const struct metric_table detailed_table;

// A file and its table, for documentation and listing.
struct metric_file {
    const char *name, *help;
    const struct metric_table *table;
};

extern const struct metric_file metric_files[];
extern const size_t n_metric_files;
