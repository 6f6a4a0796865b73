// SPDX-License-Identifier: MIT
// A comparison as a table: units once in the heading, columns that are zero everywhere left out,
// and as many columns as fit.
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/text.h"
#include "study/comparison.h"

#define CELL 96
#define POLICY_MOST 32 // longer names are cut

static const char separator[] = "  ", best_mark[] = "<- best", not_significant[] = " n.s.";

// The columns after the headline, the most important first.
static const char *const order[] = {
    "exposed_iteration_ns",
    "program_exposed_ns",
    "busbw_bps",
    "fct_p99_ns",
    "max_queue_bytes",
    "pause_frames",
    "dropped_packets",
    "timeouts",
    "marked_packets",
    "cnps",
    "paused_ns",
    "fct_mean_ns",
    "tcp_retransmitted_segments",
    "efficiency",
    "jain",
};
#define N_ORDER (sizeof order / sizeof *order)

/* ---- units ---- */

struct scale {
    double by;
    const char *unit; // "" = none
};

// The unit in which the largest value of a column has one to three digits before the point.
static struct scale scale_of(const struct group *g, size_t column)
{
    static const struct scale
        times[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {0, NULL}},
        sizes[] = {{1, "B"}, {1e3, "KB"}, {1e6, "MB"}, {1e9, "GB"}, {0, NULL}},
        rates[] = {{1, "b/s"},    {1e3, "Kb/s"},  {1e6, "Mb/s"},
                   {1e9, "Gb/s"}, {1e12, "Tb/s"}, {0, NULL}},
        none[] = {{1, ""}, {0, NULL}};
    enum metric_unit unit = row_column_unit(column);
    const struct scale *scales = unit == METRIC_NS      ? times
                                 : unit == METRIC_BYTES ? sizes
                                 : unit == METRIC_BPS   ? rates
                                                        : none;
    double largest = 0;
    for (size_t o = 0; o < g->n; o++)
        if (g->outcomes[o].columns[column].center > largest)
            largest = g->outcomes[o].columns[column].center;
    while (scales[1].unit && largest >= scales[1].by)
        scales++;
    return *scales;
}

// Three digits.
static const char *number_text(double value, bool count, char *text)
{
    if (isnan(value))
        snprintf(text, CELL, "-");
    else if (value == 0 || (count && value == floor(value)))
        snprintf(text, CELL, "%.0f", value);
    else
        snprintf(text, CELL,
                 fabs(value) >= 100   ? "%.0f"
                 : fabs(value) >= 10  ? "%.1f"
                 : fabs(value) >= 1   ? "%.2f"
                 : fabs(value) >= 0.1 ? "%.3f"
                                      : "%.2g",
                 value);
    return text;
}

/* ---- cells ---- */

static bool is_count(size_t column) { return row_column_unit(column) == METRIC_COUNT; }

static void center_cell(const struct outcome *o, size_t column, struct scale scale, char *cell)
{
    number_text(o->columns[column].center / scale.by, is_count(column), cell);
}

