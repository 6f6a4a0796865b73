// SPDX-License-Identifier: MIT
// Computes the effects of a sweep's axes. A run ends when its last job does, so its time may fall
// where the time of another job rises: times of jobs are therefore never mixed.
#include "report/page/effects.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "report/page/page_internal.h"

// A point of the grid: the rows that differ in their seed alone.
struct mean_at {
    json_t *values; // on the axes
    double sum, n;
};

// A job, or the runs that have one only.
struct subject {
    const char *job; // NULL = the runs of one job
    size_t column;   // of its time
    struct mean_at *points;
    size_t n, shortest, longest;
    json_t *numbers; // of the points, by their values as text
};

struct effects {
    const json_t *sweep, *rows;
    size_t *axes, n_axes, job, status;
    struct subject *subjects;
    size_t n;
};

static const char *text_in(const json_t *row, size_t column)
{
    return json_string_value(json_array_get(row, column));
}

static double mean_of_point(const struct mean_at *p) { return p->sum / p->n; }

// ---- reading the table ----

static void find_axes(struct effects *e)
{
    size_t n = json_array_size(json_object_get(e->sweep, "columns"));
    e->axes = memory_zeroed(n + 1, sizeof *e->axes);
    e->job = page_sweep_column(e->sweep, "job");
    e->status = page_sweep_column(e->sweep, "status");
    for (size_t c = 0; c < n; c++)
        if (page_sweep_axis(e->sweep, c))
            e->axes[e->n_axes++] = c;
    size_t seed = page_sweep_column(e->sweep, "seed");
    if (e->n_axes == 0 && seed < n) // seeds alone
        e->axes[e->n_axes++] = seed;
}

static bool completed(const struct effects *e, const json_t *row)
{
    const char *status = text_in(row, e->status);
    return status && strcmp(status, "completed") == 0;
}

// True if a row has a time of the subject. A run of several jobs, whose rows follow its own, counts
// by its jobs alone.
static bool is_timed(const struct effects *e, size_t i, const char *job, size_t column)
{
    const json_t *row = json_array_get(e->rows, i);
    const char *own = text_in(row, e->job), *next = text_in(json_array_get(e->rows, i + 1), e->job);
    bool of = own && job ? strcmp(own, job) == 0 : own == job && !next;
    return of && completed(e, row) && json_number_value(json_array_get(row, column)) > 0;
}

static bool has_time(const struct effects *e, const char *job, size_t column)
{
    for (size_t i = 0; i < json_array_size(e->rows); i++)
        if (is_timed(e, i, job, column))
            return true;
    return false;
}

// The column of a subject's time: of a job the time that tables of jobs have, of a run the time of
// what it is about. The number of columns if there is none.
static size_t time_column(const struct effects *e, const char *job)
{
    static const char *const keys[] = {"iteration_ns", "program_ns", "collective_ns", "training_ns",
                                       "time_ns",      "fct_max_ns", "sim_time_ns"};
    enum { KEYS = sizeof keys / sizeof *keys };
    size_t n = json_array_size(json_object_get(e->sweep, "columns"));
    for (size_t k = job ? KEYS - 1 : 0; k < KEYS; k++) {
        size_t column = page_sweep_column(e->sweep, keys[k]);
        if (column < n && has_time(e, job, column))
            return column;
    }
    return n;
}

static void subject_add(struct effects *e, const char *job)
{
    size_t column = time_column(e, job);
    if (column == json_array_size(json_object_get(e->sweep, "columns")))
        return;
    e->subjects = memory_resize(e->subjects, e->n + 1, sizeof *e->subjects);
    e->subjects[e->n++] = (struct subject){.job = job, .column = column, .numbers = json_object()};
}

static void find_subjects(struct effects *e)
{
    json_t *seen = json_object();
    size_t i;
    const json_t *row;
    json_array_foreach(e->rows, i, row)
    {
        const char *job = text_in(row, e->job);
        if (job && !json_object_get(seen, job)) {
            json_object_set_new(seen, job, json_true());
            subject_add(e, job);
        }
    }
    subject_add(e, NULL); // runs of one job
    json_decref(seen);
}

// The values of a row on all axes but one, as a text; to be freed.
static char *key_without(const json_t *values, size_t axis)
{
    json_t *others = json_array();
    for (size_t a = 0; a < json_array_size(values); a++)
        if (a != axis)
            json_array_append(others, json_array_get(values, a));
    char *key = json_dumps(others, JSON_COMPACT);
    json_decref(others);
    return key;
}

static void point_add(const struct effects *e, struct subject *s, const json_t *row)
{
    json_t *values = json_array();
    for (size_t a = 0; a < e->n_axes; a++)
        json_array_append(values, json_array_get(row, e->axes[a]));
    char *key = key_without(values, e->n_axes);
    const json_t *number = json_object_get(s->numbers, key);
    size_t at = number ? (size_t)json_integer_value(number) : s->n;
    if (!number) {
        s->points = memory_resize(s->points, s->n + 1, sizeof *s->points);
        s->points[s->n++] = (struct mean_at){.values = json_incref(values)};
        json_object_set_new(s->numbers, key, json_integer((json_int_t)at));
    }
    s->points[at].sum += json_number_value(json_array_get(row, s->column));
    s->points[at].n++;
    free(key);
    json_decref(values);
}

static void find_points(const struct effects *e, struct subject *s)
{
    size_t i;
    const json_t *row;
    json_array_foreach(e->rows, i, row)
    {
        if (is_timed(e, i, s->job, s->column))
            point_add(e, s, row);
    }
    for (i = 1; i < s->n; i++) {
        double mean = mean_of_point(&s->points[i]);
        s->shortest = mean < mean_of_point(&s->points[s->shortest]) ? i : s->shortest;
        s->longest = mean > mean_of_point(&s->points[s->longest]) ? i : s->longest;
    }
}

