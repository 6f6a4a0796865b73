// SPDX-License-Identifier: MIT
// A metric: key, unit, meaning, and the location of its value in a record. Tables of metrics are
// the only source of metrics.json, run.json, the CSV files, docs/metrics.md and `collwire list
// metrics`, and of the code that reads metrics.json. To add a metric, add a row to a table.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/units.h"

struct json_writer;

enum metric_unit {
    METRIC_WORDS,
    METRIC_NS,
    METRIC_US,
    METRIC_SECONDS,
    METRIC_HOURS,
    METRIC_BYTES,
    METRIC_BPS,
    METRIC_COUNT,
    METRIC_RATIO
};

enum metric_type {
    METRIC_INTEGER,     // unsigned integer of 1, 4 or 8 bytes, or bool
    METRIC_TIME,        // ps_t, -1 = null; written in ns, or in us by unit
    METRIC_ROUNDED,     // double, written as a rounded integer
    METRIC_REAL,        // double
    METRIC_TEXT,        // char *, NULL = null
    METRIC_WORD,        // unsigned index into `words`
    METRIC_TEXTS,       // char ** and a count
    METRIC_REALS,       // double * and a count
    METRIC_OBJECT,      // a record embedded in the record
    METRIC_LIST,        // pointer to records and a count
    METRIC_ONE_OR_LIST, // likewise; written as null for 0 items and as the object itself for 1 item
    METRIC_CUSTOM       // written by a function; left out if it is NULL or writes no value
};

struct metric_table {
    const struct metric *list;
    size_t n;
};

struct metric {
    const char *key;
    enum metric_unit unit;
    const char *help;
    enum metric_type type;
    /* where */
    size_t offset, bytes; // the field; for METRIC_LIST `bytes` is the size of an item
    size_t count_offset, count_bytes;
    /* or how, in place of the field */
    double (*real)(const void *record);
    ps_t (*time)(const void *record);
    size_t (*count)(const void *record);
    void (*write)(struct json_writer *w, const void *record);
    /* METRIC_WORD; objects and lists */
    const char *const *words;
    const struct metric_table *table;
    bool (*wanted)(const void *item);  // false = the item is left out; NULL = all items are written
    bool (*known)(const void *record); // false = written as null; for an object: all its values
};

#define METRIC_FIELD(record, field)                                                                \
    .offset = offsetof(struct record, field), .bytes = sizeof(((struct record *)0)->field)
#define INTEGER(record, field) .type = METRIC_INTEGER, METRIC_FIELD(record, field)
#define TIME(record, field) .type = METRIC_TIME, METRIC_FIELD(record, field)
#define ROUNDED(record, field) .type = METRIC_ROUNDED, METRIC_FIELD(record, field)
#define REAL(record, field) .type = METRIC_REAL, METRIC_FIELD(record, field)
#define TEXT(record, field) .type = METRIC_TEXT, METRIC_FIELD(record, field)
#define WORD(record, field, names) .type = METRIC_WORD, .words = names, METRIC_FIELD(record, field)
#define OBJECT(record, field, inner)                                                               \
    .type = METRIC_OBJECT, .table = &(inner), .offset = offsetof(struct record, field)
#define PART_OF(record, inner) .type = METRIC_OBJECT, .table = &(inner), .offset = 0
#define METRIC_ITEMS(record, items, n)                                                             \
    .offset = offsetof(struct record, items), .bytes = sizeof(*((struct record *)0)->items),       \
    .count_offset = offsetof(struct record, n), .count_bytes = sizeof(((struct record *)0)->n)
#define TEXTS(record, items, n) .type = METRIC_TEXTS, METRIC_ITEMS(record, items, n)
#define LIST(record, items, n, inner)                                                              \
    .type = METRIC_LIST, .table = &(inner), METRIC_ITEMS(record, items, n)
#define ONE_OR_LIST(record, items, n, inner)                                                       \
    .type = METRIC_ONE_OR_LIST, .table = &(inner), METRIC_ITEMS(record, items, n)
#define METRIC_TABLE(name, rows)                                                                   \
    const struct metric_table name = {rows, sizeof(rows) / sizeof *(rows)}

// The value of a METRIC_INTEGER; of a METRIC_TIME in ps, -1 = null; of a METRIC_REAL or
// METRIC_ROUNDED, NAN = null; of a METRIC_TEXT or METRIC_WORD, NULL = null.
uint64_t metric_integer(const struct metric *m, const void *record);
ps_t metric_time(const struct metric *m, const void *record);
double metric_real(const struct metric *m, const void *record);
const char *metric_text(const struct metric *m, const void *record);

// The number of items of a list; item `i` of a list.
size_t metric_count(const struct metric *m, const void *record);
const void *metric_item(const struct metric *m, const void *record, size_t i);

// "ns", "bytes", "bit/s", ...; "" for words.
const char *metric_unit_name(enum metric_unit unit);

// Visit every metric of a table and of the tables inside it, with its path: `flows[].id`.
typedef void (*metric_visit)(void *ctx, const char *path, const struct metric *m);
void metric_walk(const struct metric_table *table, const char *prefix, metric_visit visit,
                 void *ctx);

// The metric with this key, or NULL.
const struct metric *metric_find(const struct metric_table *table, const char *key, size_t length);
