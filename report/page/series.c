// SPDX-License-Identifier: MIT
// Series over time, reduced: the most important lines of each kind, and statistics of all lines.
//
// Where there are more samples than points, a point stands for several samples: the largest for
// queues and pauses, and the smallest for rates and windows, so that neither a short queue nor a
// short cut disappears. A queue pair has values only while it has a message.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "report/page/page_internal.h"
#include "report/series.h"

enum { LINES = 12, OBSERVED_LINES = 4, POINT_BYTES = 9, MIN_POINTS = 60 };

#define NEGLIGIBLE 0.02 // of the first line's score: lines below are left out

enum point { POINT_MAX, POINT_MIN };

static const struct kind {
    const char *key;
    enum point point;
} kinds[] = {{"queue_bytes", POINT_MAX},
             {"paused", POINT_MAX},
             {"rate_bps", POINT_MIN},
             {"cwnd_bytes", POINT_MIN}};
enum { KINDS = sizeof kinds / sizeof *kinds };

// Assignment of samples to points.
struct grid {
    const json_t *t_ns;
    size_t n_samples, every, n_points;
    json_t *open;   // queue pair -> [first ns, last ns, name] of its messages; without = always
    json_t *labels; // of the queue pairs that lines show
};

// The lines of one kind, as points: values[line * n_points + point], NAN = null.
struct group {
    const char **names;
    double *values;
    size_t n, n_points;
};

// ---- points ----

static bool is_open(const struct grid *g, const json_t *span, size_t i)
{
    if (!span)
        return true;
    json_int_t t = json_integer_value(json_array_get(g->t_ns, i));
    return t >= json_integer_value(json_array_get(span, 0)) &&
           t <= json_integer_value(json_array_get(span, 1));
}

static void put_points(const struct grid *g, const json_t *line, const json_t *span,
                       enum point point, double *out)
{
    for (size_t p = 0; p < g->n_points; p++)
        out[p] = (double)NAN;
    for (size_t i = 0; i < g->n_samples; i++) {
        const json_t *value = json_array_get(line, i);
        double *at = &out[i / g->every], v = json_number_value(value);
        if (!json_is_number(value) || !is_open(g, span, i))
            continue;
        if (isnan(*at) || (point == POINT_MAX ? v > *at : v < *at))
            *at = v;
    }
}

static struct group group_read(const struct grid *g, const json_t *lines, enum point point)
{
    struct group group = {.n = json_object_size(lines), .n_points = g->n_points};
    size_t i = 0;
    const char *name;
    json_t *line;
    group.names = memory_zeroed(group.n + 1, sizeof *group.names);
    group.values = memory_zeroed(group.n * g->n_points + 1, sizeof *group.values);
    json_object_foreach((json_t *)(uintptr_t)lines, name, line)
    {
        group.names[i] = name;
        put_points(g, line, json_object_get(g->open, name), point, &group.values[i * g->n_points]);
        i++;
    }
    return group;
}

static const double *points_of(const struct group *group, size_t line)
{
    return &group->values[line * group->n_points];
}

static json_t *points_json(const double *points, size_t n)
{
    json_t *list = json_array();
    for (size_t p = 0; p < n; p++)
        json_array_append_new(list, page_number(points[p]));
    return list;
}

// ---- the lines that matter ----

// Returns the importance of a line for the page. For a queue: its largest value. For a rate or a
// window: the difference between its largest value and its mean, as a share of the largest, so a
// constant line scores 0.
static double score(const double *points, size_t n, enum point point)
{
    double sum = 0, max = 0;
    size_t known = 0;
    for (size_t p = 0; p < n; p++)
        if (!isnan(points[p])) {
            sum += points[p];
            max = known == 0 || points[p] > max ? points[p] : max;
            known++;
        }
    if (known == 0)
        return 0;
    // Of lines with equal maxima, the one with the larger mean comes first.
    double mean = sum / (double)known;
    return point == POINT_MAX ? max + mean * 1e-6 : (max - mean) / (fabs(max) > 0 ? fabs(max) : 1);
}

