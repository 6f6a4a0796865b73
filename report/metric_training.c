// SPDX-License-Identifier: MIT
// The metrics of training jobs: `training` of metrics.json and the columns of their CSV files.
#include <math.h>

#include "report/metric_parts.h"
#include "report/metric_table.h"

// ---- metrics.json ----

static ps_t exposed(const void *record)
{
    const struct training_result *t = record;
    return t->total_ps < 0 ? -1 : t->total_ps - t->compute_ps;
}

static ps_t exposed_iteration(const void *record)
{
    const struct training_result *t = record;
    return t->total_ps < 0 ? -1 : exposed(t) / (ps_t)t->n_passes;
}

// The last dimension, all ranks at once, is left out if nothing ran there.
static size_t dims_used(const void *record)
{
    const struct training_result *t = record;
    return t->use.n_dims - !t->use.spans_all;
}

static const struct metric part_rows[] = {
    {"compute_ns", METRIC_NS, "computing, mean over ranks", TIME(training_part_result, compute_ps)},
    {"exposed_ns", METRIC_NS, "waiting for its collectives, mean over ranks",
     TIME(training_part_result, exposed_ps)},
    {"comm_ns", METRIC_NS,
     "sum over its collectives from their first start to their last end, with update_delay",
     TIME(training_part_result, comm_ps)},
    {"collectives", METRIC_COUNT, "collectives that ended",
     INTEGER(training_part_result, collectives)},
    {"critical_ns", METRIC_NS, "its communication on the job's critical path (`slowest`)",
     TIME(training_part_result, critical_ps)},
    {"queueing_ns", METRIC_NS, "mean over ranks and chunks: ready, but the dimension was busy",
     TIME(training_part_result, queueing_ps)},
    {"network_ns", METRIC_NS, "mean over messages: from posting to the last byte",
     TIME(training_part_result, network_ps)},
};
static METRIC_TABLE(part_table, part_rows);

static const struct metric layer_rows[] = {
    {"name", METRIC_WORDS, "of the layer", TEXT(training_layer_result, name)},
    {"fwd", METRIC_WORDS, "forward pass", OBJECT(training_layer_result, parts[0], part_table)},
    {"ig", METRIC_WORDS, "input gradient", OBJECT(training_layer_result, parts[1], part_table)},
    {"wg", METRIC_WORDS, "weight gradient", OBJECT(training_layer_result, parts[2], part_table)},
};
static METRIC_TABLE(layer_table, layer_rows);

static const struct metric spread_rows[] = {
    {"p50", METRIC_NS, "median", TIME(training_spread, p50)},
    {"p99", METRIC_NS, "99th percentile", TIME(training_spread, p99)},
    {"max", METRIC_NS, "largest", TIME(training_spread, max)},
};
static METRIC_TABLE(spread_table, spread_rows);

static double exposed_share(const void *record)
{
    const struct training_result *t = record;
    return t->total_ps <= 0 ? (double)NAN
                            : (double)(t->total_ps - t->compute_ps) / (double)t->total_ps;
}

static double gpu_hours(const void *record)
{
    const struct training_result *t = record;
    return metric_gpu_hours(t->total_ps, t->ranks);
}

static const struct metric pass_rows[] = {
    {"end_ns", METRIC_NS, "end of its last rank, after the job's start",
     TIME(training_pass_result, end_ps)},
    {"duration_ns", METRIC_NS, "since the end of the iteration before it",
     TIME(training_pass_result, duration_ps)},
};
static METRIC_TABLE(pass_table, pass_rows);

static const struct metric training_rows[] = {
    {"job", METRIC_WORDS, "index in `workload`", INTEGER(training_result, job)},
    {"name", METRIC_WORDS, "of the job", TEXT(training_result, name)},
    {"parallelism", METRIC_WORDS, "of the job", TEXT(training_result, parallelism)},
    {"ranks", METRIC_COUNT, "ranks of the job", INTEGER(training_result, ranks)},
    {"total_ns", METRIC_NS, "from the job's start to the end of its last rank",
     TIME(training_result, total_ps)},
    {"compute_ns", METRIC_NS, "computing, mean over ranks", TIME(training_result, compute_ps)},
    {"exposed_comm_ns", METRIC_NS,
     "total_ns - compute_ns: communication, and reading of samples, that computing did not hide",
     .type = METRIC_TIME, .time = exposed},
    {"input_ns", METRIC_NS, "waiting for samples (`input`), mean over ranks",
     TIME(training_result, input_ps)},
    {"exposed_share", METRIC_RATIO, "exposed_comm_ns by total_ns", .type = METRIC_REAL,
     .real = exposed_share},
    {"gpu_hours", METRIC_HOURS, "ranks times total_ns", .type = METRIC_REAL, .real = gpu_hours},
    {"rank_end_ns", METRIC_NS, "ends of ranks, after the job's start",
     OBJECT(training_result, rank_end, spread_table)},
    {"exposed_iteration_ns", METRIC_NS, "exposed_comm_ns by the number of iterations",
     .type = METRIC_TIME, .time = exposed_iteration},
    {"rank_exposed_ns", METRIC_NS, "ends of ranks less what they computed",
     OBJECT(training_result, exposed, spread_table)},
    {"dimension_use", METRIC_RATIO,
     "share of the job's time in which a dimension's queues held something, mean over groups",
     .type = METRIC_REALS, .offset = offsetof(struct training_result, use.mean),
     .bytes = sizeof(double), .count = dims_used},
    {"iterations", METRIC_WORDS, "passes over the loop",
     LIST(training_result, passes, n_passes, pass_table)},
    {"layers", METRIC_WORDS, "in the order of the workload",
     LIST(training_result, layers, n_layers, layer_table)},
};
METRIC_TABLE(training_table, training_rows);

