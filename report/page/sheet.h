// SPDX-License-Identifier: MIT
// The data of a chart as CSV while it is written: a heading, then a row for each point.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "engine/base/text.h"

struct sheet {
    const json_t *doc;  // of the page
    const char *run;    // the only run that is wanted, "dcqcn" or "incast/dcqcn"; NULL = all
    const char *choice; // the only metric that is wanted; NULL = all
    struct text text;
    FILE *out;
    size_t rows;
    bool begun; // a cell of this row has been written
};

// The heading is one text with commas. Rows of runs begin with `scenario,policy,seed`.
void sheet_heading(struct sheet *s, const char *heading);
void sheet_row(struct sheet *s);
void sheet_run_row(struct sheet *s, const json_t *run);

void sheet_text(struct sheet *s, const char *text);
void sheet_name(struct sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_value(struct sheet *s, const json_t *value); // a number or a text; null = an empty cell

// True if the run is wanted and is shown in detail.
bool sheet_wants(const struct sheet *s, const json_t *run);

// Visit the runs that are wanted.
typedef void sheet_run(struct sheet *s, const json_t *run);
void sheet_each_run(struct sheet *s, sheet_run *each);

// "dcqcn", or "incast/dcqcn" where there are several scenarios; to be freed.
char *sheet_run_name(const json_t *doc, const json_t *run);

// Write the rows of a chart of one kind of data.
void sheet_policies(struct sheet *s);
void sheet_messages(struct sheet *s, const char *key);
void sheet_parts(struct sheet *s);
void sheet_collectives(struct sheet *s);
void sheet_phases(struct sheet *s);
void sheet_iterations(struct sheet *s);
void sheet_layers(struct sheet *s);
void sheet_places(struct sheet *s);
void sheet_streams(struct sheet *s);
void sheet_ranks(struct sheet *s);
void sheet_series(struct sheet *s, const char *kind, const char *heading);
void sheet_series_of_all(struct sheet *s, const char *kind, const char *of, const char *heading);
void sheet_stopped(struct sheet *s);
void sheet_links(struct sheet *s);
void sheet_pauses(struct sheet *s);
void sheet_timeline(struct sheet *s);
void sheet_measured(struct sheet *s);
void sheet_memory(struct sheet *s);
void sheet_memory_ranks(struct sheet *s);
void sheet_points(struct sheet *s, size_t axes_least); // of a sweep with at least so many axes
