// SPDX-License-Identifier: MIT
// sweep.csv: a row for each point, and one for each of its jobs where there are several. Values of
// an axis that are all quantities of one kind are numbers, and the column's name ends in their
// unit.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/axis_kind.h"
#include "cli/sweep/sweep_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/csv.h"

enum { SAME_PATHS = 3 };
static const char *const policy_paths[SAME_PATHS] = {"policy", "cc.kind", "cc"};

// A column of the table: the values of a path. Those of the policy have one name, whether --cc or
// --vary gives them.
struct column {
    const char *path, *name;
    bool words; // names, even if all of them are digits
    struct axis_kinds kinds;
};

struct csv {
    struct store *store;
    const struct measured_table *measured; // NULL = nothing stands beside
    FILE *out;
    struct column *columns;
    size_t n;
    bool why, jobs; // jobs: some point has several
};

/* ---- columns ---- */

static bool is_policy(const char *path)
{
    for (size_t i = 0; i < SAME_PATHS; i++)
        if (strcmp(path, policy_paths[i]) == 0)
            return true;
    return false;
}

static void columns_make(struct csv *csv)
{
    bool policy = false;
    csv->columns = memory_zeroed(store_paths(csv->store), sizeof *csv->columns);
    for (size_t p = 0; p < store_paths(csv->store); p++) {
        const char *path = store_path(csv->store, p);
        bool of_policy = is_policy(path);
        if (of_policy && policy)
            continue;
        policy |= of_policy;
        csv->columns[csv->n++] =
            (struct column){.path = path,
                            .name = of_policy ? sweep_policy : path,
                            .words = of_policy || strcmp(path, sweep_scenario) == 0};
    }
}

// The value of a point in a column; "" = it has none.
static const char *value_of(const struct column *c, const json_t *values)
{
    const char *text = json_string_value(json_object_get(values, c->path));
    for (size_t i = 0; !text && c->name == sweep_policy && i < SAME_PATHS; i++)
        text = json_string_value(json_object_get(values, policy_paths[i]));
    return text ? text : "";
}

static enum axis_kind kind_of(const struct column *c)
{
    return c->words ? AXIS_TEXT : axis_kind_of(&c->kinds);
}

static void look(void *ctx, const struct store_point *p)
{
    struct csv *csv = ctx;
    if (p->position == STORE_RETIRED)
        return;
    json_t *values = json_loads(p->values, 0, NULL);
    for (size_t i = 0; i < csv->n; i++) {
        struct column *c = &csv->columns[i];
        axis_kinds_add(&c->kinds, value_of(c, values));
    }
    csv->jobs |= p->jobs != NULL;
    json_decref(values);
}

// "switch.buffer" in bytes is switch.buffer_bytes; workload.bytes has its unit already.
static void heading_put(FILE *out, const struct column *c)
{
    const char *suffix = axis_unit(kind_of(c)), *last = strrchr(c->name, '.');
    csv_text(out, c->name);
    if (*suffix != '\0' && strcmp(last ? last + 1 : c->name, suffix) != 0)
        fprintf(out, "_%s", suffix);
}

static void headings_put(const struct csv *csv)
{
    for (size_t i = 0; i < csv->n; i++) {
        heading_put(csv->out, &csv->columns[i]);
        fputc(',', csv->out);
    }
    fputs(csv->jobs ? "job,status" : "status", csv->out);
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        fprintf(csv->out, ",%s", row_columns[c].key);
    if (csv->measured)
        fputs(",measured_ns,measured_ratio", csv->out);
    fputs(csv->why ? ",first_cause,reason_1,reason_2,reason_3\n" : "\n", csv->out);
}

/* ---- rows ---- */

static void metric_put(FILE *out, size_t column, double value)
{
    fputc(',', out);
    if (!isnan(value))
        fprintf(out, row_column_unit(column) == METRIC_RATIO ? "%.6f" : "%.0f", value);
}

