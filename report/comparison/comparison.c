// SPDX-License-Identifier: MIT
// Groups rows and computes the statistics of each policy.
#include "report/comparison/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "report/path_shares.h"

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool completed(const struct row *row) { return strcmp(row->status, "completed") == 0; }

/* ---- grouping ---- */

static struct group *group_of(struct comparison *c, const struct row *row)
{
    for (size_t g = 0; g < c->n; g++)
        if (same_text(c->groups[g].scenario, row->scenario) &&
            same_text(c->groups[g].job, row->job))
            return &c->groups[g];
    c->groups = memory_resize(c->groups, c->n + 1, sizeof *c->groups);
    c->groups[c->n] = (struct group){.scenario = row->scenario, .job = row->job};
    return &c->groups[c->n++];
}

static struct outcome *outcome_of(struct group *g, const char *name)
{
    for (size_t o = 0; o < g->n; o++)
        if (strcmp(g->outcomes[o].name, name) == 0)
            return &g->outcomes[o];
    g->outcomes = memory_resize(g->outcomes, g->n + 1, sizeof *g->outcomes);
    g->outcomes[g->n] = (struct outcome){.name = name};
    return &g->outcomes[g->n++];
}

static void outcome_add(struct outcome *o, const struct row *row)
{
    o->rows = memory_resize(o->rows, o->n + 1, sizeof *o->rows);
    o->rows[o->n++] = row;
    o->n_completed += completed(row);
}

/* ---- statistics ---- */

static const struct row *row_of_seed(const struct outcome *o, uint64_t seed)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->rows[i]->seed == seed)
            return o->rows[i];
    return NULL;
}

// The values of a column in runs that completed; returns their number.
static size_t values_of(const struct outcome *o, size_t column, double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++)
        if (completed(o->rows[i]) && !isnan(o->rows[i]->values[column]))
            x[n++] = o->rows[i]->values[column];
    return n;
}

// Pairs of values with the same seed; returns their number.
static size_t pairs_of(const struct outcome *o, const struct outcome *base, size_t column,
                       double *x, double *y)
{
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++) {
        // Runs of two policies with one seed have the same random draws, so their ratio varies less
        // than that of runs with different seeds.
        const struct row *row = o->rows[i], *other = row_of_seed(base, row->seed);
        if (!other || !completed(row) || !completed(other) || isnan(row->values[column]) ||
            isnan(other->values[column]))
            continue;
        x[n] = row->values[column];
        y[n++] = other->values[column];
    }
    return n;
}

// Draws for one number of samples, kept until another number is needed.
static const struct resamples *draws(struct resamples *r, size_t n)
{
    if (r->n != n) {
        resamples_free(r);
        *r = resamples_new(n);
    }
    return r;
}

static bool all_equal(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return false;
    return true;
}

static void summarize(enum center center, struct outcome *o, const struct outcome *base,
                      size_t column, double *x, double *y, struct resamples *r)
{
    struct column_summary *s = &o->columns[column];
    const struct interval none = {(double)NAN, (double)NAN};
    size_t n = values_of(o, column, x), above = 0, below = 0;
    *s = (struct column_summary){.mean = mean_of(x, n),
                                 .median = median_of(x, n),
                                 .center = center_of(center, x, n),
                                 .interval = none,
                                 .ratio = (double)NAN,
                                 .ratio_interval = none};
    // All resamples of equal values are equal.
    if (n >= INTERVAL_LEAST)
        s->interval = all_equal(x, n) ? (struct interval){x[0], x[0]}
                                      : interval_of_center(center, draws(r, n), x);
    n = pairs_of(o, base, column, x, y);
    double of_base = center_of(center, y, n);
    if (n == 0 || of_base == 0)
        return;
    s->ratio = center_of(center, x, n) / of_base;
    bool constant = all_equal(x, n) && all_equal(y, n);
    if (n >= INTERVAL_LEAST && !constant)
        s->ratio_interval = interval_of_ratio(center, draws(r, n), x, y);
    else if (n >= INTERVAL_LEAST)
        s->ratio_interval = (struct interval){s->ratio, s->ratio};
    // With too few seeds for an interval, policies that are each better with some seed do not
    // differ.
    for (size_t i = 0; i < n; i++) {
        above += x[i] > y[i];
        below += x[i] < y[i];
    }
    s->mixed = n < INTERVAL_LEAST && above > 0 && below > 0;
}

