// SPDX-License-Identifier: MIT
// Writes time series as JSON and CSV. The keys of flows are queue pair numbers, `qp` of flows[].
#include "report/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"
#include "report/metric_table.h"
#include "report/metrics.h"

static const char *kind_key(int kind) { return series_table.list[1 + kind].key; }

static void write_value(struct json_writer *w, enum series_kind kind,
                        const struct series_line *line, size_t i)
{
    if (i < line->first || (kind == SERIES_CWND && line->values[i] < 0))
        json_writer_null(w);
    else if (kind == SERIES_OBSERVE)
        json_writer_real(w, line->values[i]);
    else
        json_writer_integer(w, (int64_t)line->values[i]);
}

static void write_line(struct json_writer *w, const struct series *s, enum series_kind kind,
                       const struct series_line *line)
{
    json_writer_list(w);
    for (size_t i = 0; i < s->n_samples; i++)
        write_value(w, kind, line, i);
    json_writer_end(w);
}

// The lines of a kind by key; those with fields, which follow each other, are in an object a key.
static void write_kind(struct json_writer *w, const struct series *s, enum series_kind kind)
{
    const struct series_line *before = NULL;
    json_writer_object(w);
    for (size_t i = 0; i < s->n_lines[kind]; i++) {
        const struct series_line *line = &s->lines[kind][i];
        bool same = before && before->field && line->field && strcmp(before->key, line->key) == 0;
        if (before && before->field && !same)
            json_writer_end(w);
        if (!same)
            json_writer_key(w, line->key);
        if (line->field && !same)
            json_writer_object(w);
        if (line->field)
            json_writer_key(w, line->field);
        write_line(w, s, kind, line);
        before = line;
    }
    if (before && before->field)
        json_writer_end(w);
    json_writer_end(w);
}

void series_write(struct json_writer *w, const struct series *s)
{
    json_writer_object(w);
    json_writer_key(w, series_table.list[0].key);
    json_writer_list(w);
    for (size_t i = 0; i < s->n_samples; i++)
        json_writer_integer(w, ns_of_ps((ps_t)i * s->step_ps));
    json_writer_end(w);
    for (int kind = 0; kind < SERIES_KINDS; kind++) {
        json_writer_key(w, kind_key(kind));
        write_kind(w, s, (enum series_kind)kind);
    }
    json_writer_end(w);
}

// ---- what was left out ----

bool series_thinned(const struct series *s)
{
    return s->step_ps != s->asked_ps || s->n_left_out > 0;
}

char *series_thinned_text(const json_t *metrics)
{
    const json_t *thinned = json_object_get(metrics, "thinned");
    json_int_t asked = json_integer_value(json_object_get(thinned, "asked_ns")),
               step = json_integer_value(json_object_get(thinned, "step_ns")),
               all = json_integer_value(json_object_get(thinned, "queue_pairs")),
               out = json_integer_value(json_object_get(thinned, "queue_pairs_left_out"));
    char want[UNIT_TEXT], has[UNIT_TEXT];
    if (!thinned)
        return NULL;
    char *steps = step == asked ? text_format("%s", "")
                                : text_format(" are of every %s, not of every %s",
                                              human_time((ps_t)step * PS_PER_NS, has),
                                              human_time((ps_t)asked * PS_PER_NS, want));
    char *pairs = out == 0
                      ? text_format("%s", "")
                      : text_format("%s leave out %lld of %lld queue pairs",
                                    step == asked ? "" : " and", (long long)out, (long long)all);
    char *text = text_format("series%s%s: fewer places (report.sample_at), or a longer "
                             "report.sample, keep all",
                             steps, pairs);
    free(steps);
    free(pairs);
    return text;
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

bool series_csv(FILE *out, const struct result *r)
{
    const struct series *s = r->series;
    if (!s)
        return false;
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
    return true;
}
