// SPDX-License-Identifier: MIT
// The data of charts of what a run did inside: series, links, pauses, timelines.
#include <stdlib.h>
#include <string.h>

#include "report/page/sheet.h"

static const json_t *detail(const json_t *run, const char *key)
{
    return json_object_get(json_object_get(run, "detail"), key);
}

static const json_t *series_of(const json_t *run) { return detail(run, "series"); }

// ---- series ----

static void line_rows(struct sheet *s, const json_t *run, const char *line, const json_t *values)
{
    size_t i;
    const json_t *value, *times = json_object_get(series_of(run), "t_ns");
    json_array_foreach(values, i, value)
    {
        if (json_is_null(value))
            continue;
        sheet_run_row(s, run);
        if (line)
            sheet_text(s, line);
        sheet_value(s, json_array_get(times, i));
        sheet_value(s, value);
    }
}

void sheet_series(struct sheet *s, const char *kind, const char *heading)
{
    size_t i;
    const json_t *run;
    fprintf(s->out, "scenario,policy,seed,line,time_ns,%s", heading);
    json_array_foreach(json_object_get(s->doc, "runs"), i, run)
    {
        const json_t *series = series_of(run), *group = json_object_get(series, kind);
        if (!group)
            group = json_object_get(json_object_get(series, "observe"), kind);
        const char *line;
        json_t *values;
        if (!sheet_wants(s, run))
            continue;
        json_object_foreach(json_object_get(group, "lines"), line, values)
        {
            const json_t *label = json_object_get(json_object_get(series, "labels"), line);
            char *name = label ? text_format("%s (QP %s)", json_string_value(label), line)
                               : text_format("%s", line);
            line_rows(s, run, name, values);
            free(name);
        }
    }
}

static bool any_positive(const json_t *values)
{
    size_t i;
    const json_t *value;
    json_array_foreach(values, i, value)
    {
        if (json_number_value(value) > 0)
            return true;
    }
    return false;
}

void sheet_series_of_all(struct sheet *s, const char *kind, const char *of, const char *heading)
{
    size_t i, detailed = 0;
    const json_t *run, *runs = json_object_get(s->doc, "runs");
    fprintf(s->out, "scenario,policy,seed,time_ns,%s", heading);
    json_array_foreach(runs, i, run) { detailed += json_object_get(run, "detail") != NULL; }
    json_array_foreach(runs, i, run)
    {
        const json_t *values = json_object_get(json_object_get(series_of(run), kind), of);
        if (detailed > 1 && sheet_wants(s, run) && any_positive(values))
            line_rows(s, run, NULL, values);
    }
}

// When PFC stopped which port: from the sample that has it stopped to the first one that has not.
static void stopped_rows(struct sheet *s, const json_t *run)
{
    const json_t *series = series_of(run), *times = json_object_get(series, "t_ns");
    const char *port;
    json_t *values;
    json_object_foreach(json_object_get(json_object_get(series, "paused"), "lines"), port, values)
    {
        size_t n = json_array_size(values);
        for (size_t i = 0; i < n; i++) {
            size_t from = i;
            while (i < n && json_integer_value(json_array_get(values, i)) != 0)
                i++;
            if (i == from)
                continue;
            sheet_run_row(s, run);
            sheet_text(s, port);
            sheet_value(s, json_array_get(times, from));
            sheet_value(s, json_array_get(times, i < n ? i : n - 1));
        }
    }
}

void sheet_stopped(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,port,from_ns,to_ns");
    sheet_each_run(s, stopped_rows);
}

// ---- links and pauses ----

static const char *const link_keys[] = {"utilization", "max_queue_bytes", "paused_ns",
                                        "dropped_packets", "bytes"};
enum { LINK_KEYS = sizeof link_keys / sizeof *link_keys };

static void link_rows(struct sheet *s, const json_t *run)
{
    const json_t *links = detail(run, "links"), *at;
    size_t i;
    json_array_foreach(json_object_get(links, "at"), i, at)
    {
        sheet_run_row(s, run);
        sheet_value(s, at);
        for (size_t k = 0; k < LINK_KEYS; k++)
            sheet_value(s, json_array_get(json_object_get(links, link_keys[k]), i));
    }
}

void sheet_links(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,link");
    for (size_t k = 0; k < LINK_KEYS; k++)
        fprintf(s->out, ",%s", link_keys[k]);
    sheet_each_run(s, link_rows);
}

static void pause_rows(struct sheet *s, const json_t *run)
{
    size_t i;
    const json_t *port;
    json_array_foreach(json_object_get(detail(run, "pfc"), "ports"), i, port)
    {
        sheet_run_row(s, run);
        sheet_value(s, json_object_get(port, "at"));
        sheet_value(s, json_object_get(port, "class"));
        sheet_value(s, json_object_get(port, "paused_ns"));
        sheet_value(s, json_object_get(port, "pauses"));
    }
}

void sheet_pauses(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,stopped_port,class,stopped_ns,pauses");
    sheet_each_run(s, pause_rows);
}

// ---- timelines ----

static const char *const slice_kinds[] = {"computing", "waiting for communication", "communication",
                                          "messages"};

static void slice_rows(struct sheet *s, const json_t *run)
{
    const json_t *timeline = detail(run, "timeline"), *slice;
    size_t i;
    json_array_foreach(json_object_get(timeline, "slices"), i, slice)
    {
        size_t row = (size_t)json_integer_value(json_array_get(slice, 0)),
               name = (size_t)json_integer_value(json_array_get(slice, 4));
        sheet_run_row(s, run);
        sheet_value(s, json_array_get(json_object_get(timeline, "rows"), row));
        sheet_value(s, json_array_get(json_object_get(timeline, "names"), name));
        sheet_value(s, json_array_get(slice, 1));
        sheet_value(s, json_array_get(slice, 2));
        sheet_text(s, slice_kinds[json_integer_value(json_array_get(slice, 3)) & 3]);
    }
}

void sheet_timeline(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,row,slice,from_ns,duration_ns,kind");
    sheet_each_run(s, slice_rows);
}
