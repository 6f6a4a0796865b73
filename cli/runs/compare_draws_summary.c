// SPDX-License-Identifier: MIT
// What the draws of a comparison say: of each row's ratio to the baseline, and of each assumption.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draws/draw_list.h"
#include "cli/runs/compare_draws.h"
#include "cli/runs/compare_draws_internal.h"
#include "cli/runs/runs_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/comparison/draws.h"

/* ---- numbers ---- */

static size_t row_number(const struct compare_draws *d, const char *scenario, const char *name)
{
    for (size_t r = 0; r < d->n_rows; r++)
        if (strcmp(d->rows[r].of->of->name, scenario) == 0 &&
            strcmp(d->rows[r].of->name, name) == 0)
            return r;
    return d->n_rows;
}

static double value_of(const struct compare_draws *d, size_t draw, size_t row, size_t column)
{
    return d->values[(draw * d->n_rows + row) * ROW_COLUMNS + column];
}

// Returns the ratio of a row to the baseline in each draw; to be freed.
static double *ratios_of(const struct compare_draws *d, const struct group *g, size_t row)
{
    size_t base = row_number(d, g->scenario, g->baseline->name);
    double *ratio = memory_zeroed(d->n_draws, sizeof *ratio);
    for (size_t k = 0; k < d->n_draws; k++)
        ratio[k] = value_of(d, k, row, g->headline) / value_of(d, k, base, g->headline);
    return ratio;
}

// Returns where the value of an assumption stands in each draw; to be freed.
static double *places_of(const struct compare_draws *d, const struct draw_plan *plan, size_t axis)
{
    double *place = memory_zeroed(d->n_draws, sizeof *place);
    for (size_t k = 0; k < d->n_draws; k++)
        free(draw_value(plan, axis, k + 1, &place[k]));
    return place;
}

/* ---- JSON ---- */

static json_t *number(double value) { return isnan(value) ? json_null() : json_real(value); }

// What an assumption does to all rows of a group: `rows`, and the largest of their moves.
static void axis_moves(const struct compare_draws *d, const struct group *g,
                       const struct draw_plan *plan, size_t axis, json_t *item)
{
    json_t *rows = json_array();
    double *place = places_of(d, plan, axis), most = (double)NAN;
    for (size_t o = 0; o < g->n; o++) {
        if (&g->outcomes[o] == g->baseline)
            continue;
        double *ratio = ratios_of(d, g, row_number(d, g->scenario, g->outcomes[o].name));
        struct draw_move move = draw_move_of(ratio, place, d->n_draws);
        free(ratio);
        if (isnan(move.moves))
            continue;
        most = isnan(most) || move.moves > most ? move.moves : most;
        json_array_append_new(rows, json_pack("{s:s, s:f, s:f, s:f, s:b}", "name",
                                              g->outcomes[o].name, "low", move.low, "high",
                                              move.high, "moves", move.moves, "clear", move.clear));
    }
    json_object_set_new(item, "moves", number(most));
    json_object_set_new(item, "rows", rows);
    free(place);
}

static double moves_of(const json_t *item)
{
    const json_t *moves = json_object_get(item, "moves");
    return json_is_number(moves) ? json_number_value(moves) : -1;
}

// Insert before the first assumption that moves less: the list is in the order of a tornado.
static void insert_by_moves(json_t *list, json_t *item)
{
    size_t at = 0;
    while (at < json_array_size(list) && moves_of(json_array_get(list, at)) >= moves_of(item))
        at++;
    json_array_insert_new(list, at, item);
}

static json_t *assumptions_json(const struct compare_draws *d, const struct group *g,
                                const struct draw_plan *plan)
{
    json_t *list = json_array();
    for (size_t i = 0; i < ASSUMPTIONS; i++) {
        json_t *item = json_pack("{s:s}", "scenario", g->scenario);
        json_object_update_new(item, draw_axis_json(&plan->axes[i]));
        if (plan->axes[i].state == AXIS_DRAWN)
            axis_moves(d, g, plan, i, item);
        else
            json_object_set_new(item, "moves", json_null());
        insert_by_moves(list, item);
    }
    return list;
}