// The mean shares of the critical paths of the runs that completed.
static void summarize_shares(struct outcome *o)
{
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++) {
        double sum = 0;
        size_t n = 0;
        for (size_t i = 0; i < o->n; i++)
            if (completed(o->rows[i]) && !isnan(o->rows[i]->shares[cause])) {
                sum += o->rows[i]->shares[cause];
                n++;
            }
        o->shares[cause] = n > 0 ? sum / (double)n : (double)NAN;
    }
}

bool column_differs(const struct outcome *o, size_t column)
{
    const struct column_summary *s = &o->columns[column];
    if (isnan(s->ratio) || s->ratio == 1 || s->mixed)
        return false;
    if (isnan(s->ratio_interval.low))
        return true;
    return s->ratio_interval.low > 1 || s->ratio_interval.high < 1;
}

/* ---- properties of a group ---- */

static bool known_everywhere(const struct group *g, size_t column)
{
    bool any = false;
    for (size_t o = 0; o < g->n; o++) {
        any |= !isnan(g->outcomes[o].columns[column].center);
        if (g->outcomes[o].n_completed > 0 && isnan(g->outcomes[o].columns[column].center))
            return false;
    }
    return any;
}

static bool differs_somewhere(const struct group *g, size_t column)
{
    for (size_t o = 1; o < g->n; o++)
        if (g->outcomes[o].columns[column].center != g->outcomes[0].columns[column].center)
            return true;
    return false;
}

// Returns the column to compare first: the time of an iteration, a program or a collective; else
// the time when all work was done or, where that is planned (`duration`), the flow completion time.
static size_t headline_of(const struct group *g)
{
    static const char *const keys[] = {"iteration_ns", "program_ns", "collective_ns",
                                       "sim_time_ns"};
    size_t time = row_column_find("sim_time_ns"), p99 = row_column_find("fct_p99_ns");
    if (g->job)
        return time;
    for (size_t k = 0; k + 1 < sizeof keys / sizeof *keys; k++)
        if (known_everywhere(g, row_column_find(keys[k])))
            return row_column_find(keys[k]);
    bool planned = g->n > 1 && !differs_somewhere(g, time) && known_everywhere(g, p99) &&
                   differs_somewhere(g, p99);
    return planned ? p99 : time;
}

// Less than 0 if `a` is better: by the headline, then by the longest queue, then by pauses.
static int by_merit(const struct group *g, const struct outcome *a, const struct outcome *b)
{
    const size_t columns[] = {g->headline, row_column_find("max_queue_bytes"),
                              row_column_find("pause_frames")};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        double x = a->columns[columns[i]].center, y = b->columns[columns[i]].center;
        double close = i == 0 ? 0.01 * fabs(x) : 0; // times within 1 % count as equal
        if (fabs(x - y) > close)
            return x < y ? -1 : 1;
    }
    return 0;
}

// Mark the best of the policies that completed with all seeds, unless all of them are equal.
static void mark_best(struct group *g)
{
    struct outcome *best = NULL;
    bool differ = false;
    for (size_t i = 0; i < g->n; i++) {
        struct outcome *o = &g->outcomes[i];
        // Where runs are missing, the remaining ones may be the fast ones.
        if (o->n_completed < o->n || isnan(o->columns[g->headline].center))
            continue;
        if (best)
            differ |= by_merit(g, o, best) != 0;
        if (!best || by_merit(g, o, best) < 0)
            best = o;
    }
    if (best && differ)
        best->best = true;
}

// True if all seeds gave the same figures.
static bool identical(const struct outcome *o)
{
    for (size_t i = 1; i < o->n; i++)
        for (size_t c = 0; c < ROW_COLUMNS; c++) {
            double x = o->rows[i]->values[c], y = o->rows[0]->values[c];
            if (x != y && !(isnan(x) && isnan(y)))
                return false;
        }
    return o->n > 1 && o->n_completed == o->n;
}

struct comparison *comparison_new(const struct rows *rows, const char *baseline)
{
    struct comparison *c = memory_zeroed(1, sizeof *c);
    struct resamples r = {0};
    for (size_t i = 0; i < rows->n; i++) {
        struct group *group = group_of(c, &rows->list[i]);
        group->center = rows->list[i].noisy ? CENTER_MEDIAN : group->center;
        outcome_add(outcome_of(group, rows->list[i].name), &rows->list[i]);
    }
    for (size_t g = 0; g < c->n; g++) {
        struct group *group = &c->groups[g];
        group->baseline = group->outcomes;
        for (size_t o = 0; o < group->n; o++) {
            if (strcmp(group->outcomes[o].name, baseline) == 0)
                group->baseline = &group->outcomes[o];
            if (group->outcomes[o].n > c->n_seeds)
                c->n_seeds = group->outcomes[o].n;
        }
        double *x = memory_zeroed(2 * c->n_seeds, sizeof *x);
        for (size_t o = 0; o < group->n; o++) {
            group->outcomes[o].identical = identical(&group->outcomes[o]);
            summarize_shares(&group->outcomes[o]);
            for (size_t column = 0; column < ROW_COLUMNS; column++)
                summarize(group->center, &group->outcomes[o], group->baseline, column, x,
                          x + c->n_seeds, &r);
        }
        free(x);
        group->headline = headline_of(group);
        mark_best(group);
    }
    resamples_free(&r);
    return c;
}

