// SPDX-License-Identifier: MIT
// The data of charts of whole runs: metrics, distributions of messages, and parts of time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/sheet.h"
#include "report/rows.h"

// ---- metrics ----

static bool is_used(const json_t *doc, const char *key)
{
    size_t i;
    const json_t *run;
    json_array_foreach(json_object_get(doc, "runs"), i, run)
    {
        const json_t *value = json_object_get(json_object_get(run, "values"), key);
        if (json_is_number(value) && json_number_value(value) > 0)
            return true;
    }
    return false;
}

static bool is_shown(const struct sheet *s, size_t column)
{
    const char *key = row_columns[column].key;
    return is_used(s->doc, key) && (!s->choice || strcmp(s->choice, key) == 0);
}

static void metrics_row(struct sheet *s, const json_t *run)
{
    if (!sheet_wants(s, run))
        return;
    sheet_run_row(s, run);
    const json_t *status = json_object_get(run, "status");
    sheet_text(s, status ? json_string_value(status) : "failed");
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        if (is_shown(s, c))
            sheet_value(s, json_object_get(json_object_get(run, "values"), row_columns[c].key));
}

void sheet_policies(struct sheet *s)
{
    size_t shown = 0, i;
    const json_t *run;
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        shown += is_shown(s, c);
    if (s->choice && shown == 0) // no run has such a metric, so there is no chart
        return;
    fputs("scenario,policy,seed,status", s->out);
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        if (is_shown(s, c))
            fprintf(s->out, ",%s", row_columns[c].key);
    json_array_foreach(json_object_get(s->doc, "runs"), i, run) metrics_row(s, run);
}

// ---- messages ----

static void points_rows(struct sheet *s, const json_t *line, bool by_dimension)
{
    size_t i;
    const json_t *point, *dimension = json_object_get(line, "dimension");
    json_array_foreach(json_object_get(line, "points"), i, point)
    {
        sheet_row(s);
        sheet_values(s, line, "scenario policy");
        sheet_value(s, json_array_get(point, 0));
        sheet_value(s, json_array_get(point, 1));
        if (by_dimension)
            sheet_text(s, dimension ? json_string_value(dimension) : "all");
    }
}

// True if the lines of a dimension, or of all (NULL), are wanted.
static bool wants_dimension(const struct sheet *s, const char *dimension)
{
    static const char before[] = "dimension ";
    bool numbered = dimension && strncmp(dimension, before, strlen(before)) == 0;
    const char *number = numbered ? dimension + strlen(before) : "";
    if (!s->dim)
        return true;
    if (strcmp(s->dim, "all") == 0 || strcmp(s->dim, "each") == 0)
        return (dimension == NULL) == (s->dim[0] == 'a');
    if (strcmp(s->dim, "several") == 0)
        return dimension && !numbered;
    return numbered && strcspn(number, ":") == strlen(s->dim) &&
           strncmp(number, s->dim, strlen(s->dim)) == 0;
}

static double end_of(const json_t *points, size_t i)
{
    return json_number_value(json_array_get(json_array_get(points, i), 0));
}

// The distributions, unless all values are the same; where messages cross several dimensions, those
// of all and of each.
void sheet_messages(struct sheet *s)
{
    const char *key = s->chart->heading;
    const json_t *lines = json_object_get(json_object_get(s->doc, "distributions"), key), *line;
    double low = INFINITY, high = 0;
    bool by_dimension = false;
    size_t i;
    json_array_foreach(lines, i, line)
    {
        const json_t *points = json_object_get(line, "points");
        low = fmin(low, end_of(points, 0));
        high = fmax(high, end_of(points, json_array_size(points) - 1));
        by_dimension |= json_object_get(line, "dimension") != NULL;
    }
    fprintf(s->out, "scenario,policy,%s,share_of_messages_up_to_it%s", key,
            by_dimension ? ",dimension" : "");
    json_array_foreach(lines, i, line)
    {
        const char *dimension = json_string_value(json_object_get(line, "dimension"));
        if (high > low && sheet_wants(s, line) && wants_dimension(s, dimension))
            points_rows(s, line, by_dimension);
    }
}

// ---- parts of time ----

void sheet_path(struct sheet *s, const json_t *run)
{
    const json_t *slowest = sheet_at(run, "metrics.slowest"),
                 *training = sheet_at(run, "metrics.training");
    if (slowest) {
        sheet_parts(s, run, NULL, "", json_object_get(slowest, "parts"), false);
        return;
    }
    if (json_is_array(training)) // of several jobs the first
        training = json_array_get(training, 0);
    json_t *parts = json_object();
    static const char *const keys[] = {"compute_ns", "exposed_comm_ns"};
    for (size_t i = 0; i < 2; i++)
        json_object_set(parts, keys[i], json_object_get(training, keys[i]));
    sheet_parts(s, run, NULL, "", parts, false);
    json_decref(parts);
}

