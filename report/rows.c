// SPDX-License-Identifier: MIT
// The columns of comparisons and summaries: a list of metrics by their paths; units are in
// report/metric_table.c.
#include "report/rows.h"

#include <jansson.h>
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/units.h"
#include "report/metric_json.h"
#include "report/metric_table.h"

const struct row_column row_columns[] = {
    {"sim_time_ns", "time", "sim_time_ns"},
    {"training_ns", "training", "training.total_ns"},
    {"iteration_ns", "iteration", "training.iterations.duration_ns"},
    {"exposed_comm_ns", "exposed", "training.exposed_comm_ns"},
    {"collective_ns", "collective", "collectives.duration_ns"},
    {"busbw_bps", "busbw", "collectives.busbw_bps"},
    {"efficiency", "effic.", "collectives.efficiency"},
    {"fct_mean_ns", "fct mean", "flows_summary.fct_ns.mean"},
    {"fct_p99_ns", "fct p99", "flows_summary.fct_ns.p99"},
    {"fct_max_ns", "fct max", "flows_summary.fct_ns.max"},
    {"jain", "jain", "flows_summary.jain"},
    {"max_queue_bytes", "max queue", "queues.max_bytes"},
    {"marked_packets", "marks", "ecn.marked_packets"},
    {"cnps", "CNPs", "cnps"},
    {"pause_frames", "pauses", "pfc.pause_frames"},
    {"paused_ns", "paused", "pfc.paused_ns"},
    {"dropped_packets", "drops", "drops.packets"},
    {"tcp_retransmitted_segments", "resent", "tcp.retransmitted_segments"},
    {"tcp_timeouts", "timeouts", "tcp.timeouts"},
};
#define N_COLUMNS (sizeof row_columns / sizeof *row_columns)
const size_t n_row_columns = N_COLUMNS;

// The value of a column; NAN if the run does not have it.
static double column_value(const struct row_column *c, const json_t *metrics)
{
    return metric_mean(&metrics_table, metrics, c->path);
}

static enum metric_unit column_unit(const struct row_column *c)
{
    return metric_at_path(&metrics_table, c->path)->unit;
}

static void human(enum metric_unit unit, double value, char *text, size_t size)
{
    char buf[UNIT_TEXT];
    if (isnan(value))
        snprintf(text, size, "-");
    else if (unit == METRIC_NS)
        snprintf(text, size, "%s", human_time((ps_t)value * PS_PER_NS, buf));
    else if (unit == METRIC_BYTES)
        snprintf(text, size, "%s", human_bytes((uint64_t)value, buf));
    else if (unit == METRIC_BPS)
        snprintf(text, size, "%s", human_rate(value, buf));
    else if (unit == METRIC_COUNT)
        snprintf(text, size, "%.0f", value);
    else
        snprintf(text, size, "%.3f", value);
}

static json_t *load(const struct row *row)
{
    return row->metrics ? json_loads(row->metrics, 0, NULL) : NULL;
}

static const char *status_of(const json_t *metrics)
{
    const struct metric *m = metric_at_path(&metrics_table, "status");
    const char *status = json_string_value(metric_at(&metrics_table, metrics, "status"));
    for (size_t i = 0; status && i <= RUN_INTERRUPTED; i++)
        if (strcmp(status, m->words[i]) == 0)
            return m->words[i];
    return "failed";
}

const char *row_status(const struct row *row)
{
    json_t *metrics = load(row);
    const char *status = status_of(metrics);
    json_decref(metrics);
    return status;
}

static void add_line(struct libscols_table *table, const struct row *row, const json_t *metrics,
                     const bool *shown)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    size_t cell = 0;
    char text[64];
    scols_line_set_data(line, cell++, row->policy);
    snprintf(text, sizeof text, "%llu", (unsigned long long)row->seed);
    scols_line_set_data(line, cell++, text);
    scols_line_set_data(line, cell++, row->failure && !metrics ? row->failure : status_of(metrics));
    for (size_t c = 0; c < N_COLUMNS; c++) {
        if (!shown[c])
            continue;
        human(column_unit(&row_columns[c]), column_value(&row_columns[c], metrics), text,
              sizeof text);
        scols_line_set_data(line, cell++, text);
    }
}

