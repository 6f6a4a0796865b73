// SPDX-License-Identifier: MIT
// Collectives that were measured in a real run, beside their simulation: sums, sizes, and as CSV.
#include <math.h>
#include <stdio.h>

#include "report/csv.h"
#include "report/metric_parts.h"
#include "report/metrics.h"
#include "sim/result/result.h"

static double ratio_of_sums(const void *record)
{
    const struct measured_collectives *m = record;
    return m->simulated_ns / m->measured_ns;
}

static const struct metric size_rows[] = {
    {"op", METRIC_WORDS, "operation", TEXT(measured_size, op)},
    {"bytes", METRIC_BYTES, "largest buffer of a rank", INTEGER(measured_size, bytes)},
    {"ranks", METRIC_COUNT, "ranks that take part", INTEGER(measured_size, ranks)},
    {"count", METRIC_COUNT, "such collectives", INTEGER(measured_size, count)},
    {"measured_ns", METRIC_NS, "in the real run",
     OBJECT(measured_size, measured_ns, time_stats_table)},
    {"simulated_ns", METRIC_NS, "here", OBJECT(measured_size, simulated_ns, time_stats_table)},
    {"ratios", METRIC_RATIO, "simulated by measured of single collectives",
     OBJECT(measured_size, ratio, ratio_stats_table)},
};
static METRIC_TABLE(size_table, size_rows);

static const struct metric rows[] = {
    {"count", METRIC_COUNT, "collectives that were measured and have ended",
     INTEGER(measured_collectives, n)},
    {"measured_ns", METRIC_NS, "sum over them", ROUNDED(measured_collectives, measured_ns)},
    {"simulated_ns", METRIC_NS, "sum over them", ROUNDED(measured_collectives, simulated_ns)},
    {"ratio", METRIC_RATIO, "simulated_ns / measured_ns", .type = METRIC_REAL,
     .real = ratio_of_sums},
    {"ratios", METRIC_RATIO, "simulated by measured of single collectives",
     OBJECT(measured_collectives, ratio, ratio_stats_table)},
    {"sizes", METRIC_WORDS, "by operation, number of ranks and size",
     LIST(measured_collectives, sizes, n_sizes, size_table)},
};
METRIC_TABLE(measured_collectives_table, rows);

/* ---- a file beside ---- */

static double ratio_of_row(const void *record)
{
    const struct against_row *row = record;
    return row->simulated_ns / row->measured_ns;
}

static bool is_goodput(const void *record)
{
    const struct against_row *row = record;
    return row->goodput;
}

static double measured_bps(const void *record)
{
    const struct against_row *row = record;
    return (double)row->bytes * 8e9 / row->measured_ns;
}

static double simulated_bps(const void *record)
{
    const struct against_row *row = record;
    return (double)row->bytes * 8e9 / row->simulated_ns;
}

static const struct metric against_rows[] = {
    {"op", METRIC_WORDS, "operation", TEXT(against_row, op)},
    {"bytes", METRIC_BYTES, "largest buffer of a rank, or of a message",
     INTEGER(against_row, bytes)},
    {"ranks", METRIC_COUNT, "ranks that take part", INTEGER(against_row, ranks)},
    {"count", METRIC_COUNT, "such collectives or messages here", INTEGER(against_row, count)},
    {"measured_ns", METRIC_NS, "in the file; of a goodput the time of a message at it",
     ROUNDED(against_row, measured_ns)},
    {"simulated_ns", METRIC_NS, "here, the mean", ROUNDED(against_row, simulated_ns)},
    {"ratio", METRIC_RATIO, "simulated_ns / measured_ns", .type = METRIC_REAL,
     .real = ratio_of_row},
    {"measured_bps", METRIC_BPS, "goodput in the file; null = its values are times",
     .type = METRIC_ROUNDED, .real = measured_bps, .known = is_goodput},
    {"simulated_bps", METRIC_BPS, "goodput here, from the first start to the last ACK of a pair",
     .type = METRIC_ROUNDED, .real = simulated_bps, .known = is_goodput},
};
static METRIC_TABLE(against_row_table, against_rows);

static double ratio_of_rank(const void *record)
{
    const struct against_rank *rank = record;
    return rank->measured_ns > 0 ? rank->simulated_ns / rank->measured_ns : (double)NAN;
}

static const struct metric against_ranks[] = {
    {"rank", METRIC_COUNT, "of the job", INTEGER(against_rank, rank)},
    {"measured_ns", METRIC_NS,
     "from its first event to its last, scaled to the iterations of the job",
     ROUNDED(against_rank, measured_ns)},
    {"simulated_ns", METRIC_NS, "its end, after the job's start",
     ROUNDED(against_rank, simulated_ns)},
    {"ratio", METRIC_RATIO, "simulated_ns / measured_ns", .type = METRIC_REAL,
     .real = ratio_of_rank},
    {"measured_compute_ns", METRIC_NS, "computing, scaled alike",
     ROUNDED(against_rank, measured_compute_ns)},
    {"simulated_compute_ns", METRIC_NS, "computing here",
     ROUNDED(against_rank, simulated_compute_ns)},
};
static METRIC_TABLE(against_rank_table, against_ranks);

static const char *const against_words[] = {"collectives", "delivery", "completion", "goodput",
                                            "goodput_both"};

static const struct metric against_keys[] = {
    {"file", METRIC_WORDS, "as the command names it", TEXT(against_result, file)},
    {"kind", METRIC_WORDS, "of the file", TEXT(against_result, kind)},
    {"what", METRIC_WORDS,
     "what is compared: times of collectives, of messages to their delivery or completion, or "
     "goodput of a pair in one direction or both",
     WORD(against_result, what, against_words)},
    {"rows", METRIC_WORDS, "by operation, size and number of ranks",
     LIST(against_result, rows, n, against_row_table)},
    {"missing", METRIC_COUNT,
     "operations, sizes and numbers of ranks of a recording that no collective here has",
     INTEGER(against_result, missing)},
    {"ranks", METRIC_WORDS, "those of a recording of which the run has the end",
     LIST(against_result, ranks, n_ranks, against_rank_table)},
};
METRIC_TABLE(against_table, against_keys);

/* ---- CSV ---- */

static double ratio(const void *record)
{
    const struct measured_collective *c = record;
    return c->measured_ps > 0 ? (double)c->simulated_ps / (double)c->measured_ps : (double)NAN;
}

static const struct metric columns[] = {
    {"job", METRIC_WORDS, "", INTEGER(measured_collective, job)},
    {"group", METRIC_WORDS, "", TEXT(measured_collective, group)},
    {"number", METRIC_WORDS, "", INTEGER(measured_collective, number)},
    {"op", METRIC_WORDS, "", TEXT(measured_collective, op)},
    {"ranks", METRIC_WORDS, "", INTEGER(measured_collective, ranks)},
    {"bytes", METRIC_BYTES, "", INTEGER(measured_collective, bytes)},
    {"measured_ns", METRIC_NS, "", TIME(measured_collective, measured_ps)},
    {"simulated_ns", METRIC_NS, "", TIME(measured_collective, simulated_ps)},
    {"measured_ratio", METRIC_RATIO, "", .type = METRIC_REAL, .real = ratio},
};
static METRIC_TABLE(column_table, columns);

bool measured_collectives_csv(FILE *out, const struct result *r)
{
    if (r->measured_collectives.n == 0)
        return false;
    csv_heading(out, &column_table);
    for (size_t i = 0; i < r->measured_collectives.n; i++)
        csv_row(out, &column_table, &r->measured_collectives.list[i]);
    return true;
}
