// SPDX-License-Identifier: MIT
// A comparison as a table, the units in a line below the headings.
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"
#include "report/study/comparison_columns.h"

#define POLICY_MOST 32  // longer names are cut
#define AGAINST_MOST 16 // a longer name of the baseline is not in the heading of ratios

static const char separator[COLUMN_GAP + 1] = "  ", best_mark[] = " *", not_significant[] = " n.s.";

/* ---- cells ---- */

// The name, and the mark of the best.
static void policy_cell(const struct outcome *o, bool mark, char *cell)
{
    bool whole = strlen(o->name) <= POLICY_MOST;
    snprintf(cell, CELL, "%.*s%s%s", whole ? POLICY_MOST : POLICY_MOST - 2, o->name,
             whole ? "" : "..", mark && o->best ? best_mark : "");
}

// The center and its interval; with few seeds the values themselves.
static void headline_cell(const struct outcome *o, size_t column, struct scale scale, char *cell)
{
    const struct column_summary *s = &o->columns[column];
    char a[CELL], b[CELL], c[CELL];
    if (o->n_completed == 0) {
        snprintf(cell, CELL, "%s", o->rows[0]->failure ? "failed" : o->rows[0]->status);
        return;
    }
    center_cell(o, column, scale, cell);
    if (o->identical || o->n < 2)
        return;
    if (!isnan(s->interval.low)) {
        snprintf(cell, CELL, "%.20s [%.20s, %.20s]", number_text(s->center / scale.by, false, a),
                 number_text(s->interval.low / scale.by, false, b),
                 number_text(s->interval.high / scale.by, false, c));
        return;
    }
    size_t used = 0;
    for (size_t i = 0; i < o->n && used < CELL - 20; i++) {
        bool done = strcmp(o->rows[i]->status, "completed") == 0;
        number_text(o->rows[i]->values[column] / scale.by, false, a);
        used += (size_t)snprintf(cell + used, CELL - used, "%s%.18s", i > 0 ? " " : "",
                                 done ? a : "n/a");
    }
}

static void ratio_cell(const struct group *g, const struct outcome *o, char *cell)
{
    const struct column_summary *s = &o->columns[g->headline];
    char a[CELL], b[CELL], c[CELL];
    if (o == g->baseline || isnan(s->ratio)) {
        snprintf(cell, CELL, "%s", o == g->baseline ? "1" : "-");
        return;
    }
    if (isnan(s->ratio_interval.low) || s->ratio_interval.low == s->ratio_interval.high)
        snprintf(cell, CELL, "%.20s%s", ratio_text(s->ratio, a), s->mixed ? not_significant : "");
    else
        snprintf(cell, CELL, "%.20s [%.20s, %.20s]%s", ratio_text(s->ratio, a),
                 ratio_text(s->ratio_interval.low, b), ratio_text(s->ratio_interval.high, c),
                 column_differs(o, g->headline) ? "" : not_significant);
}

/* ---- the table ---- */

struct table {
    const struct group *group;
    const struct table_style *style;
    bool ratios;
    char *against;
    struct scale scale; // of the headline
    char unit[CELL];    // of the headline, and what its cells hold
    struct shown shown[SHOWN_MOST];
    size_t n;
};

// The unit of the headline, and whether cells have intervals or a value for every seed.
static void unit_cell(struct table *t)
{
    const struct outcome *several = NULL;
    for (size_t o = 0; o < t->group->n; o++) {
        const struct outcome *other = &t->group->outcomes[o];
        if (!other->identical && other->n_completed > 0 && other->n > (several ? several->n : 1))
            several = other;
    }
    snprintf(t->unit, CELL, "%s", t->scale.unit);
    if (!several)
        return;
    uint64_t first = several->rows[0]->seed, last = several->rows[several->n - 1]->seed;
    if (several->n >= INTERVAL_LEAST)
        snprintf(t->unit, CELL, "%s [low, high]", t->scale.unit);
    else if (last - first == several->n - 1)
        snprintf(t->unit, CELL, "%s, seeds %llu-%llu", t->scale.unit, (unsigned long long)first,
                 (unsigned long long)last);
    else
        snprintf(t->unit, CELL, "%s, by seed", t->scale.unit);
}