char *rows_table(const struct row *rows, size_t n)
{
    struct libscols_table *table = scols_new_table();
    json_t **metrics = memory_zeroed(n, sizeof(json_t *));
    bool shown[N_COLUMNS] = {false}; // a column without any value is left out
    char *text = NULL;
    for (size_t i = 0; i < n; i++) {
        metrics[i] = load(&rows[i]);
        for (size_t c = 0; c < N_COLUMNS; c++)
            shown[c] |= !isnan(column_value(&row_columns[c], metrics[i]));
    }
    scols_table_new_column(table, "cc", 0, 0);
    scols_table_new_column(table, "seed", 0, SCOLS_FL_RIGHT);
    scols_table_new_column(table, "status", 0, 0);
    for (size_t c = 0; c < N_COLUMNS; c++)
        if (shown[c])
            scols_table_new_column(table, row_columns[c].heading, 0, SCOLS_FL_RIGHT);
    for (size_t i = 0; i < n; i++) {
        add_line(table, &rows[i], metrics[i], shown);
        json_decref(metrics[i]);
    }
    free(metrics);
    scols_print_table_to_string(table, &text);
    scols_unref_table(table);
    size_t length = strlen(text); // libsmartcols ends the text without a line feed
    text = memory_resize(text, length + 2, 1);
    memcpy(text + length, "\n", 2);
    return text;
}

static json_t *row_json(const struct row *row)
{
    json_t *metrics = load(row), *o = json_object();
    json_object_set_new(o, "cc", json_string(row->policy));
    json_object_set_new(o, "seed", json_integer((json_int_t)row->seed));
    json_object_set_new(o, "status", json_string(status_of(metrics)));
    if (row->failure)
        json_object_set_new(o, "failure", json_string(row->failure));
    for (size_t c = 0; c < N_COLUMNS; c++) {
        double value = column_value(&row_columns[c], metrics);
        json_object_set_new(o, row_columns[c].key,
                            isnan(value) ? json_null()
                            : column_unit(&row_columns[c]) == METRIC_RATIO
                                ? json_real(value)
                                : json_integer((json_int_t)(value + 0.5)));
    }
    const json_t *explain = metric_at(&metrics_table, metrics, "explain");
    json_object_set_new(o, "explain", explain ? json_deep_copy(explain) : json_array());
    json_decref(metrics);
    return o;
}

char *rows_json(const struct row *rows, size_t n, const char *name)
{
    json_t *root = json_object(), *array = json_array();
    json_object_set_new(root, "schema", json_string("collwire.compare/1"));
    json_object_set_new(root, "name", json_string(name));
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, row_json(&rows[i]));
    json_object_set_new(root, "rows", array);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}

char *rows_csv(const struct row *rows, size_t n)
{
    struct text text;
    FILE *out = text_open(&text);
    fputs("cc,seed,status", out);
    for (size_t c = 0; c < N_COLUMNS; c++)
        fprintf(out, ",%s", row_columns[c].key);
    fputc('\n', out);
    for (size_t i = 0; i < n; i++) {
        json_t *metrics = load(&rows[i]);
        fprintf(out, "%s,%llu,%s", rows[i].policy, (unsigned long long)rows[i].seed,
                status_of(metrics));
        for (size_t c = 0; c < N_COLUMNS; c++) {
            double value = column_value(&row_columns[c], metrics);
            if (isnan(value))
                fputc(',', out);
            else
                fprintf(out, column_unit(&row_columns[c]) == METRIC_RATIO ? ",%.6f" : ",%.0f",
                        value);
        }
        fputc('\n', out);
        json_decref(metrics);
    }
    return text_close(out, &text);
}

char *row_explanations(const struct row *row, const char *prefix)
{
    static const char *const keys[] = {"waiting", "explain"};
    json_t *metrics = load(row);
    struct text text;
    FILE *out = text_open(&text);
    const char *reason = json_string_value(metric_at(&metrics_table, metrics, "reason"));
    if (reason)
        fprintf(out, "%s%s\n", prefix, reason);
    for (size_t k = 0; k < 2; k++) {
        const json_t *list = metric_at(&metrics_table, metrics, keys[k]);
        for (size_t i = 0; i < json_array_size(list); i++)
            fprintf(out, "%s%s\n", prefix, json_string_value(json_array_get(list, i)));
    }
    json_decref(metrics);
    return text_close(out, &text);
}