// ---- effects ----

// The largest ratio of two times that differ on one axis alone; 0 where no two do.
static double axis_effect(const struct subject *s, size_t axis)
{
    double *low = memory_zeroed(s->n + 1, sizeof *low),
           *high = memory_zeroed(s->n + 1, sizeof *high), most = 0;
    json_t *groups = json_object();
    for (size_t i = 0; i < s->n; i++) {
        char *key = key_without(s->points[i].values, axis);
        const json_t *known = json_object_get(groups, key);
        size_t g = known ? (size_t)json_integer_value(known) : i;
        double mean = mean_of_point(&s->points[i]);
        if (!known)
            json_object_set_new(groups, key, json_integer((json_int_t)g));
        low[g] = !known || mean < low[g] ? mean : low[g];
        high[g] = mean > high[g] ? mean : high[g];
        if (known && high[g] / low[g] > most)
            most = high[g] / low[g];
        free(key);
    }
    json_decref(groups);
    free(low);
    free(high);
    return most;
}

static const char *axis_name(const struct effects *e, size_t axis)
{
    return text_in(json_object_get(e->sweep, "columns"), e->axes[axis]);
}

static json_t *axes_json(const struct effects *e, const struct subject *s)
{
    json_t *axes = json_object();
    for (size_t a = 0; a < e->n_axes; a++) {
        double ratio = axis_effect(s, a);
        if (ratio > 0)
            json_object_set_new(axes, axis_name(e, a), json_real(ratio));
    }
    return axes;
}

// True if another value of one axis alone gives another time than that of a point.
static bool matters_at(const struct subject *s, const struct mean_at *p, size_t axis)
{
    double low = mean_of_point(p), high = low;
    char *own = key_without(p->values, axis);
    for (size_t i = 0; i < s->n; i++) {
        char *key = key_without(s->points[i].values, axis);
        double mean = mean_of_point(&s->points[i]);
        bool same = strcmp(key, own) == 0;
        low = same && mean < low ? mean : low;
        high = same && mean > high ? mean : high;
        free(key);
    }
    free(own);
    return high >= low * EFFECT_LEAST;
}

static json_t *point_json(const struct effects *e, const struct subject *s, size_t point)
{
    const struct mean_at *p = &s->points[point];
    json_t *at = json_object(), *matters = json_array();
    bool alone = false; // some axis changes the time of this point by itself
    for (size_t a = 0; a < e->n_axes; a++) {
        json_object_set(at, axis_name(e, a), json_array_get(p->values, a));
        alone |= matters_at(s, p, a);
    }
    for (size_t a = 0; a < e->n_axes; a++)
        if (alone ? matters_at(s, p, a) : axis_effect(s, a) >= EFFECT_LEAST)
            json_array_append_new(matters, json_string(axis_name(e, a)));
    return json_pack("{s:o, s:o, s:o}", "ns", page_number(mean_of_point(p)), "at", at, "matters",
                     matters);
}

// The time of another job where this one is within 1 % of its shortest, by that job's own shortest;
// the least of several such points, 0 where there is none.
static double ratio_of_other(const struct subject *s, const struct subject *other)
{
    double shortest = mean_of_point(&s->points[s->shortest]), least = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (mean_of_point(&s->points[i]) >= shortest * EFFECT_LEAST)
            continue;
        char *key = key_without(s->points[i].values, json_array_size(s->points[i].values));
        const json_t *number = json_object_get(other->numbers, key);
        free(key);
        if (!number)
            continue;
        double ratio = mean_of_point(&other->points[json_integer_value(number)]) /
                       mean_of_point(&other->points[other->shortest]);
        least = least > 0 && least <= ratio ? least : ratio;
    }
    return least;
}

static json_t *others_json(const struct effects *e, const struct subject *s)
{
    json_t *others = json_object();
    for (size_t i = 0; i < e->n; i++) {
        const struct subject *other = &e->subjects[i];
        double ratio = other != s && other->job ? ratio_of_other(s, other) : 0;
        if (ratio > 0)
            json_object_set_new(others, other->job, json_real(ratio));
    }
    return others;
}

static json_t *subject_json(const struct effects *e, const struct subject *s)
{
    json_t *one = json_object();
    json_object_set_new(one, "job", s->job ? json_string(s->job) : json_null());
    json_object_set(one, "metric", json_array_get(json_object_get(e->sweep, "columns"), s->column));
    json_object_set_new(one, "points", json_integer((json_int_t)s->n));
    json_object_set_new(one, "axes", axes_json(e, s));
    json_object_set_new(one, "shortest", point_json(e, s, s->shortest));
    json_object_set_new(one, "longest", point_json(e, s, s->longest));
    json_object_set_new(one, "others", s->job ? others_json(e, s) : json_object());
    return one;
}

static void effects_free(struct effects *e)
{
    for (size_t i = 0; i < e->n; i++) {
        for (size_t k = 0; k < e->subjects[i].n; k++)
            json_decref(e->subjects[i].points[k].values);
        free(e->subjects[i].points);
        json_decref(e->subjects[i].numbers);
    }
    free(e->subjects);
    free(e->axes);
}

json_t *sweep_effects(const json_t *sweep)
{
    struct effects e = {.sweep = sweep, .rows = json_object_get(sweep, "rows")};
    json_t *list = json_array();
    find_axes(&e);
    find_subjects(&e);
    for (size_t i = 0; i < e.n; i++)
        find_points(&e, &e.subjects[i]);
    for (size_t i = 0; i < e.n; i++)
        json_array_append_new(list, subject_json(&e, &e.subjects[i]));
    effects_free(&e);
    return list;
}
