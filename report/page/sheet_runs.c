// SPDX-License-Identifier: MIT
// The data of charts of whole runs: metrics, distributions of messages, and parts of time.
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
    sheet_run_row(s, run);
    const json_t *status = json_object_get(run, "status");
    sheet_text(s, status ? json_string_value(status) : "failed");
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        if (is_shown(s, c))
            sheet_value(s, json_object_get(json_object_get(run, "values"), row_columns[c].key));
}

void sheet_policies(struct sheet *s)
{
    size_t shown = 0;
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        shown += is_shown(s, c);
    if (s->choice && shown == 0) // no run has such a metric, so there is no chart
        return;
    sheet_heading(s, "scenario,policy,seed,status");
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        if (is_shown(s, c))
            fprintf(s->out, ",%s", row_columns[c].key);
    sheet_each_run(s, metrics_row);
}

// ---- messages ----

static void points_rows(struct sheet *s, const json_t *line, bool of_dimensions)
{
    size_t i;
    const json_t *point, *dimension = json_object_get(line, "dimension");
    json_array_foreach(json_object_get(line, "points"), i, point)
    {
        sheet_row(s);
        sheet_value(s, json_object_get(line, "scenario"));
        sheet_value(s, json_object_get(line, "policy"));
        sheet_value(s, json_array_get(point, 0));
        sheet_value(s, json_array_get(point, 1));
        if (of_dimensions && dimension)
            sheet_value(s, dimension);
        else if (of_dimensions)
            sheet_name(s, "all");
    }
}

// The distributions of the scenarios in which values differ; where messages cross several
// dimensions, those of all and of each.
void sheet_messages(struct sheet *s, const char *key)
{
    const json_t *all = json_object_get(s->doc, "distributions"),
                 *lines = json_object_get(all, key), *line,
                 *parts = json_object_get(json_object_get(all, "by_dimension"), key);
    double low = 0, high = 0;
    size_t i;
    json_array_foreach(lines, i, line)
    {
        const json_t *points = json_object_get(line, "points");
        double first = json_number_value(json_array_get(json_array_get(points, 0), 0)),
               last = json_number_value(
                   json_array_get(json_array_get(points, json_array_size(points) - 1), 0));
        low = i == 0 || first < low ? first : low;
        high = last > high ? last : high;
    }
    bool several = json_array_size(parts) > 0;
    fprintf(s->out, "scenario,policy,%s,share_of_messages_up_to_it%s", key,
            several ? ",dimension" : "");
    json_array_foreach(lines, i, line)
    {
        if (high > low && sheet_wants(s, line))
            points_rows(s, line, several);
    }
    json_array_foreach(parts, i, line)
    {
        if (high > low && sheet_wants(s, line))
            points_rows(s, line, several);
    }
}

// ---- parts of time ----

// A row for each part of an object {part_ns: time}.
static void parts_rows(struct sheet *s, const json_t *run, const json_t *name, const json_t *parts)
{
    const char *key;
    json_t *time;
    json_object_foreach((json_t *)(uintptr_t)parts, key, time)
    {
        if (!(json_number_value(time) > 0))
            continue;
        sheet_run_row(s, run);
        if (name)
            sheet_value(s, name);
        sheet_name(s, "%.*s", (int)(strlen(key) - strlen(strstr(key, "_ns") ? "_ns" : "")), key);
        sheet_value(s, time);
    }
}

static void path_rows(struct sheet *s, const json_t *run)
{
    const json_t *slowest = json_object_get(run, "slowest"),
                 *training = json_array_get(json_object_get(run, "training"), 0);
    if (slowest) {
        parts_rows(s, run, NULL, json_object_get(slowest, "parts"));
        return;
    }
    json_t *parts = json_object();
    static const char *const keys[] = {"compute_ns", "exposed_comm_ns"};
    for (size_t i = 0; i < 2; i++)
        json_object_set(parts, keys[i], json_object_get(training, keys[i]));
    parts_rows(s, run, NULL, parts);
    json_decref(parts);
}

void sheet_parts(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,part,time_ns");
    sheet_each_run(s, path_rows);
}

static void collective_rows(struct sheet *s, const json_t *run)
{
    json_t *names = json_object();
    const json_t *list = json_object_get(run, "collectives"), *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        char *name = text_format("%s %s", json_string_value(json_object_get(one, "name")),
                                 json_string_value(json_object_get(one, "op")));
        json_object_set_new(names, name, json_true());
        free(name);
    }
    json_array_foreach(list, i, one)
    {
        const json_t *parts = json_object_get(json_object_get(one, "critical"), "parts");
        const char *key;
        json_t *time;
        if (json_object_size(names) < 2)
            break; // the path of the run is that of its collective
        json_object_foreach((json_t *)(uintptr_t)parts, key, time)
        {
            sheet_run_row(s, run);
            sheet_value(s, json_object_get(one, "name"));
            sheet_value(s, json_object_get(one, "op"));
            sheet_value(s, json_object_get(one, "start_ns"));
            sheet_name(s, "%.*s", (int)strlen(key) - 3, key);
            sheet_value(s, time);
        }
    }
    json_decref(names);
}

