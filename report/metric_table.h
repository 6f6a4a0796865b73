// SPDX-License-Identifier: MIT
// Every metric of every file of a run, in the order in which the files have them.
#pragma once

#include "report/metric.h"
#include "sim/result.h"

#define METRICS_SCHEMA "collwire.metrics/1"

// The records behind metrics.json and run.json: a result and what only its writer knows.
struct metrics_record {
    struct result result;
    const char *schema;
    const char *scenario; // resolved, as JSON text
};

struct run_record {
    struct result result;
    const char *version, *compiler, *jansson;
};

extern const struct metric_table metrics_table, run_table;

// The keys of `series`, which report/series.c writes: t_ns, then one for each series_kind.
extern const struct metric_table series_table;

// A row of EndToEnd.csv: a layer of a job. Totals stand in the first row of the job only.
struct end_to_end_row {
    struct training_layer_result layer;
    const char *run;
    ps_t total_ps, compute_ps, exposed_ps;
};

// A row of detailed.csv: phases of one kind.
struct detailed_row {
    struct training_phase_result phase;
    const char *run;
};

// A row of dimensions.csv: a step of time and a dimension.
struct dimension_row {
    const char *run;
    ps_t at_ps;
    uint32_t dim;
    double share;
};

extern const struct metric_table end_to_end_table, detailed_table, dimensions_table;

// The files and their tables, for those who print what there is.
struct metric_file {
    const char *name, *help;
    const struct metric_table *table;
};

extern const struct metric_file metric_files[];
extern const size_t n_metric_files;
