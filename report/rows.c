// SPDX-License-Identifier: MIT
// The columns of comparisons and summaries: a list of metrics by their paths; units are in
// report/metric_table.c.
#include "report/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/after_jobs.h"
#include "report/csv.h"
#include "report/measured.h"
#include "report/metric_json.h"
#include "report/metric_parts.h"
#include "report/metric_table.h"
#include "report/metrics_brief.h"
#include "report/path_shares.h"
#include "report/series.h"

const struct row_column row_columns[ROW_COLUMNS] = {
    {"sim_time_ns", "time", "sim_time_ns", "time_ns"},
    {"training_ns", "training", "training.total_ns", "training.total_ns"},
    {"iteration_ns", "iteration", "training.iterations.duration_ns",
     "training.iterations.duration_ns"},
    {"exposed_iteration_ns", "exposed", "training.exposed_iteration_ns",
     "training.exposed_iteration_ns"},
    {"exposed_comm_ns", "", "training.exposed_comm_ns", "training.exposed_comm_ns"},
    {"program_ns", "program", "programs.total_ns", "programs.total_ns"},
    {"program_exposed_ns", "exposed", "programs.exposed_comm_ns", "programs.exposed_comm_ns"},
    {"bubble_share", "bubbles", "programs.bubble_share", "programs.bubble_share"},
    {"tokens_per_s", "tokens/s", "programs.tokens_per_s", "programs.tokens_per_s"},
    {"mfu", "MFU", "programs.mfu", "programs.mfu"},
    {"memory_bytes", "memory", "memory.max_bytes", NULL},
    {"collective_ns", "collective", "collectives.duration_ns", "collective_ns"},
    {"busbw_bps", "busbw", "collectives.busbw_bps", "busbw_bps"},
    {"efficiency", "effic.", "collectives.efficiency", "efficiency"},
    {"fct_mean_ns", "fct mean", "flows_summary.fct_ns.mean", "fct_ns.mean"},
    {"fct_p99_ns", "fct p99", "flows_summary.fct_ns.p99", "fct_ns.p99"},
    {"fct_max_ns", "fct max", "flows_summary.fct_ns.max", "fct_ns.max"},
    {"jain", "jain", "flows_summary.jain", NULL},
    {"max_queue_bytes", "max queue", "queues.max_bytes", NULL},
    {"marked_packets", "marks", "ecn.marked_packets", NULL},
    {"cnps", "CNPs", "cnps", NULL},
    {"pause_frames", "pauses", "pfc.pause_frames", NULL},
    {"paused_ns", "paused", "pfc.paused_ns", NULL},
    {"dropped_packets", "drops", "drops.packets", NULL},
    {"trimmed_packets", "trims", "trims.packets", NULL},
    {"timeouts", "timeouts", "recovery.timeouts", NULL},
    {"tcp_retransmitted_segments", "TCP resent", "tcp.retransmitted_segments", NULL},
    {"tcp_timeouts", "TCP timeouts", "tcp.timeouts", NULL},
};

size_t row_column_find(const char *key)
{
    size_t c = 0;
    while (c < ROW_COLUMNS && strcmp(row_columns[c].key, key) != 0)
        c++;
    return c;
}

enum metric_unit row_column_unit(size_t column)
{
    return metric_at_path(&metrics_table, row_columns[column].path)->unit;
}

/* ---- reading ---- */

static const char in_training[] = "training.";
static const char in_programs[] = "programs.";
static const char in_collectives[] = "collectives.";

static bool begins(const char *path, const char *with)
{
    return strncmp(path, with, strlen(with)) == 0;
}

// With several jobs a mean over the collectives or trainings of all of them has no meaning.
static double run_value(const struct row_column *c, const json_t *metrics, bool one_job)
{
    bool of_one = begins(c->path, in_training) || begins(c->path, in_programs) ||
                  begins(c->path, in_collectives);
    return of_one && !one_job ? (double)NAN : metric_mean(&metrics_table, metrics, c->path);
}

