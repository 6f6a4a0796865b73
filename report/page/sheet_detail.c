// SPDX-License-Identifier: MIT
// The data of charts of what a run did inside: series, links, timelines.
#include <stdlib.h>
#include <string.h>

#include "report/page/sheet.h"

static const json_t *series_of(const json_t *run) { return sheet_at(run, "detail.series"); }

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

void sheet_series(struct sheet *s, const json_t *run)
{
    const json_t *series = series_of(run), *group = json_object_get(series, s->chart->path);
    if (!group)
        group = json_object_get(json_object_get(series, "observe"), s->chart->path);
    const char *line;
    json_t *values;
    json_object_foreach(json_object_get(group, "lines"), line, values)
    {
        const json_t *label = json_object_get(json_object_get(series, "labels"), line);
        char *name = label ? text_format("%s (QP %s)", json_string_value(label), line)
                           : text_format("%s", line);
        line_rows(s, run, name, values);
        free(name);
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

void sheet_series_of_all(struct sheet *s, const json_t *run)
{
    size_t i, detailed = 0;
    const json_t *other, *values = sheet_at(series_of(run), s->chart->path);
    json_array_foreach(json_object_get(s->doc, "runs"), i, other)
    {
        detailed += json_object_get(other, "detail") != NULL;
    }
    if (detailed > 1 && any_positive(values))
        line_rows(s, run, NULL, values);
}

// When PFC stopped which port: from the sample that has it stopped to the first one that has not.
void sheet_stopped(struct sheet *s, const json_t *run)
{
    const json_t *series = series_of(run), *times = json_object_get(series, "t_ns");
    const char *port;
    json_t *values;
    json_object_foreach((json_t *)(uintptr_t)sheet_at(series, "paused.lines"), port, values)
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
            // A port that is stopped in the last sample is stopped until the end that is known.
            sheet_value(s, json_array_get(times, i < n ? i : n - 1));
        }
    }
}

// ---- links ----

void sheet_links(struct sheet *s, const json_t *run)
{
    static const char *const columns[] = {"utilization", "max_queue_bytes", "paused_ns",
                                          "dropped_packets", "bytes"};
    const json_t *links = sheet_at(run, "detail.links"), *at;
    size_t i;
    json_array_foreach(json_object_get(links, "at"), i, at)
    {
        sheet_run_row(s, run);
        sheet_value(s, at);
        for (size_t k = 0; k < sizeof columns / sizeof *columns; k++)
            sheet_value(s, json_array_get(json_object_get(links, columns[k]), i));
    }
}

// ---- timelines ----

void sheet_timeline(struct sheet *s, const json_t *run)
{
    static const char *const kinds[] = {"computing", "waiting for communication", "communication",
                                        "messages"};
    const json_t *timeline = sheet_at(run, "detail.timeline"), *slice;
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
        sheet_text(s, kinds[json_integer_value(json_array_get(slice, 3)) & 3]);
    }
}