void comparison_free(struct comparison *c)
{
    for (size_t g = 0; g < c->n; g++) {
        for (size_t o = 0; o < c->groups[g].n; o++)
            free(c->groups[g].outcomes[o].rows);
        free(c->groups[g].outcomes);
    }
    free(c->groups);
    free(c);
}

/* ---- JSON ---- */

static void put_number(json_t *o, const char *key, double value)
{
    json_object_set_new(o, key, isnan(value) ? json_null() : json_real(value));
}

static json_t *summary_json(const struct outcome *o, size_t column)
{
    const struct column_summary *s = &o->columns[column];
    json_t *json = json_object();
    put_number(json, "mean", s->mean);
    put_number(json, "median", s->median);
    put_number(json, "low", s->interval.low);
    put_number(json, "high", s->interval.high);
    put_number(json, "ratio", s->ratio);
    put_number(json, "ratio_low", s->ratio_interval.low);
    put_number(json, "ratio_high", s->ratio_interval.high);
    json_object_set_new(json, "differs", json_boolean(column_differs(o, column)));
    return json;
}

// Returns an object with the share of each cause in the critical path; causes without time are left
// out.
static json_t *shares_json(const struct outcome *o)
{
    json_t *json = json_object();
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        if (o->shares[cause] > 0)
            json_object_set_new(json, path_cause_key((enum path_cause)cause),
                                json_real(o->shares[cause]));
    return json;
}

static json_t *outcome_json(const struct group *g, const struct outcome *o)
{
    json_t *json = json_object();
    json_object_set_new(json, "scenario", json_string(g->scenario));
    json_object_set_new(json, "job", g->job ? json_string(g->job) : json_null());
    json_object_set_new(json, "cc", json_string(o->rows[0]->policy));
    if (o->rows[0]->vary) {
        json_object_set_new(json, "name", json_string(o->name));
        json_object_set_new(json, "vary", json_copy((json_t *)(uintptr_t)o->rows[0]->vary));
    }
    json_object_set_new(json, "baseline", json_string(g->baseline->name));
    json_object_set_new(json, "headline", json_string(row_columns[g->headline].key));
    json_object_set_new(json, "seeds", json_integer((json_int_t)o->n));
    json_object_set_new(json, "completed", json_integer((json_int_t)o->n_completed));
    json_object_set_new(json, "compares",
                        json_string(g->center == CENTER_MEAN ? "means" : "medians"));
    json_object_set_new(json, "identical", json_boolean(o->identical));
    json_object_set_new(json, "best", json_boolean(o->best));
    json_object_set_new(json, "shares", shares_json(o));
    if (o->rows[0]->draws)
        json_object_set(json, "draws", o->rows[0]->draws);
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        if (!isnan(o->columns[c].center))
            json_object_set_new(json, row_columns[c].key, summary_json(o, c));
    return json;
}

json_t *comparison_json(const struct comparison *c)
{
    json_t *list = json_array();
    for (size_t g = 0; g < c->n; g++)
        for (size_t o = 0; o < c->groups[g].n; o++)
            json_array_append_new(list, outcome_json(&c->groups[g], &c->groups[g].outcomes[o]));
    return list;
}

char *comparison_document(const struct comparison_about *about, const struct rows *rows,
                          const struct comparison *c)
{
    json_t *names = json_array(), *root = json_object();
    for (size_t i = 0; i < about->n_scenarios; i++)
        json_array_append_new(names, json_string(about->scenarios[i]));
    json_object_set_new(root, "schema", json_string("collwire.compare/1"));
    json_object_set_new(root, "name", json_string(about->scenarios[0]));
    json_object_set_new(root, "scenarios", names);
    json_object_set_new(root, "baseline", json_string(about->baseline));
    if (about->varied)
        json_object_set(root, "varied", about->varied);
    json_object_set_new(root, "seeds", json_integer((json_int_t)about->seeds));
    json_object_set_new(root, "rows", rows_json(rows));
    json_object_set_new(root, "statistics", comparison_json(c));
    if (about->draws)
        json_object_update(root, about->draws);
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}