static void policy_cell(const struct outcome *o, char *cell)
{
    bool whole = strlen(o->policy) <= POLICY_MOST;
    snprintf(cell, CELL, "%.*s%s", whole ? POLICY_MOST : POLICY_MOST - 2, o->policy,
             whole ? "" : "..");
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

static const char *ratio_text(double ratio, char *text)
{
    snprintf(text, CELL, ratio >= 9.995 ? "%.1f" : "%.2f", ratio);
    return text;
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

/* ---- columns ---- */

struct shown {
    size_t column;
    struct scale scale;
    char heading[CELL];
    size_t width;
};

static bool all_zero(const struct group *g, size_t column)
{
    for (size_t o = 0; o < g->n; o++)
        if (g->outcomes[o].columns[column].center > 0)
            return false;
    return true;
}

static bool has_any(const struct group *g, const char *key)
{
    return !all_zero(g, row_column_find(key));
}

// True if the values of a column are those of the headline, within 1 %.
static bool as_headline(const struct group *g, size_t column)
{
    for (size_t o = 0; o < g->n; o++) {
        double x = g->outcomes[o].columns[column].center,
               y = g->outcomes[o].columns[g->headline].center;
        if (!(fabs(x - y) <= 0.01 * y))
            return false;
    }
    return true;
}

// Completion times of single messages say little where collectives are measured.
static bool worth_showing(const struct group *g, size_t column)
{
    bool of_flows = strncmp(row_columns[column].key, "fct_", 4) == 0;
    bool collective =
        has_any(g, "collective_ns") || has_any(g, "iteration_ns") || has_any(g, "program_ns");
    return column != g->headline && !all_zero(g, column) && !(of_flows && collective) &&
           !(of_flows && as_headline(g, column));
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

static void heading_make(struct shown *s)
{
    snprintf(s->heading, CELL, s->scale.unit[0] ? "%s (%s)" : "%s", row_columns[s->column].heading,
             s->scale.unit);
    s->width = strlen(s->heading);
}

// Chooses the columns that fit into the remaining width; returns their number.
static size_t columns_choose(const struct group *g, size_t left, struct shown *shown)
{
    size_t n = 0;
    for (size_t i = 0; i < N_ORDER; i++) {
        struct shown *s = &shown[n];
        size_t column = row_column_find(order[i]);
        if (!worth_showing(g, column))
            continue;
        *s = (struct shown){.column = column, .scale = scale_of(g, column)};
        heading_make(s);
        for (size_t o = 0; o < g->n; o++) {
            char cell[CELL];
            center_cell(&g->outcomes[o], column, s->scale, cell);
            s->width = larger(s->width, strlen(cell));
        }
        if (s->width + sizeof separator - 1 > left)
            continue;
        left -= s->width + sizeof separator - 1;
        n++;
    }
    return n;
}

/* ---- the table ---- */

// Copy the lines without the blanks at their ends.
static char *lines_trimmed(char *text)
{
    size_t to = 0, keep = 0;
    for (size_t at = 0; text[at] != '\0'; at++) {
        if (text[at] == '\n')
            to = keep;
        text[to++] = text[at];
        if (text[at] != ' ')
            keep = to;
    }
    text[keep] = '\0';
    return text;
}

struct table {
    const struct group *group;
    const struct table_style *style;
    bool ratios;
    char *against;
    struct shown first, shown[N_ORDER + 1]; // the headline, and the columns beside it
    size_t n;
};

static void line_add(struct libscols_table *lines, const struct table *t, const struct outcome *o)
{
    struct libscols_line *line = scols_table_new_line(lines, NULL);
    char cell[CELL];
    size_t at = 0;
    policy_cell(o, cell);
    scols_line_set_data(line, at++, cell);
    headline_cell(o, t->first.column, t->first.scale, cell);
    scols_line_set_data(line, at++, cell);
    if (t->ratios) {
        ratio_cell(t->group, o, cell);
        scols_line_set_data(line, at++, cell);
    }
    for (size_t i = 0; i < t->n; i++) {
        center_cell(o, t->shown[i].column, t->shown[i].scale, cell);
        scols_line_set_data(line, at++, cell);
    }
    bool best = t->ratios && o->best;
    scols_line_set_data(line, at, best ? best_mark : "");
    if (best)
        scols_line_set_color(line, "green");
    else if (o->n_completed < o->n)
        scols_line_set_color(line, "red");
}

// The width of the columns that every table has: policy, time, ratio and the mark of the best.
static size_t fixed_width(const struct table *t)
{
    const struct group *g = t->group;
    size_t policy = strlen(t->style->heading), time = strlen(t->first.heading),
           ratio = strlen(t->against), gap = sizeof separator - 1;
    char cell[CELL];
    for (size_t o = 0; o < g->n; o++) {
        policy_cell(&g->outcomes[o], cell);
        policy = larger(policy, strlen(cell));
        headline_cell(&g->outcomes[o], t->first.column, t->first.scale, cell);
        time = larger(time, strlen(cell));
        ratio_cell(g, &g->outcomes[o], cell);
        ratio = larger(ratio, strlen(cell));
    }
    return policy + gap + time + (t->ratios ? 2 * gap + ratio + sizeof best_mark - 1 : 0);
}

char *comparison_table(const struct group *g, const struct table_style *style)
{
    struct table t = {.group = g, .style = style, .ratios = style->ratios && g->n > 1};
    struct libscols_table *lines = scols_new_table();
    char *text = NULL;
    t.against = text_format("vs %s", g->baseline->policy);
    t.first = (struct shown){.column = g->headline, .scale = scale_of(g, g->headline)};
    heading_make(&t.first);
    size_t fixed = fixed_width(&t);
    t.n = columns_choose(g, style->width > fixed ? style->width - fixed : 0, t.shown);
    scols_table_set_column_separator(lines, separator);
    scols_table_set_termforce(lines, SCOLS_TERMFORCE_NEVER);
    scols_table_enable_colors(lines, style->colours);
    scols_table_new_column(lines, style->heading, 0, 0);
    scols_table_new_column(lines, t.first.heading, 0, SCOLS_FL_RIGHT);
    if (t.ratios)
        scols_table_new_column(lines, t.against, 0, SCOLS_FL_RIGHT);
    for (size_t i = 0; i < t.n; i++)
        scols_table_new_column(lines, t.shown[i].heading, 0, SCOLS_FL_RIGHT);
    scols_table_new_column(lines, "", 0, 0);
    for (size_t o = 0; o < g->n; o++)
        line_add(lines, &t, &g->outcomes[o]);
    scols_print_table_to_string(lines, &text);
    scols_unref_table(lines);
    free(t.against);
    return lines_trimmed(text);
}
