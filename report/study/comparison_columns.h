// SPDX-License-Identifier: MIT
// The columns of the table of a comparison.
#pragma once

#include "report/study/comparison_table.h"

#define CELL 96 // bytes of a cell's text
#define SHOWN_MOST 34
#define COLUMN_GAP 2 // blanks between columns

struct scale {
    double by;
    const char *unit; // "" = none
};

// A column beside the time: a metric, or the share of a cause of the critical path.
struct shown {
    size_t column; // ROW_COLUMNS = a share
    enum path_cause cause;
    struct scale scale;
    size_t width;
    unsigned place; // from left to right
};

// The unit in which the largest value of a column has one to three digits before the point.
struct scale scale_of(const struct group *g, size_t column);

// A value with three digits, "-" for NAN. `text` holds CELL bytes and is returned.
const char *number_text(double value, bool count, char *text);

const char *ratio_text(double ratio, char *text);

// Remove the blanks at the ends of lines; returns `text`.
char *lines_trimmed(char *text);

// The center of a column, in the unit.
void center_cell(const struct outcome *o, size_t column, struct scale scale, char *cell);

const char *heading_of(const struct shown *s);
void shown_cell(const struct outcome *o, const struct shown *s, char *cell);

// Choose the columns beside the time that fit into `left` characters, from left to right; returns
// their number.
size_t columns_choose(const struct group *g, size_t left, struct shown shown[SHOWN_MOST]);