static json_t *lines_json(const struct grid *g, const struct group *group, enum point point,
                          size_t limit)
{
    json_t *object = json_object();
    struct page_ranked *order = memory_zeroed(group->n + 1, sizeof *order);
    for (size_t i = 0; i < group->n; i++)
        order[i] = (struct page_ranked){score(points_of(group, i), group->n_points, point), i};
    page_rank(order, group->n);
    for (size_t k = 0; k < group->n && k < limit; k++) {
        const char *name = group->names[order[k].index];
        // Lines are ranked, so all that follow are negligible too.
        if (!(order[k].value > 0) || order[k].value < order[0].value * NEGLIGIBLE)
            break;
        json_object_set_new(object, name,
                            points_json(points_of(group, order[k].index), group->n_points));
        json_t *label = json_array_get(json_object_get(g->open, name), 2);
        if (label)
            json_object_set(g->labels, name, label);
    }
    free(order);
    return object;
}

// ---- all lines together ----

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Smallest, median and largest value over the lines, and the number of lines that are not zero.
static void put_together(json_t *out, const struct group *group, enum point point)
{
    static const char *const keys[] = {"low", "median", "high"};
    double *column = memory_zeroed(group->n + 1, sizeof *column);
    json_t *lists[3] = {json_array(), json_array(), json_array()}, *count = json_array();
    for (size_t p = 0; p < group->n_points; p++) {
        size_t n = 0, nonzero = 0;
        for (size_t i = 0; i < group->n; i++) {
            double v = points_of(group, i)[p];
            if (!isnan(v))
                column[n++] = v;
            nonzero += !isnan(v) && v > 0;
        }
        qsort(column, n, sizeof *column, by_value);
        // k = 0, 1 and 2 select the smallest, the median and the largest value of the sorted
        // column.
        for (size_t k = 0; k < 3; k++)
            json_array_append_new(lists[k],
                                  n > 0 ? page_number(column[k * (n - 1) / 2]) : json_null());
        json_array_append_new(count, json_integer((json_int_t)nonzero));
    }
    for (size_t k = point == POINT_MAX ? 2 : 0; k < 3; k++)
        json_object_set(out, keys[k], lists[k]);
    if (point == POINT_MAX)
        json_object_set(out, "count", count);
    for (size_t k = 0; k < 3; k++)
        json_decref(lists[k]);
    json_decref(count);
    free(column);
}

// One kind of series. Nothing if it is zero everywhere, or a rate or window that never changes.
static json_t *kind_json(const struct grid *g, const json_t *lines, enum point point, size_t limit)
{
    struct group group = group_read(g, lines, point);
    json_t *out = NULL;
    json_t *chosen = lines_json(g, &group, point, limit);
    if (json_object_size(chosen) > 0) {
        out = json_object();
        json_object_set_new(out, "of", json_integer((json_int_t)group.n));
        json_object_set(out, "lines", chosen);
        put_together(out, &group, point);
    }
    json_decref(chosen);
    free(group.names);
    free(group.values);
    return out;
}

// ---- values that policies show ----

// {queue pair: {name: line}} as {name: {queue pair: line}}.
static json_t *by_name(const json_t *observe)
{
    json_t *object = json_object(), *fields, *line;
    const char *pair, *name;
    json_object_foreach((json_t *)(uintptr_t)observe, pair, fields)
    {
        json_object_foreach(fields, name, line)
        {
            json_t *lines = json_object_get(object, name);
            if (!lines) {
                lines = json_object();
                json_object_set_new(object, name, lines);
            }
            json_object_set(lines, pair, line);
        }
    }
    return object;
}

static json_t *observe_json(const struct grid *g, const json_t *observe)
{
    json_t *named = by_name(observe), *out = json_object(), *lines;
    const char *name;
    json_object_foreach(named, name, lines)
    {
        page_set(out, name, kind_json(g, lines, POINT_MIN, OBSERVED_LINES));
    }
    json_decref(named);
    if (json_object_size(out) > 0)
        return out;
    json_decref(out);
    return NULL;
}

