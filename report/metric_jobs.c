// SPDX-License-Identifier: MIT
// The metrics of jobs.
#include "report/metric_json.h"
#include "report/metric_parts.h"
#include "sim/result/result.h"

static const char *const job_words[] = {"running", "completed", "failed"};

static bool ended(const void *record)
{
    const struct job_result *job = record;
    return job->end_ps >= 0;
}

static ps_t takes(const void *record)
{
    const struct job_result *job = record;
    return job->end_ps - job->start_ps;
}

static bool any_completed(const void *record)
{
    const struct job_result *job = record;
    return job->any_completed;
}

// Means over collectives are given for completed jobs only. If the run ends before the job, its
// slowest collectives have not ended, and a mean without them would be too good.
static bool all_collectives(const void *record)
{
    const struct job_result *job = record;
    return job->collectives > 0 && job->status == JOB_COMPLETED;
}

static bool all_efficiencies(const void *record)
{
    const struct job_result *job = record;
    return all_collectives(job) && job->efficiency > 0;
}

static void write_training(struct json_writer *w, const void *record)
{
    const struct job_result *job = record;
    if (job->training)
        metric_write(w, &training_table, job->training);
    else
        json_writer_null(w);
}

static bool any_update(const void *record)
{
    const struct server_result *servers = record;
    return servers->updates > 0;
}

static void write_by_staleness(struct json_writer *w, const void *record)
{
    const struct server_result *servers = record;
    json_writer_list(w);
    for (size_t i = 0; i < servers->n_counts; i++)
        json_writer_integer(w, (int64_t)servers->counts[i]);
    json_writer_end(w);
}

// The least is always 0: the first update of a server.
static const struct metric staleness_rows[] = {
    {"mean", METRIC_RATIO, "arithmetic mean", REAL(stats, mean)},
    {"p50", METRIC_RATIO, "median", REAL(stats, p50)},
    {"p95", METRIC_RATIO, "95th percentile", REAL(stats, p95)},
    {"p99", METRIC_RATIO, "99th percentile", REAL(stats, p99)},
    {"max", METRIC_RATIO, "largest", REAL(stats, max)},
};
static METRIC_TABLE(staleness_table, staleness_rows);

static const struct metric server_rows[] = {
    {"updates", METRIC_COUNT, "applied, of all servers", INTEGER(server_result, updates)},
    {"staleness", METRIC_RATIO,
     "updates of other groups that a server applied between its answer to a group and the "
     "group's next update",
     OBJECT(server_result, staleness, staleness_table), .known = any_update},
    {"by_staleness", METRIC_COUNT,
     "updates with staleness 0, 1, ..; the last of 256 values has all beyond",
     .type = METRIC_CUSTOM, .write = write_by_staleness},
};
static METRIC_TABLE(server_table, server_rows);

static void write_servers(struct json_writer *w, const void *record)
{
    const struct job_result *job = record;
    if (job->servers)
        metric_write(w, &server_table, job->servers);
    else
        json_writer_null(w);
}

static const struct metric job_rows[] = {
    {"job", METRIC_WORDS, "index in `workload`", INTEGER(job_result, job)},
    {"name", METRIC_WORDS, "of the job", TEXT(job_result, name)},
    {"kind", METRIC_WORDS, "of the job", TEXT(job_result, kind)},
    {"status", METRIC_WORDS, "running, completed or failed (a message's retries were used up)",
     WORD(job_result, status, job_words)},
    {"start_ns", METRIC_NS, "planned start", TIME(job_result, start_ps)},
    {"end_ns", METRIC_NS,
     "end of its last rank if it trains, else of its last collective, else of its last message",
     TIME(job_result, end_ps), .known = ended},
    {"time_ns", METRIC_NS, "end_ns - start_ns", .type = METRIC_TIME, .time = takes, .known = ended},
    {"messages", METRIC_COUNT, "messages posted", INTEGER(job_result, messages)},
    {"failed", METRIC_COUNT, "messages whose retries were used up", INTEGER(job_result, failed)},
    {"bytes", METRIC_BYTES, "payload posted", INTEGER(job_result, bytes)},
    {"fct_ns", METRIC_NS, "completion times of completed messages",
     OBJECT(job_result, fct_ns, time_stats_table), .known = any_completed},
    {"slowdown", METRIC_RATIO, "slowdowns of completed messages",
     OBJECT(job_result, slowdown, ratio_stats_table), .known = any_completed},
    {"collectives", METRIC_COUNT, "collectives that ended", INTEGER(job_result, collectives)},
    {"collective_ns", METRIC_NS,
     "mean duration of its collectives; null = the job has not completed, as in the next two",
     ROUNDED(job_result, collective_ns), .known = all_collectives},
    {"busbw_bps", METRIC_BPS, "mean bus bandwidth of its collectives",
     ROUNDED(job_result, busbw_bps), .known = all_collectives},
    {"efficiency", METRIC_RATIO, "mean efficiency of its collectives", REAL(job_result, efficiency),
     .known = all_efficiencies},
    {"training", METRIC_WORDS,
     "where several jobs train: the job's, with the keys of `training`; else null",
     .type = METRIC_CUSTOM, .write = write_training},
    {"servers", METRIC_WORDS, "of a job with parameter servers; else null", .type = METRIC_CUSTOM,
     .table = &server_table, .write = write_servers},
};
METRIC_TABLE(job_table, job_rows);