double row_column_value(size_t column, const json_t *metrics)
{
    return run_value(&row_columns[column], metrics,
                     json_array_size(json_object_get(metrics, "jobs")) < 2);
}

// Returns the training of a job: its own, or that of the run if only this job trains; else NULL.
static const json_t *training_of(const json_t *metrics, const json_t *job)
{
    const json_t *own = json_object_get(job, "training"),
                 *only = json_object_get(metrics, "training");
    if (json_is_object(own))
        return own;
    bool same = json_is_object(only) &&
                json_equal(json_object_get(only, "job"), json_object_get(job, "job"));
    return same ? only : NULL;
}

// The record of a job among those of programs, or NULL.
static const json_t *program_of(const json_t *metrics, const json_t *job)
{
    const json_t *programs = json_object_get(metrics, "programs"), *program;
    size_t i;
    json_array_foreach(programs, i, program)
    {
        if (json_equal(json_object_get(program, "job"), json_object_get(job, "job")))
            return program;
    }
    return NULL;
}

static double job_value(const struct row_column *c, const json_t *metrics, const json_t *job)
{
    if (!c->job_path)
        return (double)NAN;
    if (begins(c->job_path, in_training))
        return metric_mean(&training_table, training_of(metrics, job),
                           c->job_path + strlen(in_training));
    if (begins(c->job_path, in_programs))
        return metric_mean(&program_table, program_of(metrics, job),
                           c->job_path + strlen(in_programs));
    return metric_mean(&job_table, job, c->job_path);
}

static const char *status_of(const json_t *object)
{
    static const char *const words[] = {"completed", "incomplete", "interrupted", "running",
                                        "failed"};
    // The row refers to a constant, since it outlives the object.
    const char *status = json_string_value(json_object_get(object, "status"));
    for (size_t i = 0; status && i < sizeof words / sizeof *words; i++)
        if (strcmp(status, words[i]) == 0)
            return words[i];
    return "failed";
}

static void add_reasons(struct row *row, const json_t *metrics)
{
    row->reasons = json_array();
    json_t *reason = json_object_get(metrics, "reason");
    if (json_is_string(reason))
        json_array_append(row->reasons, reason);
    json_array_extend(row->reasons, json_object_get(metrics, "waiting"));
    // Sentences before this number say why the run did not complete.
    row->n_why = json_array_size(row->reasons);
    json_array_extend(row->reasons, json_object_get(metrics, "explain"));
}

static struct row *row_new(struct rows *rows, const struct row_source *run)
{
    if (rows->n == rows->cap)
        rows->list = memory_grow(rows->list, &rows->cap, sizeof *rows->list);
    struct row *row = &rows->list[rows->n++];
    *row = (struct row){.scenario = run->scenario,
                        .policy = run->policy,
                        .name = run->name ? run->name : run->policy,
                        .vary = run->vary,
                        .seed = run->seed};
    path_shares(NULL, row->shares);
    return row;
}

struct row *rows_add_plain(struct rows *rows, const struct row_source *run, const char *job,
                           const char *status)
{
    static const char *const words[] = {"completed", "incomplete", "running"};
    struct row *row = row_new(rows, run);
    row->job = job ? memory_text(job) : NULL;
    row->failure = run->failure ? memory_text(run->failure) : NULL;
    row->reasons = json_array();
    row->costs = json_object();
    row->status = "failed";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], status) == 0)
            row->status = words[i];
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        row->values[c] = (double)NAN;
    return row;
}

// True if the scenario has noise of hosts. Whether any job is affected does not matter here: if
// none is, all seeds have the same values.
static bool has_noise(const json_t *metrics)
{
    const json_t *noise = json_object_get(json_object_get(metrics, "scenario"), "noise");
    const char *start = json_string_value(json_object_get(noise, "start"));
    const char *step = json_string_value(json_object_get(json_object_get(noise, "step"), "mean"));
    return (start && strcmp(start, "0s") != 0) || (step && strcmp(step, "0s") != 0) ||
           json_number_value(json_object_get(noise, "clock_ppm")) > 0;
}

