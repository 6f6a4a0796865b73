// SPDX-License-Identifier: MIT
// The times of a scenario's jobs as one table.
#include <libsmartcols/libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "report/study/comparison_columns.h"

#define NAME_MOST 24 // longer names of jobs are cut

// Returns the group's outcome with this name; NULL if the job did not run under it.
static const struct outcome *outcome_named(const struct group *g, const char *name)
{
    for (size_t o = 0; o < g->n; o++)
        if (strcmp(g->outcomes[o].name, name) == 0)
            return &g->outcomes[o];
    return NULL;
}

// The unit of all jobs, by the longest one.
static struct scale scale_of_jobs(const struct group *jobs, size_t n)
{
    struct scale largest = scale_of(jobs, jobs->headline);
    for (size_t j = 1; j < n; j++) {
        struct scale other = scale_of(&jobs[j], jobs[j].headline);
        // One unit for all jobs, so that their times can be compared at a glance.
        largest = other.by > largest.by ? other : largest;
    }
    return largest;
}

// "25.4 (1.00) *"
static void job_cell(const struct group *g, const char *name, struct scale scale, char *cell)
{
    const struct outcome *o = outcome_named(g, name);
    char time[CELL], ratio[CELL], after[CELL] = "";
    if (!o || o->n_completed == 0) {
        snprintf(cell, CELL, "%s", o ? o->rows[0]->status : "-");
        return;
    }
    center_cell(o, g->headline, scale, time);
    if (o != g->baseline && !isnan(o->columns[g->headline].ratio))
        snprintf(after, CELL, " (%.20s)", ratio_text(o->columns[g->headline].ratio, ratio));
    snprintf(cell, CELL, "%.20s%.24s%s", time, after, o->best ? " *" : "");
}

static void heading_cell(const struct group *g, char *cell)
{
    snprintf(cell, CELL, "%.*s", NAME_MOST, g->job);
}

static size_t width_of(const struct group *g, struct scale scale)
{
    char cell[CELL];
    heading_cell(g, cell);
    size_t width = strlen(cell);
    for (size_t o = 0; o < g->n; o++) {
        job_cell(g, g->outcomes[o].name, scale, cell);
        width = strlen(cell) > width ? strlen(cell) : width;
    }
    return width;
}

// The number of jobs, from the first one on, whose columns fit.
static size_t jobs_that_fit(const struct group *jobs, size_t n, struct scale scale,
                            const struct table_style *style)
{
    size_t used = strlen(style->heading), fit = 0;
    for (size_t o = 0; o < jobs->n; o++)
        if (strlen(jobs->outcomes[o].name) > used)
            used = strlen(jobs->outcomes[o].name);
    while (fit < n && used + COLUMN_GAP + width_of(&jobs[fit], scale) <= style->width)
        used += COLUMN_GAP + width_of(&jobs[fit++], scale);
    return fit;
}

char *comparison_jobs_table(const struct group *jobs, size_t n, const struct table_style *style,
                            size_t *shown, const char **unit)
{
    struct libscols_table *lines = scols_new_table();
    char cell[CELL], *text = NULL;
    struct scale scale = scale_of_jobs(jobs, n);
    *unit = scale.unit;
    *shown = jobs_that_fit(jobs, n, scale, style);
    scols_table_set_column_separator(lines, "  ");
    scols_table_set_termforce(lines, SCOLS_TERMFORCE_NEVER);
    scols_table_new_column(lines, style->heading, 0, 0);
    for (size_t j = 0; j < *shown; j++) {
        heading_cell(&jobs[j], cell);
        scols_table_new_column(lines, cell, 0, SCOLS_FL_RIGHT);
    }
    for (size_t o = 0; o < jobs->n; o++) {
        struct libscols_line *line = scols_table_new_line(lines, NULL);
        scols_line_set_data(line, 0, jobs->outcomes[o].name);
        for (size_t j = 0; j < *shown; j++) {
            job_cell(&jobs[j], jobs->outcomes[o].name, scale, cell);
            scols_line_set_data(line, 1 + j, cell);
        }
    }
    scols_print_table_to_string(lines, &text);
    scols_unref_table(lines);
    return lines_trimmed(text);
}
