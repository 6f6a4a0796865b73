// SPDX-License-Identifier: MIT
// The data of charts of a sweep: a row for each point and metric, over its seeds.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
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

// True for the column of jobs, which the page does not draw over.
static bool is_job(const json_t *sweep, size_t column)
{
    const json_t *name = json_array_get(json_object_get(sweep, "columns"), column);
    return strcmp(json_string_value(name), "job") == 0;
}

bool page_sweep_axis(const json_t *sweep, size_t column)
{
    const json_t *rows = json_object_get(sweep, "rows");
    if (!has_role(sweep, column, "axis") || is_job(sweep, column))
        return false;
    size_t values = n_different(rows, &column, 1);
    bool own = values > 1;
    // An axis that always changes together with an earlier one adds nothing: the pair has as many
    // different values as each of them.
    for (size_t before = 0; before < column && own; before++)
        own = !has_role(sweep, before, "axis") || n_different(rows, &before, 1) != values ||
              n_different(rows, (const size_t[]){before, column}, 2) != values;
    return own;
}

// The number of axes that have several values; axes that always change together count as one.
static size_t n_axes(const json_t *sweep)
{
    const json_t *rows = json_object_get(sweep, "rows");
    size_t n = 0, columns = json_array_size(json_object_get(sweep, "columns"));
    for (size_t c = 0; c < columns; c++)
        n += page_sweep_axis(sweep, c);
    for (size_t c = 0; c < columns && n == 0; c++) // of seeds or jobs alone
        n += (has_role(sweep, c, "seed") || is_job(sweep, c)) && n_different(rows, &c, 1) > 1;
    return n;
}

// ---- points ----

// A point: the rows that differ in their seed alone.
struct point {
    size_t number; // of its first row
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
static struct point *point_of(const json_t *sweep, size_t number, struct point *points, size_t *n,
                              json_t *numbers)
{
    const json_t *row = json_array_get(json_object_get(sweep, "rows"), number);
    json_t *values = json_array();
    // The seed is no axis, so runs that differ in it alone are one point.
    for (size_t c = 0; c < json_array_size(row); c++)
        if (has_role(sweep, c, "axis"))
            json_array_append(values, json_array_get(row, c));
    char *key = json_dumps(values, JSON_COMPACT);
    const json_t *known = json_object_get(numbers, key);
    size_t at = known ? (size_t)json_integer_value(known) : (*n)++;
    if (!known) {
        json_object_set_new(numbers, key, json_integer((json_int_t)at));
        points[at].first = row;
        points[at].number = number;
    }
    free(key);
    json_decref(values);
    return &points[at];
}

static bool completed(const json_t *sweep, const json_t *row)
{
    for (size_t c = 0; c < json_array_size(row); c++)
        if (has_role(sweep, c, "status"))
            return strcmp(json_string_value(json_array_get(row, c)), "completed") == 0;
    return false;
}

// All points with their rows; to be freed with points_free().
static struct point *points_of(const json_t *sweep, size_t *n)
{
    const json_t *rows = json_object_get(sweep, "rows"), *row;
    struct point *points = memory_zeroed(json_array_size(rows) + 1, sizeof *points);
    json_t *numbers = json_object();
    size_t i;
    *n = 0;
    json_array_foreach(rows, i, row)
    {
        struct point *p = point_of(sweep, i, points, n, numbers);
        if (completed(sweep, row))
            point_add(p, row);
    }
    json_decref(numbers);
    return points;
}

static void points_free(struct point *points, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(points[i].rows);
    free(points);
}

// ---- their data ----

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

void sheet_points(struct sheet *s)
{
    const json_t *sweep = json_object_get(s->doc, "sweep");
    if (n_axes(sweep) < s->chart->least)
        return;
    heading(s, sweep);
    size_t n;
    struct point *points = points_of(sweep, &n);
    for (size_t i = 0; i < n; i++)
        point_rows(s, sweep, &points[i]);
    points_free(points, n);
}

// ---- intervals ----

// The interval of a metric's mean over the seeds of a point; NULL = there is none.
static json_t *interval_of(const struct point *p, size_t column, page_interval *interval)
{
    double *values = memory_zeroed(p->n + 1, sizeof *values), low, high;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const json_t *cell = json_array_get(p->rows[i], column);
        if (json_is_number(cell))
            values[n++] = json_number_value(cell);
    }
    json_t *pair = interval(values, n, &low, &high)
                       ? json_pack("[o, o]", page_number(low), page_number(high))
                       : NULL;
    free(values);
    return pair;
}

// The intervals of a metric by the number of the first row of each point; NULL = there are none.
static json_t *metric_intervals(const struct point *points, size_t n, size_t column,
                                page_interval *interval)
{
    json_t *object = json_object();
    for (size_t i = 0; i < n; i++) {
        char key[24];
        snprintf(key, sizeof key, "%zu", points[i].number);
        page_set(object, key, interval_of(&points[i], column, interval));
    }
    if (json_object_size(object) > 0)
        return object;
    json_decref(object);
    return NULL;
}

void page_add_intervals(struct page *page, page_interval *interval, size_t limit)
{
    json_t *sweep = json_object_get(page->root, "sweep"), *all = json_object();
    const json_t *name;
    size_t n, done = 0, c;
    struct point *points = points_of(sweep, &n);
    json_array_foreach(json_object_get(sweep, "columns"), c, name)
    {
        // The metrics come in the order of the columns; those beyond the room of the page have no
        // interval.
        if (!has_role(sweep, c, "metric") || done + n > limit)
            continue;
        json_t *own = metric_intervals(points, n, c, interval);
        done += own ? n : 0;
        page_set(all, json_string_value(name), own);
    }
    points_free(points, n);
    if (json_object_size(all) > 0)
        json_object_set(sweep, "intervals", all);
    json_decref(all);
}