static void add_jobs(struct rows *rows, const struct row_source *run, const json_t *metrics)
{
    const json_t *jobs = json_object_get(metrics, "jobs"), *job;
    size_t j;
    json_array_foreach(jobs, j, job)
    {
        struct row *row = row_new(rows, run);
        const char *name = json_string_value(json_object_get(job, "name"));
        row->job = memory_text(name ? name : "");
        row->status = status_of(job);
        row->reasons = json_array();
        row->noisy = has_noise(metrics);
        const json_t *shrunk = json_object_get(program_of(metrics, job), "shrunk");
        row->shrunk = shrunk ? memory_text(json_string_value(shrunk)) : NULL;
        for (size_t c = 0; c < ROW_COLUMNS; c++)
            row->values[c] = job_value(&row_columns[c], metrics, job);
    }
}

void rows_add(struct rows *rows, const struct row_source *run)
{
    // Rows need no messages, which may be most of the metrics.
    json_t *metrics = run->metrics ? metrics_brief(run->metrics) : NULL;
    struct row *row = row_new(rows, run);
    size_t jobs = json_array_size(json_object_get(metrics, "jobs"));
    row->status = status_of(metrics);
    row->failure = !metrics && run->failure ? memory_text(run->failure) : NULL;
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        row->values[c] = row_column_value(c, metrics);
    row->noisy = has_noise(metrics);
    row->measured = measured_text(metrics);
    const json_t *shrunk = json_object_get(json_object_get(metrics, "scenario"), "shrunk");
    row->shrunk = shrunk ? memory_text(json_string_value(shrunk)) : NULL;
    row->after = after_jobs_text(metrics);
    row->thinned = series_thinned_text(metrics);
    add_reasons(row, metrics);
    row->costs = json_object();
    path_shares(json_object_get(metrics, "slowest"), row->shares);
    json_object_set(row->costs, "slowest", json_object_get(metrics, "slowest"));
    json_object_set(row->costs, "reasons", json_object_get(metrics, "reasons"));
    const json_t *passes = json_object_get(json_object_get(metrics, "training"), "iterations");
    if (passes)
        json_object_set_new(row->costs, "training", json_pack("{s:O}", "iterations", passes));
    json_int_t count =
        json_integer_value(json_object_get(json_object_get(metrics, "flows_summary"), "count"));
    if (count > 0 && json_array_size(json_object_get(metrics, "flows")) == 0)
        row->n_unlisted = (uint64_t)count;
    if (jobs > 1)
        add_jobs(rows, run, metrics);
    json_decref(metrics);
}

void rows_free(struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++) {
        free(rows->list[i].job);
        free(rows->list[i].failure);
        free(rows->list[i].measured);
        free(rows->list[i].shrunk);
        free(rows->list[i].after);
        free(rows->list[i].thinned);
        json_decref(rows->list[i].reasons);
        json_decref(rows->list[i].costs);
        json_decref(rows->list[i].draws);
    }
    free(rows->list);
    *rows = (struct rows){0};
}

const char *row_sentence(const struct row *row, size_t i)
{
    return json_string_value(json_array_get(row->reasons, i));
}

/* ---- writing ---- */

