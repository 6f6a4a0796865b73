// SPDX-License-Identifier: MIT
// The data of charts of a sweep: a row for each point and metric, over its seeds.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "report/page/page_internal.h"
#include "report/page/sheet.h"

static const char *role(const json_t *sweep, size_t column)
{
    return json_string_value(json_array_get(json_object_get(sweep, "roles"), column));
}

static bool has_role(const json_t *sweep, size_t column, const char *name)
{
    return strcmp(role(sweep, column), name) == 0;
}

// The number of different texts that `columns` of the rows have.
static size_t n_different(const json_t *rows, const size_t *columns, size_t n)
{
    json_t *seen = json_object();
    size_t i;
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        json_t *key = json_array();
        for (size_t k = 0; k < n; k++)
            json_array_append(key, json_array_get(row, columns[k]));
        char *text = json_dumps(key, JSON_COMPACT);
        json_object_set_new(seen, text, json_true());
        free(text);
        json_decref(key);
    }
    size_t different = json_object_size(seen);
    json_decref(seen);
    return different;
}

// The number of axes that have several values; axes that always change together count as one.
static size_t n_axes(const json_t *sweep)
{
    const json_t *rows = json_object_get(sweep, "rows");
    size_t n = 0, columns = json_array_size(json_object_get(sweep, "columns"));
    for (size_t c = 0; c < columns; c++) {
        size_t values = n_different(rows, &c, 1);
        bool own = has_role(sweep, c, "axis") && values > 1;
        for (size_t before = 0; before < c && own; before++)
            own = !has_role(sweep, before, "axis") || n_different(rows, &before, 1) != values ||
                  n_different(rows, (const size_t[]){before, c}, 2) != values;
        n += own;
    }
    for (size_t c = 0; c < columns && n == 0; c++) // of seeds alone
        n += has_role(sweep, c, "seed") && n_different(rows, &c, 1) > 1;
    return n;
}

// A point: the rows that differ in their seed alone.
struct point {
    const json_t *first;
    const json_t **rows; // that completed
    size_t n;
};

static void point_add(struct point *p, const json_t *row)
{
    p->rows = memory_resize(p->rows, p->n + 1, sizeof *p->rows);
    p->rows[p->n++] = row;
}

// The point of a row; `numbers` has the place of each by the values on its axes.
static struct point *point_of(const json_t *sweep, const json_t *row, struct point *points,
                              size_t *n, json_t *numbers)
{
    json_t *values = json_array();
    for (size_t c = 0; c < json_array_size(row); c++)
        if (has_role(sweep, c, "axis"))
            json_array_append(values, json_array_get(row, c));
    char *key = json_dumps(values, JSON_COMPACT);
    const json_t *known = json_object_get(numbers, key);
    size_t at = known ? (size_t)json_integer_value(known) : (*n)++;
    if (!known) {
        json_object_set_new(numbers, key, json_integer((json_int_t)at));
        points[at].first = row;
    }
    free(key);
    json_decref(values);
    return &points[at];
}

static void metric_row(struct sheet *s, const json_t *sweep, const struct point *p, size_t column)
{
    double sum = 0, low = 0, high = 0;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const json_t *cell = json_array_get(p->rows[i], column);
        double value = json_number_value(cell);
        if (!json_is_number(cell))
            continue;
        sum += value;
        low = n == 0 || value < low ? value : low;
        high = n == 0 || value > high ? value : high;
        n++;
    }
    if (n == 0)
        return;
    sheet_row(s);
    for (size_t c = 0; c < json_array_size(p->first); c++)
        if (has_role(sweep, c, "axis"))
            sheet_value(s, json_array_get(p->first, c));
    sheet_value(s, json_array_get(json_object_get(sweep, "columns"), column));
    const double values[] = {sum / (double)n, low, high, (double)n};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        json_t *value = page_number(values[i]);
        sheet_value(s, value);
        json_decref(value);
    }
}

static void point_rows(struct sheet *s, const json_t *sweep, const struct point *p)
{
    size_t c;
    const json_t *name;
    json_array_foreach(json_object_get(sweep, "columns"), c, name)
    {
        if (has_role(sweep, c, "metric") &&
            (!s->choice || strcmp(s->choice, json_string_value(name)) == 0))
            metric_row(s, sweep, p, c);
    }
}

static bool completed(const json_t *sweep, const json_t *row)
{
    for (size_t c = 0; c < json_array_size(row); c++)
        if (has_role(sweep, c, "status"))
            return strcmp(json_string_value(json_array_get(row, c)), "completed") == 0;
    return false;
}

static void heading(struct sheet *s, const json_t *sweep)
{
    size_t c;
    const json_t *name;
    json_array_foreach(json_object_get(sweep, "columns"), c, name)
    {
        if (has_role(sweep, c, "axis"))
            sheet_value(s, name);
    }
    sheet_text(s, "metric");
    sheet_text(s, "mean");
    sheet_text(s, "low");
    sheet_text(s, "high");
    sheet_text(s, "runs");
}

void sheet_points(struct sheet *s, size_t axes_least)
{
    const json_t *sweep = json_object_get(s->doc, "sweep"), *rows = json_object_get(sweep, "rows");
    size_t n = json_array_size(rows);
    if (n_axes(sweep) < axes_least)
        return;
    heading(s, sweep);
    struct point *points = memory_zeroed(n + 1, sizeof *points);
    size_t n_points = 0, i;
    json_t *numbers = json_object();
    const json_t *row;
    json_array_foreach(rows, i, row)
    {
        struct point *p = point_of(sweep, row, points, &n_points, numbers);
        if (completed(sweep, row))
            point_add(p, row);
    }
    for (i = 0; i < n_points; i++) {
        point_rows(s, sweep, &points[i]);
        free(points[i].rows);
    }
    json_decref(numbers);
    free(points);
}
