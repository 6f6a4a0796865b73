// SPDX-License-Identifier: MIT
// What the readers of measured tables share: the words of a line, rows, and errors with their
// place.
#pragma once

#include "cli/measured/measured_table.h"

#define MEASURED_WORDS 64

struct measured_format;

// A file while it is read.
struct measured_reading {
    struct measured_table *table;
    const struct measured_format *format; // whose heading was read last; NULL = none yet
    const struct measured_format *titled; // whose title was read; NULL = none yet
    const void *title, *heading;          // what the two formats have made of title and heading
    const char *path;
    struct err *err;
    size_t cap, line;
    const char *begin; // of the line; NULL = the file is JSON
    char *place;       // in JSON: "results[3]", owned
    size_t after;      // nccl-tests: words of the heading from its first "time" on
};

// A kind of table. `heading` returns 1 for the heading of its columns, 0 for another line, which
// may be a title, and -1 with an error. `row` reads a line after the heading.
struct measured_format {
    const char *name;
    int (*heading)(struct measured_reading *r, char *const *words, size_t n);
    int (*row)(struct measured_reading *r, char *const *words, size_t n);
};

extern const struct measured_format measured_nccl, measured_osu, measured_perftest;

// The JSON of nccl-tests and rccl-tests.
int measured_json_read(struct measured_reading *r);

// Add an error at the line, or at a word of it with its column. Returns -1.
int measured_wrong(const struct measured_reading *r, const char *what);
int measured_wrong_at(const struct measured_reading *r, const char *word, const char *what);

// Note a title of a format and the operation that it names; what a title of this format has been.
// Returns -1 with an error where there was another one before; NULL = there was none.
int measured_title_note(struct measured_reading *r, const struct measured_format *format,
                        const void *title, const char *op);
const void *measured_title(const struct measured_reading *r, const struct measured_format *format);

// A number that is neither negative nor infinite.
bool measured_number(const char *word, double *value);

// Add a row. Returns -1 with an error where its size is there already.
int measured_row_add(struct measured_reading *r, const struct measured_row *row);

// Whether words follow a pattern, "*" being any one word, and more may follow.
bool measured_follows(char *const *words, size_t n, const char *pattern);
