// SPDX-License-Identifier: MIT
// Writes time series as JSON and CSV. The keys of flows are queue pair numbers, `qp` of flows[].
#include "report/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/metric_table.h"
#include "report/metrics.h"

static const char *kind_key(int kind) { return series_table.list[1 + kind].key; }

static json_t *value_json(enum series_kind kind, const struct series_line *line, size_t i)
{
    if (i < line->first || (kind == SERIES_CWND && line->values[i] < 0))
        return json_null();
    if (kind == SERIES_OBSERVE)
        return json_real(line->values[i]);
    return json_integer((json_int_t)line->values[i]);
}

static json_t *line_json(const struct series *s, enum series_kind kind,
                         const struct series_line *line)
{
    json_t *array = json_array();
    for (size_t i = 0; i < s->n_samples; i++)
        json_array_append_new(array, value_json(kind, line, i));
    return array;
}

json_t *series_json(const struct result *r)
{
    const struct series *s = r->series;
    json_t *o = json_object(), *t = json_array();
    for (size_t i = 0; i < s->n_samples; i++)
        json_array_append_new(t, json_integer(ns_of_ps((ps_t)i * s->step_ps)));
    json_object_set_new(o, series_table.list[0].key, t);
    for (int kind = 0; kind < SERIES_KINDS; kind++) {
        json_t *group = json_object();
        for (size_t i = 0; i < s->n_lines[kind]; i++) {
            const struct series_line *line = &s->lines[kind][i];
            json_t *values = line_json(s, (enum series_kind)kind, line);
            if (!line->field) {
                json_object_set_new(group, line->key, values);
                continue;
            }
            json_t *flow = json_object_get(group, line->key);
            if (!flow) {
                flow = json_object();
                json_object_set_new(group, line->key, flow);
            }
            json_object_set_new(flow, line->field, values);
        }
        json_object_set_new(o, kind_key(kind), group);
    }
    return o;
}

static void csv_row(FILE *out, const struct series *s, size_t i)
{
    fprintf(out, "%" PRId64, ns_of_ps((ps_t)i * s->step_ps));
    for (int kind = 0; kind < SERIES_KINDS; kind++)
        for (size_t n = 0; n < s->n_lines[kind]; n++) {
            const struct series_line *line = &s->lines[kind][n];
            if (i < line->first || (kind == SERIES_CWND && line->values[i] < 0))
                fputc(',', out);
            else
                fprintf(out, kind == SERIES_OBSERVE ? ",%.10g" : ",%.0f", line->values[i]);
        }
    fputc('\n', out);
}

char *series_csv(const struct result *r)
{
    const struct series *s = r->series;
    if (!s)
        return NULL;
    struct text text;
    FILE *out = text_open(&text);
    fputs(series_table.list[0].key, out);
    for (int kind = 0; kind < SERIES_KINDS; kind++)
        for (size_t n = 0; n < s->n_lines[kind]; n++) {
            const struct series_line *line = &s->lines[kind][n];
            fprintf(out, ",%s:%s%s%s", kind_key(kind), line->key, line->field ? ":" : "",
                    line->field ? line->field : "");
        }
    fputc('\n', out);
    for (size_t i = 0; i < s->n_samples; i++)
        csv_row(out, s, i);
    return text_close(out, &text);
}