static json_t *row_json(const struct row *row)
{
    json_t *o = json_object(), *explain = json_array();
    json_object_set_new(o, "scenario", json_string(row->scenario));
    json_object_set_new(o, "cc", json_string(row->policy));
    if (row->vary) {
        json_object_set_new(o, "name", json_string(row->name));
        json_object_set_new(o, "vary", json_copy((json_t *)(uintptr_t)row->vary));
    }
    json_object_set_new(o, "seed", json_integer((json_int_t)row->seed));
    json_object_set_new(o, "job", row->job ? json_string(row->job) : json_null());
    json_object_set_new(o, "status", json_string(row->status));
    if (row->failure)
        json_object_set_new(o, "failure", json_string(row->failure));
    for (size_t c = 0; c < ROW_COLUMNS; c++) {
        double value = row->values[c];
        json_object_set_new(o, row_columns[c].key,
                            isnan(value) ? json_null()
                            : row_column_unit(c) == METRIC_RATIO
                                ? json_real(value)
                                : json_integer((json_int_t)(value + 0.5)));
    }
    for (size_t i = row->n_why; i < json_array_size(row->reasons); i++)
        json_array_append(explain, json_array_get(row->reasons, i));
    json_object_set_new(o, "explain", explain);
    if (row->draws)
        json_object_set(o, "draws", row->draws);
    return o;
}

json_t *rows_json(const struct rows *rows)
{
    json_t *array = json_array();
    for (size_t i = 0; i < rows->n; i++)
        json_array_append_new(array, row_json(&rows->list[i]));
    return array;
}

char *rows_document(const struct rows *rows, const char *name)
{
    json_t *root = json_pack("{s:s, s:s, s:o}", "schema", "collwire.compare/1", "name", name,
                             "rows", rows_json(rows));
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}

static void csv_value(FILE *out, size_t column, double value)
{
    if (isnan(value))
        return;
    fprintf(out, row_column_unit(column) == METRIC_RATIO ? "%.6f" : "%.0f", value);
}

// The varied values of a row, or their paths, each followed by a comma.
static void csv_vary(FILE *out, const json_t *vary, bool paths)
{
    const char *path;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)vary, path, value)
    {
        csv_text(out, paths ? path : json_string_value(value));
        fputc(',', out);
    }
}

static const char *const draws_keys[] = {"median", "p10", "p90", "order_holds", "n"};
enum { DRAWS_KEYS = sizeof draws_keys / sizeof *draws_keys };

static bool has_draws(const struct rows *rows)
{
    for (size_t i = 0; i < rows->n; i++)
        if (rows->list[i].draws)
            return true;
    return false;
}

// The columns of the draws, each after a comma; empty cells for rows that have none.
static void csv_draws(FILE *out, const json_t *draws)
{
    for (size_t k = 0; k < DRAWS_KEYS; k++) {
        const json_t *value = json_object_get(draws, draws_keys[k]);
        fputc(',', out);
        if (json_is_integer(value))
            fprintf(out, "%lld", (long long)json_integer_value(value));
        else if (json_is_real(value))
            fprintf(out, "%.6f", json_real_value(value));
    }
}

char *rows_csv(const struct rows *rows)
{
    struct text text;
    FILE *out = text_open(&text);
    bool draws = has_draws(rows);
    fputs("scenario,", out);
    csv_vary(out, rows->n > 0 ? rows->list[0].vary : NULL, true);
    fputs("policy,seed,job,status", out);
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        fprintf(out, ",%s", row_columns[c].key);
    for (size_t k = 0; k < DRAWS_KEYS && draws; k++)
        fprintf(out, ",draws_%s", draws_keys[k]);
    fputc('\n', out);
    for (size_t i = 0; i < rows->n; i++) {
        const struct row *row = &rows->list[i];
        csv_text(out, row->scenario);
        fputc(',', out);
        csv_vary(out, row->vary, false);
        csv_text(out, row->policy);
        fprintf(out, ",%llu,", (unsigned long long)row->seed);
        csv_text(out, row->job ? row->job : "");
        fprintf(out, ",%s", row->status);
        for (size_t c = 0; c < ROW_COLUMNS; c++) {
            fputc(',', out);
            csv_value(out, c, row->values[c]);
        }
        if (draws)
            csv_draws(out, row->draws);
        fputc('\n', out);
    }
    return text_close(out, &text);
}