void sheet_collectives(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,collective,op,start_ns,part,time_ns");
    sheet_each_run(s, collective_rows);
}

static void stage_rows(struct sheet *s, const json_t *run, const json_t *name, const json_t *stage)
{
    const char *key;
    json_t *time;
    json_object_foreach(json_object_get(stage, "parts"), key, time)
    {
        sheet_run_row(s, run);
        sheet_value(s, name);
        sheet_name(s, "%.*s", (int)strlen(key) - 3, key);
        sheet_value(s, time);
    }
}

static void iteration_rows(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *one, *list = json_object_get(json_object_get(run, "slowest"), "iterations");
    if (json_array_size(list) < 2)
        return; // the path is that of one
    json_array_foreach(list, i, one) stage_rows(s, run, json_object_get(one, "iteration"), one);
}

void sheet_iterations(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,iteration,part,time_ns");
    sheet_each_run(s, iteration_rows);
}

static size_t phases_on_path(const json_t *collective)
{
    size_t i, n = 0;
    const json_t *phase;
    json_array_foreach(json_object_get(collective, "phases"), i, phase)
    {
        const json_t *critical = json_object_get(phase, "critical");
        n += json_integer_value(json_object_get(critical, "total_ns")) > 0;
    }
    return n;
}

// Phases of the collective that ended last.
static void phase_rows(struct sheet *s, const json_t *run)
{
    const json_t *slowest = json_object_get(run, "slowest"), *one, *phase;
    size_t i, k;
    const char *kind = json_string_value(json_object_get(slowest, "kind"));
    if (!kind || strcmp(kind, "collective") != 0)
        return;
    json_array_foreach(json_object_get(run, "collectives"), i, one)
    {
        if (phases_on_path(one) < 2 ||
            !json_equal(json_object_get(one, "job"), json_object_get(slowest, "job")) ||
            !json_equal(json_object_get(one, "end_ns"), json_object_get(slowest, "end_ns")))
            continue;
        json_array_foreach(json_object_get(one, "phases"), k, phase)
        {
            json_t *name = json_sprintf("%s dim%" JSON_INTEGER_FORMAT,
                                        json_string_value(json_object_get(phase, "op")),
                                        json_integer_value(json_object_get(phase, "dim")));
            stage_rows(s, run, name, json_object_get(phase, "critical"));
            json_decref(name);
        }
    }
}

void sheet_phases(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,phase,part,time_ns");
    sheet_each_run(s, phase_rows);
}

static void layer_rows(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *layer;
    json_array_foreach(json_object_get(json_object_get(run, "slowest"), "layers"), i, layer)
    {
        static const char *const keys[] = {"compute_ns", "comm_ns"};
        for (size_t k = 0; k < 2; k++) {
            if (!json_is_number(json_object_get(layer, keys[k])))
                continue;
            sheet_run_row(s, run);
            sheet_value(s, json_object_get(layer, "name"));
            sheet_value(s, json_object_get(layer, "part"));
            sheet_text(s, k == 0 ? "compute" : "communication");
            sheet_value(s, json_object_get(layer, keys[k]));
        }
    }
}

void sheet_layers(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,layer,pass,part,time_ns");
    sheet_each_run(s, layer_rows);
}

static void place_rows(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *place;
    json_array_foreach(json_object_get(json_object_get(run, "slowest"), "places"), i, place)
    {
        if (json_integer_value(json_object_get(place, "ns")) <= 0)
            continue;
        sheet_run_row(s, run);
        sheet_value(s, json_object_get(place, "at"));
        sheet_value(s, json_object_get(place, "cause"));
        sheet_value(s, json_object_get(place, "ns"));
    }
}

void sheet_places(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,place,cause,time_ns");
    sheet_each_run(s, place_rows);
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
        sheet_value(s, json_object_get(use, "name"));
        sheet_value(s, json_object_get(use, "exposed_ns"));
        sheet_run_row(s, run);
        sheet_text(s, name);
        sheet_name(s, "waiting for %s", json_string_value(json_object_get(use, "name")));
        sheet_value(s, json_object_get(use, "waiting_ns"));
    }
}

static void program_rows(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *program;
    json_array_foreach(json_object_get(run, "programs"), i, program)
    {
        if (json_integer_value(json_object_get(program, "total_ns")) > 0)
            stream_rows(s, run, program, json_string_value(json_object_get(program, "name")));
    }
}

void sheet_streams(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,program,part,time_ns");
    sheet_each_run(s, program_rows);
}

static void rank_rows(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *rank, *ranks = json_object_get(run, "ranks");
    json_array_foreach(ranks, i, rank)
    {
        char name[32];
        snprintf(name, sizeof name, "rank%lld",
                 (long long)json_integer_value(json_object_get(rank, "rank")));
        if (json_array_size(ranks) > 1 &&
            json_integer_value(json_object_get(rank, "finish_ns")) > 0)
            stream_rows(s, run, rank, name);
    }
}

void sheet_ranks(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,rank,part,time_ns");
    sheet_each_run(s, rank_rows);
}