// The beginning of a row: the values on the axes, and the job.
static void place_put(const struct csv *csv, const json_t *values, const char *job)
{
    for (size_t i = 0; i < csv->n; i++) {
        const char *text = value_of(&csv->columns[i], values);
        if (*text != '\0')
            axis_value_put(csv->out, kind_of(&csv->columns[i]), text);
        fputc(',', csv->out);
    }
    if (csv->jobs) {
        csv_text(csv->out, job);
        fputc(',', csv->out);
    }
}

// Whether a path is that of the sizes of --sizes: workload.bytes, or that of a job in a list.
static bool is_size(const char *path)
{
    const char *last = strrchr(path, '.');
    return strncmp(path, "workload", 8) == 0 && last && strcmp(last, ".bytes") == 0;
}

// The measured time of a point's size, and its own time by that.
static void measured_put(const struct csv *csv, const json_t *values, const double *columns)
{
    double own = columns ? columns[row_column_find("collective_ns")] : (double)NAN;
    const struct measured_row *row = NULL;
    for (size_t i = 0; i < csv->n && columns && csv->measured; i++) {
        uint64_t bytes;
        if (is_size(csv->columns[i].path) &&
            parse_bytes(value_of(&csv->columns[i], values), &bytes) == 0)
            row = measured_table_at(csv->measured, bytes);
    }
    if (!csv->measured)
        return;
    if (row)
        fprintf(csv->out, ",%.0f,", row->time_us * 1e3);
    else
        fputs(",,", csv->out);
    if (row && !isnan(own))
        fprintf(csv->out, "%.6f", own / (row->time_us * 1e3));
}

static void reasons_put(const struct csv *csv, const char *text)
{
    json_t *reasons = text ? json_loads(text, 0, NULL) : NULL;
    const char *first = json_string_value(json_object_get(reasons, "first"));
    fputc(',', csv->out);
    csv_text(csv->out, first ? first : "");
    for (size_t i = 0; i < 3; i++) {
        const char *sentence =
            json_string_value(json_array_get(json_object_get(reasons, "sentences"), i));
        fputc(',', csv->out);
        csv_text(csv->out, sentence ? sentence : "");
    }
    json_decref(reasons);
}

static void jobs_put(const struct csv *csv, const json_t *values, const char *text)
{
    json_t *jobs = text ? json_loads(text, 0, NULL) : NULL, *job;
    size_t i;
    json_array_foreach(jobs, i, job)
    {
        place_put(csv, values, json_string_value(json_object_get(job, "name")));
        fputs(json_string_value(json_object_get(job, "status")), csv->out);
        for (size_t c = 0; c < ROW_COLUMNS; c++) {
            const json_t *value = json_array_get(json_object_get(job, "values"), c);
            metric_put(csv->out, c, json_is_number(value) ? json_number_value(value) : (double)NAN);
        }
        measured_put(csv, values, NULL);
        fputs(csv->why ? ",,,,\n" : "\n", csv->out);
    }
    json_decref(jobs);
}

static void point_put(void *ctx, const struct store_point *p)
{
    const struct csv *csv = ctx;
    if (p->position == STORE_RETIRED)
        return;
    json_t *values = json_loads(p->values, 0, NULL);
    place_put(csv, values, "");
    fputs(p->status, csv->out);
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        metric_put(csv->out, c, p->columns[c]);
    measured_put(csv, values, p->columns);
    if (csv->why)
        reasons_put(csv, p->reasons);
    fputc('\n', csv->out);
    jobs_put(csv, values, p->jobs);
    json_decref(values);
}

char *sweep_csv(struct store *store, bool why, const struct measured_table *measured,
                struct err *err)
{
    struct text text;
    struct csv csv = {.store = store,
                      .measured = measured && measured->n > 0 ? measured : NULL,
                      .why = why,
                      .out = text_open(&text)};
    columns_make(&csv);
    int status = store_each(store, look, &csv, err);
    if (status == 0) {
        headings_put(&csv);
        status = store_each(store, point_put, &csv, err);
    }
    char *bytes = text_close(csv.out, &text);
    free(csv.columns);
    if (status == 0)
        return bytes;
    free(bytes);
    return NULL;
}
