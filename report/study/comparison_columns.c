// SPDX-License-Identifier: MIT
// Chooses the columns of a comparison: metrics that are zero everywhere are left out, as are causes
// of small shares, and as many columns as fit are shown.
#include "report/study/comparison_columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/path_shares.h"

#define SHARE_LEAST 2  // per cent: the largest share of a cause that has a column
#define SHARES_FIRST 4 // causes that come before most metrics

// The metrics beside the time, the most important first. The shares of the largest causes come
// after the first ones, those of other causes after the next ones.
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
enum { ORDER_FIRST = 2, ORDER_SECOND = 5 };
_Static_assert(N_ORDER + PATH_CAUSES <= SHOWN_MOST, "a table may show every column");

/* ---- units ---- */

struct scale scale_of(const struct group *g, size_t column)
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
    // The unit is that of the largest value, so that all values of a column have one unit.
    while (scales[1].unit && largest >= scales[1].by)
        scales++;
    return *scales;
}

const char *number_text(double value, bool count, char *text)
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

const char *ratio_text(double ratio, char *text)
{
    // Two digits after the point are shown below ten; 9.995 would be rounded to 10.00.
    snprintf(text, CELL, ratio >= 9.995 ? "%.1f" : "%.2f", ratio);
    return text;
}

char *lines_trimmed(char *text)
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

/* ---- columns ---- */

static bool is_count(size_t column) { return row_column_unit(column) == METRIC_COUNT; }

void center_cell(const struct outcome *o, size_t column, struct scale scale, char *cell)
{
    number_text(o->columns[column].center / scale.by, is_count(column), cell);
}

static double share_of(const struct outcome *o, enum path_cause cause)
{
    return 100 * o->shares[cause];
}

// The largest share of a cause, in per cent.
static double share_most(const struct group *g, enum path_cause cause)
{
    double most = 0;
    for (size_t o = 0; o < g->n; o++)
        if (share_of(&g->outcomes[o], cause) > most)
            most = share_of(&g->outcomes[o], cause);
    return most;
}

const char *heading_of(const struct shown *s)
{
    return s->column < ROW_COLUMNS ? row_columns[s->column].heading : path_cause_heading(s->cause);
}

void shown_cell(const struct outcome *o, const struct shown *s, char *cell)
{
    if (s->column < ROW_COLUMNS)
        center_cell(o, s->column, s->scale, cell);
    else if (isnan(o->shares[s->cause]))
        snprintf(cell, CELL, "-");
    else
        snprintf(cell, CELL, "%.0f", share_of(o, s->cause));
}

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

// Columns in the order of importance.
struct choice {
    const struct group *group;
    struct shown list[SHOWN_MOST];
    size_t n;
};

static void choice_add(struct choice *c, struct shown s)
{
    char cell[CELL];
    s.width = larger(strlen(heading_of(&s)), strlen(s.scale.unit));
    for (size_t o = 0; o < c->group->n; o++) {
        shown_cell(&c->group->outcomes[o], &s, cell);
        s.width = larger(s.width, strlen(cell));
    }
    c->list[c->n++] = s;
}

static void choice_metrics(struct choice *c, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        size_t column = row_column_find(order[i]);
        if (worth_showing(c->group, column))
            choice_add(c, (struct shown){
                              .column = column, .scale = scale_of(c->group, column), .place = i});
    }
}

// Add the causes with the largest shares `from` to `to`, the largest is number 0.
static void choice_shares(struct choice *c, unsigned from, unsigned to)
{
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++) {
        unsigned rank = 0;
        double most = share_most(c->group, (enum path_cause)cause);
        for (unsigned other = 0; other < PATH_CAUSES; other++) {
            double of_other = share_most(c->group, (enum path_cause)other);
            // Causes with equal shares are ranked by number, so that each has a place of its own.
            rank += of_other > most || (of_other == most && other < cause);
        }
        if (most >= SHARE_LEAST && rank >= from && rank < to)
            choice_add(c, (struct shown){.column = ROW_COLUMNS,
                                         .cause = (enum path_cause)cause,
                                         .scale = {1, "%"},
                                         .place = N_ORDER + cause});
    }
}

static int by_place(const void *a, const void *b)
{
    const struct shown *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

size_t columns_choose(const struct group *g, size_t left, struct shown shown[SHOWN_MOST])
{
    struct choice c = {.group = g};
    size_t n = 0;
    choice_metrics(&c, 0, ORDER_FIRST);
    choice_shares(&c, 0, SHARES_FIRST);
    choice_metrics(&c, ORDER_FIRST, ORDER_SECOND);
    choice_shares(&c, SHARES_FIRST, PATH_CAUSES);
    choice_metrics(&c, ORDER_SECOND, N_ORDER);
    for (size_t i = 0; i < c.n; i++) {
        size_t width = c.list[i].width + COLUMN_GAP;
        // A wide column that does not fit leaves room for narrower ones behind it.
        if (width > left)
            continue;
        left -= width;
        shown[n++] = c.list[i];
    }
    qsort(shown, n, sizeof *shown, by_place);
    return n;
}