// Each draw: its values, and the time of each row.
static json_t *draws_json(const struct compare_draws *d, const struct group *g,
                          const struct draw_plan *plan)
{
    json_t *list = json_array();
    for (size_t k = 0; k < d->n_draws; k++) {
        json_t *values = json_object(), *times = json_object();
        for (size_t i = 0; i < ASSUMPTIONS; i++) {
            double place;
            if (plan->axes[i].state != AXIS_DRAWN)
                continue;
            char *value = draw_value(plan, i, k + 1, &place);
            json_object_set_new(values, plan->axes[i].of->name, json_string(value));
            free(value);
        }
        for (size_t o = 0; o < g->n; o++) {
            size_t row = row_number(d, g->scenario, g->outcomes[o].name);
            json_object_set_new(times, g->outcomes[o].name,
                                number(value_of(d, k, row, g->headline)));
        }
        json_array_append_new(list, json_pack("{s:s, s:I, s:o, s:o}", "scenario", g->scenario,
                                              "number", (json_int_t)k + 1, "values", values,
                                              row_columns[g->headline].key, times));
    }
    return list;
}

// The name of the assumption whose values change the ratio of a row most, if the change is larger
// than chance; NULL = there is none.
static const char *moved_by(const json_t *list, const char *name, double *moves)
{
    const char *found = NULL;
    const json_t *item, *row;
    size_t i, r;
    *moves = 0;
    json_array_foreach(list, i, item)
    {
        json_array_foreach(json_object_get(item, "rows"), r, row)
        {
            double own = json_number_value(json_object_get(row, "moves"));
            if (strcmp(json_string_value(json_object_get(row, "name")), name) != 0 ||
                !json_is_true(json_object_get(row, "clear")) || own <= *moves)
                continue;
            *moves = own;
            found = json_string_value(json_object_get(item, "name"));
        }
    }
    return found;
}

// Give all runs of a row what the draws say of it.
static void put_draws(struct rows *rows, const struct group *g, const char *name, json_t *draws)
{
    for (size_t i = 0; i < rows->n; i++) {
        struct row *row = &rows->list[i];
        if (!row->job && strcmp(row->scenario, g->scenario) == 0 && strcmp(row->name, name) == 0) {
            json_decref(row->draws);
            row->draws = json_incref(draws);
        }
    }
    json_decref(draws);
}

static void summarize_rows(const struct compare_draws *d, const struct group *g, const json_t *list,
                           struct rows *rows)
{
    for (size_t o = 0; o < g->n; o++) {
        const struct outcome *one = &g->outcomes[o];
        double moves;
        if (one == g->baseline) {
            put_draws(rows, g, one->name, json_null());
            continue;
        }
        double *ratio = ratios_of(d, g, row_number(d, g->scenario, one->name));
        struct draw_summary s = draw_summary_of(ratio, d->n_draws, one->columns[g->headline].ratio);
        free(ratio);
        json_t *json = draw_summary_json(&s);
        const char *by = moved_by(list, one->name, &moves);
        json_object_set_new(json, "moved_by", by ? json_string(by) : json_null());
        put_draws(rows, g, one->name, json);
    }
}

static const struct draw_plan *plan_of(const struct compare_draws *d, const char *scenario)
{
    for (size_t s = 0; s < d->n_plans; s++)
        if (strcmp(d->scenarios[s].name, scenario) == 0)
            return &d->plans[s];
    return NULL;
}

json_t *compare_draws_summary(const struct compare_draws *d, struct rows *rows,
                              const struct comparison *comparison)
{
    json_t *draws = json_array(), *all = json_array();
    for (size_t i = 0; i < comparison->n; i++) {
        const struct group *g = &comparison->groups[i];
        const struct draw_plan *plan = plan_of(d, g->scenario);
        if (g->job || !plan)
            continue;
        json_t *list = assumptions_json(d, g, plan), *one = draws_json(d, g, plan);
        summarize_rows(d, g, list, rows);
        json_array_extend(all, list);
        json_array_extend(draws, one);
        json_decref(list);
        json_decref(one);
    }
    return json_pack("{s:I, s:o, s:o}", "draws_n", (json_int_t)d->n_draws, "assumptions", all,
                     "draws", draws);
}
