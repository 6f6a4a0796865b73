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
    // The messages that are wanted: "all" together, those of "each" dimension, of "several" at
    // once, or of the dimension of a number; NULL = all of these.
    const char *dim;
    const struct chart *chart;
    struct text text;
    FILE *out;
    size_t rows;
    bool begun; // a cell of this row has been written
};

// A chart by the name that it has in report/web/src. Its data are what `put` writes; without `put`
// a heading, and what `each` writes of each run that is wanted.
struct chart {
    const char *name, *what;
    enum { OF_ALL, OF_COMPARISONS, OF_SCENARIOS } of;
    bool chooses; // NAME=CHOICE draws it in another way
    void (*put)(struct sheet *s);
    void (*each)(struct sheet *s, const json_t *run);
    const char *heading;             // behind `scenario,policy,seed`; of some `put` the only column
    const char *path, *keys, *parts; // of what `each` reads
    size_t least;                    // items of a list, or axes of a sweep; fewer are no chart
};

// Rows of runs begin with `scenario,policy,seed`.
void sheet_row(struct sheet *s);
void sheet_run_row(struct sheet *s, const json_t *run);

void sheet_text(struct sheet *s, const char *text);
void sheet_name(struct sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void sheet_value(struct sheet *s, const json_t *value); // a number or a text; null = an empty cell

// The value at a path such as "metrics.slowest.places", NULL = there is none. Then the cells of the
// values at paths that spaces separate.
const json_t *sheet_at(const json_t *object, const char *path);
void sheet_values(struct sheet *s, const json_t *object, const char *paths);

// A row for each member of {part: value} or {part_ns: value}, behind the cells of `object` at
// `keys`; without `zeros` none for a value of zero.
void sheet_parts(struct sheet *s, const json_t *run, const json_t *object, const char *keys,
                 const json_t *parts, bool zeros);

// True if the run is wanted and is shown in detail.
bool sheet_wants(const struct sheet *s, const json_t *run);

// Write the heading and the rows of the runs that are wanted.
void sheet_each_run(struct sheet *s);

// "dcqcn", or "incast/dcqcn" where there are several scenarios; to be freed.
char *sheet_run_name(const json_t *doc, const json_t *run);

// Charts of a page, of a sweep, and of a diagnosis.
void sheet_policies(struct sheet *s);
void sheet_draws(struct sheet *s);
void sheet_messages(struct sheet *s);
void sheet_points(struct sheet *s);
void sheet_diagnosis(struct sheet *s);

// Rows of a run. A list at `path` has the cells at `keys` of each item, and with `parts` a row for
// each member of that object.
void sheet_list(struct sheet *s, const json_t *run);
void sheet_path(struct sheet *s, const json_t *run);
void sheet_collectives(struct sheet *s, const json_t *run);
void sheet_phases(struct sheet *s, const json_t *run);
void sheet_layers(struct sheet *s, const json_t *run);
void sheet_places(struct sheet *s, const json_t *run);
void sheet_streams(struct sheet *s, const json_t *run);
void sheet_ranks(struct sheet *s, const json_t *run);
void sheet_series(struct sheet *s, const json_t *run);
void sheet_series_of_all(struct sheet *s, const json_t *run);
void sheet_stopped(struct sheet *s, const json_t *run);
void sheet_links(struct sheet *s, const json_t *run);
void sheet_timeline(struct sheet *s, const json_t *run);