// ---- messages of queue pairs ----

static void widen(json_t *span, json_int_t first, json_int_t last)
{
    if (first < json_integer_value(json_array_get(span, 0)))
        json_array_set_new(span, 0, json_integer(first));
    if (last > json_integer_value(json_array_get(span, 1)))
        json_array_set_new(span, 1, json_integer(last));
}

// Returns the span in which each queue pair has messages, with the names of its ends.
static json_t *open_spans(const json_t *flows, json_int_t end_ns)
{
    json_t *spans = json_object();
    size_t i;
    const json_t *flow;
    json_array_foreach(flows, i, flow)
    {
        char pair[32];
        const json_t *fct = json_object_get(flow, "fct_ns");
        json_int_t first = json_integer_value(json_object_get(flow, "start_ns"));
        // A message that has not ended is open until the end of the run.
        json_int_t last = json_is_number(fct) ? first + json_integer_value(fct) : end_ns;
        snprintf(pair, sizeof pair, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(json_object_get(flow, "qp")));
        json_t *span = json_object_get(spans, pair);
        if (span)
            widen(span, first, last);
        else
            json_object_set_new(
                spans, pair,
                json_pack("[I, I, o]", first, last,
                          json_sprintf("rank%" JSON_INTEGER_FORMAT
                                       " \xe2\x86\x92 rank%" JSON_INTEGER_FORMAT,
                                       json_integer_value(json_object_get(flow, "src")),
                                       json_integer_value(json_object_get(flow, "dst")))));
    }
    return spans;
}

// ---- the whole ----

static size_t lines_shown(const json_t *series)
{
    json_t *named = by_name(json_object_get(series, "observe"));
    size_t sum = json_object_size(named) * (OBSERVED_LINES + 3);
    json_decref(named);
    for (size_t k = 0; k < KINDS; k++) {
        // A kind has three more lists, over all of its lines.
        size_t n = json_object_size(json_object_get(series, kinds[k].key));
        sum += (n < LINES ? n : LINES) + 3;
    }
    return sum;
}

static json_t *times_json(const struct grid *g)
{
    json_t *list = json_array();
    for (size_t p = 0; p < g->n_points; p++)
        json_array_append(list, json_array_get(g->t_ns, p * g->every));
    return list;
}

json_t *page_series(struct page *page, const json_t *metrics, size_t bytes)
{
    const json_t *series = json_object_get(metrics, "series");
    struct grid g = {.t_ns = json_object_get(series, "t_ns")};
    g.n_samples = json_array_size(g.t_ns);
    if (g.n_samples == 0)
        return NULL;
    // A point takes about POINT_BYTES of the page.
    size_t room = bytes / POINT_BYTES / lines_shown(series);
    room = room < MIN_POINTS ? MIN_POINTS : room;
    g.every = (g.n_samples + room - 1) / room;
    g.n_points = (g.n_samples + g.every - 1) / g.every;
    json_t *out = json_object();
    g.labels = json_object();
    g.open = open_spans(json_object_get(metrics, "flows"),
                        json_integer_value(json_object_get(metrics, "sim_time_ns")));
    json_object_set_new(out, "t_ns", times_json(&g));
    for (size_t k = 0; k < KINDS; k++)
        page_set(out, kinds[k].key,
                 kind_json(&g, json_object_get(series, kinds[k].key), kinds[k].point, LINES));
    page_set(out, "observe", observe_json(&g, json_object_get(series, "observe")));
    json_object_set_new(out, "labels", g.labels);
    json_decref(g.open);
    char *thinned = series_thinned_text(metrics);
    if (thinned)
        page_note(page, "%s", thinned);
    free(thinned);
    if (g.every > 1)
        page_note(
            page,
            "A point of a series stands for up to %zu samples: the largest queue, the smallest "
            "rate or window. series.csv has all samples.",
            g.every);
    return out;
}