static void line_add(struct libscols_table *lines, const struct table *t, const struct outcome *o)
{
    struct libscols_line *line = scols_table_new_line(lines, NULL);
    char cell[CELL];
    size_t at = 0;
    policy_cell(o, t->ratios, cell);
    scols_line_set_data(line, at++, cell);
    headline_cell(o, t->group->headline, t->scale, cell);
    scols_line_set_data(line, at++, cell);
    if (t->ratios) {
        ratio_cell(t->group, o, cell);
        scols_line_set_data(line, at++, cell);
    }
    for (size_t i = 0; i < t->n; i++) {
        shown_cell(o, &t->shown[i], cell);
        scols_line_set_data(line, at++, cell);
    }
    if (t->ratios && o->best)
        scols_line_set_color(line, "green");
    else if (o->n_completed < o->n)
        scols_line_set_color(line, "red");
}

// The line below the headings.
static void units_add(struct libscols_table *lines, const struct table *t)
{
    struct libscols_line *line = scols_table_new_line(lines, NULL);
    size_t at = 1;
    scols_line_set_data(line, at++, t->unit);
    at += t->ratios;
    for (size_t i = 0; i < t->n; i++)
        scols_line_set_data(line, at++, t->shown[i].scale.unit);
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

// The width of the columns that every table has: policy, time and ratio.
static size_t fixed_width(const struct table *t)
{
    const struct group *g = t->group;
    size_t policy = strlen(t->style->heading), ratio = strlen(t->against),
           time = larger(strlen(row_columns[g->headline].heading), strlen(t->unit)),
           gap = COLUMN_GAP;
    char cell[CELL];
    for (size_t o = 0; o < g->n; o++) {
        policy_cell(&g->outcomes[o], t->ratios, cell);
        policy = larger(policy, strlen(cell));
        headline_cell(&g->outcomes[o], g->headline, t->scale, cell);
        time = larger(time, strlen(cell));
        ratio_cell(g, &g->outcomes[o], cell);
        ratio = larger(ratio, strlen(cell));
    }
    return policy + gap + time + (t->ratios ? gap + ratio : 0);
}

char *comparison_table(const struct group *g, const struct table_style *style)
{
    struct table t = {.group = g, .style = style, .ratios = style->ratios && g->n > 1};
    struct libscols_table *lines = scols_new_table();
    char *text = NULL;
    bool named = strlen(g->baseline->name) <= AGAINST_MOST;
    t.against = text_format("%s%s", named ? "vs " : "ratio", named ? g->baseline->name : "");
    t.scale = scale_of(g, g->headline);
    unit_cell(&t);
    size_t fixed = fixed_width(&t);
    t.n = columns_choose(g, style->width > fixed ? style->width - fixed : 0, t.shown);
    scols_table_set_column_separator(lines, separator);
    scols_table_set_termforce(lines, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_colors(lines, style->colours);
    scols_table_new_column(lines, style->heading, 0, 0);
    scols_table_new_column(lines, row_columns[g->headline].heading, 0, SCOLS_FL_RIGHT);
    if (t.ratios)
        scols_table_new_column(lines, t.against, 0, SCOLS_FL_RIGHT);
    for (size_t i = 0; i < t.n; i++)
        scols_table_new_column(lines, heading_of(&t.shown[i]), 0, SCOLS_FL_RIGHT);
    units_add(lines, &t);
    for (size_t o = 0; o < g->n; o++)
        line_add(lines, &t, &g->outcomes[o]);
    scols_print_table_to_string(lines, &text);
    scols_unref_table(lines);
    free(t.against);
    return lines_trimmed(text);
}
