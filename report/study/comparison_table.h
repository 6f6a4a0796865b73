// SPDX-License-Identifier: MIT
// Comparisons as tables for a terminal.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/comparison/comparison.h"

struct table_style {
    const char *heading; // of the first column
    size_t width;        // most columns of the terminal
    bool colours;        // for a terminal
    bool ratios;         // to the baseline, and the mark of the best
};

// A group as a table; to be freed.
char *comparison_table(const struct group *g, const struct table_style *style);

// The `n` groups of a scenario's jobs as one table: for each job, as many as fit, its time, the
// ratio to that of the baseline, and a mark at the best. *shown is set to the number of jobs in it,
// *unit to that of the times. To be freed.
char *comparison_jobs_table(const struct group *jobs, size_t n, const struct table_style *style,
                            size_t *shown, const char **unit);