// ---- EndToEnd.csv: forward, weight gradient, input gradient is the order of ASTRA-sim's columns
// ----

#define PART_COLUMNS(title, field, help)                                                           \
    {"fwd " title, METRIC_US, "forward: " help, TIME(end_to_end_row, layer.parts[0].field)},       \
        {"wg " title, METRIC_US, "weight gradient: " help,                                         \
         TIME(end_to_end_row, layer.parts[2].field)},                                              \
    {                                                                                              \
        "ig " title, METRIC_US, "input gradient: " help,                                           \
            TIME(end_to_end_row, layer.parts[1].field)                                             \
    }

static const struct metric end_to_end_rows[] = {
    {"layer", METRIC_WORDS, "name of the layer", TEXT(end_to_end_row, layer.name)},
    {"run", METRIC_WORDS, "name of the job", TEXT(end_to_end_row, run)},
    PART_COLUMNS("compute", compute_ps, "computing, mean over ranks"),
    PART_COLUMNS("exposed comm", exposed_ps, "waiting for its collectives, mean over ranks"),
    PART_COLUMNS("total comm", comm_ps, "sum over its collectives, with update_delay"),
    {"workload finished at", METRIC_US, "total_ns of the job", TIME(end_to_end_row, total_ps)},
    {"total compute", METRIC_US, "compute_ns of the job, in its first row",
     TIME(end_to_end_row, compute_ps)},
    {"total exposed comm", METRIC_US, "exposed_comm_ns of the job, in its first row",
     TIME(end_to_end_row, exposed_ps)},
};
METRIC_TABLE(end_to_end_table, end_to_end_rows);

// ---- detailed.csv ----

static const struct metric detailed_rows[] = {
    {"layer", METRIC_WORDS, "name of the layer", .type = METRIC_CUSTOM},
    {"run", METRIC_WORDS, "name of the job", .type = METRIC_CUSTOM},
    {"queuing delay phase k", METRIC_US,
     "k = 0: 0, as collectives join the queues at once; k > 0: the k-th phase of a chunk was "
     "ready, but the dimension was busy; mean over ranks, chunks and the layer's collectives",
     .type = METRIC_CUSTOM},
    {"network delay phase k", METRIC_US,
     "a message of the k-th phase, from posting to the last byte; mean over chunks and the "
     "layer's collectives",
     .type = METRIC_CUSTOM},
    {"avg chunk delay dimension d", METRIC_US,
     "a phase in the d-th dimension, from its start to its end; mean over the job, in its first "
     "row",
     .type = METRIC_CUSTOM},
};
METRIC_TABLE(detailed_table, detailed_rows);

// ---- phases.csv, dimensions.csv ----

static const struct metric phase_kind_rows[] = {
    {"layer", METRIC_WORDS, "name of the layer", TEXT(phase_row, phase.layer)},
    {"run", METRIC_WORDS, "name of the job", TEXT(phase_row, run)},
    {"part", METRIC_WORDS, "fwd, ig or wg", TEXT(phase_row, phase.part)},
    {"dimension", METRIC_WORDS, "index of the dimension", INTEGER(phase_row, phase.dim)},
    {"op", METRIC_WORDS, "operation along the dimension", TEXT(phase_row, phase.op)},
    {"algorithm", METRIC_WORDS, "its algorithm", TEXT(phase_row, phase.algorithm)},
    {"bytes", METRIC_BYTES, "sent by all ranks", INTEGER(phase_row, phase.bytes)},
    {"messages", METRIC_COUNT, "sent by all ranks", INTEGER(phase_row, phase.messages)},
    {"queueing delay", METRIC_US, "mean over ranks and chunks", TIME(phase_row, phase.queueing_ps)},
    {"network delay", METRIC_US, "mean over messages", TIME(phase_row, phase.network_ps)},
};
METRIC_TABLE(phases_table, phase_kind_rows);

static const struct metric dimension_rows[] = {
    {"run", METRIC_WORDS, "name of the job", TEXT(dimension_row, run)},
    {"t_ns", METRIC_NS, "start of the step of time", TIME(dimension_row, at_ps)},
    {"dimension", METRIC_WORDS, "index of the dimension", INTEGER(dimension_row, dim)},
    {"share", METRIC_RATIO, "of the step in which its queues held something, mean over groups",
     REAL(dimension_row, share)},
};
METRIC_TABLE(dimensions_table, dimension_rows);