// Collectives of several names or operations; the path of one is that of the run.
void sheet_collectives(struct sheet *s, const json_t *run)
{
    const json_t *list = sheet_at(run, "metrics.collectives"), *one,
                 *first = json_array_get(list, 0);
    bool several = false;
    size_t i;
    json_array_foreach(list, i, one)
    {
        several |= !json_equal(json_object_get(one, "name"), json_object_get(first, "name")) ||
                   !json_equal(json_object_get(one, "op"), json_object_get(first, "op"));
    }
    json_array_foreach(list, i, one)
    {
        if (several)
            sheet_parts(s, run, one, "name op start_ns", sheet_at(one, "critical.parts"), true);
    }
}

static size_t phases_on_path(const json_t *collective)
{
    size_t i, n = 0;
    const json_t *phase;
    json_array_foreach(json_object_get(collective, "phases"), i, phase)
    {
        n += json_integer_value(sheet_at(phase, "critical.total_ns")) > 0;
    }
    return n;
}

// Phases of the collective that ended last.
void sheet_phases(struct sheet *s, const json_t *run)
{
    const json_t *slowest = sheet_at(run, "metrics.slowest"), *one, *phase;
    size_t i, k;
    const char *kind = json_string_value(json_object_get(slowest, "kind"));
    if (!kind || strcmp(kind, "collective") != 0)
        return;
    json_array_foreach(sheet_at(run, "metrics.collectives"), i, one)
    {
        // A single phase is the whole path, which another chart shows.
        if (phases_on_path(one) < 2 ||
            !json_equal(json_object_get(one, "job"), json_object_get(slowest, "job")) ||
            !json_equal(json_object_get(one, "end_ns"), json_object_get(slowest, "end_ns")))
            continue;
        json_array_foreach(json_object_get(one, "phases"), k, phase)
        {
            json_t *named =
                json_pack("{s:o}", "phase",
                          json_sprintf("%s dim%" JSON_INTEGER_FORMAT,
                                       json_string_value(json_object_get(phase, "op")),
                                       json_integer_value(json_object_get(phase, "dim"))));
            sheet_parts(s, run, named, "phase", sheet_at(phase, "critical.parts"), true);
            json_decref(named);
        }
    }
}

void sheet_layers(struct sheet *s, const json_t *run)
{
    static const char *const parts[][2] = {{"compute_ns", "compute"}, {"comm_ns", "communication"}};
    size_t i;
    const json_t *layer;
    json_array_foreach(sheet_at(run, "metrics.slowest.layers"), i, layer)
    {
        for (size_t k = 0; k < 2; k++) {
            const json_t *time = json_object_get(layer, parts[k][0]);
            if (!json_is_number(time))
                continue;
            sheet_run_row(s, run);
            sheet_values(s, layer, "name part");
            sheet_text(s, parts[k][1]);
            sheet_value(s, time);
        }
    }
}

void sheet_places(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *place;
    json_array_foreach(sheet_at(run, "metrics.slowest.places"), i, place)
    {
        if (json_integer_value(json_object_get(place, "ns")) <= 0)
            continue;
        sheet_run_row(s, run);
        sheet_values(s, place, "at cause ns");
    }
}

// ---- compute streams ----

static void stream_rows(struct sheet *s, const json_t *run, const json_t *stream, const char *name)
{
    size_t i;
    const json_t *use;
    sheet_run_row(s, run);
    sheet_text(s, name);
    sheet_text(s, "compute");
    sheet_value(s, json_object_get(stream, "compute_ns"));
    json_array_foreach(json_object_get(stream, "uses"), i, use)
    {
        sheet_run_row(s, run);
        sheet_text(s, name);
        sheet_values(s, use, "name exposed_ns");
        sheet_run_row(s, run);
        sheet_text(s, name);
        sheet_name(s, "waiting for %s", json_string_value(json_object_get(use, "name")));
        sheet_value(s, json_object_get(use, "waiting_ns"));
    }
}

void sheet_streams(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *program;
    json_array_foreach(sheet_at(run, "metrics.programs"), i, program)
    {
        if (json_integer_value(json_object_get(program, "total_ns")) > 0)
            stream_rows(s, run, program, json_string_value(json_object_get(program, "name")));
    }
}

void sheet_ranks(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *rank, *ranks = sheet_at(run, "metrics.ranks");
    bool several = json_array_size(ranks) > 1 && sheet_at(run, "metrics.programs");
    json_array_foreach(ranks, i, rank)
    {
        char name[32];
        snprintf(name, sizeof name, "rank%lld",
                 (long long)json_integer_value(json_object_get(rank, "rank")));
        if (several && json_integer_value(json_object_get(rank, "finish_ns")) > 0)
            stream_rows(s, run, rank, name);
    }
}
