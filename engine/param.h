// SPDX-License-Identifier: MIT
// Parameter tables: the one truth about a setting. A table parses text into a struct, checks the
// range, documents the setting for `collwire list` and describes it for the JSON schema.
//
// A row writes exactly the C type of its parameter type. PARAM_ENUM writes an int, so the fields of
// enumerations are ints in all structs that tables describe; a comment there names the enumeration.
#pragma once

#include "engine/err.h"
#include "engine/units.h"

enum param_type {
    PARAM_BOOL,      // bool
    PARAM_COUNT,     // uint64_t, a bare number
    PARAM_BYTES,     // uint64_t, "128MB", "32MiB" or a bare number
    PARAM_RATE,      // uint64_t bit/s, "100Gbps"
    PARAM_TIME,      // ps_t, "12.5us"
    PARAM_RATIO,     // double, a bare number
    PARAM_ENUM,      // int, one of `choices`
    PARAM_TEXT,      // const char * (owned by the strings of the scenario)
    PARAM_LINE_RATE, // struct line_rate: "40Mbps", or a share of the line rate: "line/1000"
};

// A rate that is fixed (bps != 0) or a share of the line rate (line / divisor).
struct line_rate {
    uint64_t bps, divisor;
};

// The value that "auto" stores.
#define PARAM_AUTO UINT64_MAX    // PARAM_COUNT, PARAM_BYTES, PARAM_RATE; bps of PARAM_LINE_RATE
#define PARAM_AUTO_TIME PS_NEVER // PARAM_TIME
#define PARAM_AUTO_RATIO (-1.0)  // PARAM_RATIO

struct param {
    const char *name;
    enum param_type type;
    size_t offset;              // of the value in its struct
    const char *def;            // default in scenario syntax; NULL = required
    const char *min, *max;      // in scenario syntax, NULL = unbounded
    const char *const *choices; // PARAM_ENUM: NULL-terminated, the value is the index; PARAM_BYTES:
                                // names for sizes, word, value, word, value, .. NULL (NULL = none)
    bool can_auto;              // "auto" is legal
    const char *help, *source;
    const struct param *include; // the rows of a struct that lies at `offset`, up to one without a
                                 // name; this row then has no name of its own
};

// Goes through a table, included rows in their place. A row that it gives has its offset from the
// start of the outermost struct, and is valid until the next one.
#define PARAM_DEPTH 4 // tables within tables
struct param_walk {
    struct {
        const struct param *at, *end; // end = NULL: up to a row without a name
        size_t offset;
    } levels[PARAM_DEPTH];
    unsigned depth; // levels in use
    struct param row;
};
struct param_walk params_walk(const struct param *params, size_t n);
const struct param *params_next(struct param_walk *walk); // NULL at the end

// Set every field of `base` (a struct the table describes) to its default. Required ones are left.
void params_default(const struct param *params, size_t n, void *base);

// The parameter called `name`; its name is NULL where there is none.
struct param param_find(const struct param *params, size_t n, const char *name);

// Parse `text` (scenario syntax) into its field, checking type and range. On failure adds one error
// at `path` and returns -1. PARAM_TEXT keeps the pointer.
int param_set(const struct param *param, void *base, const char *text, const char *path,
              struct err *err);

// The value in scenario syntax; `buf` of PARAM_TEXT_MAX bytes (PARAM_TEXT returns its own pointer).
#define PARAM_TEXT_MAX 64
const char *param_text(const struct param *param, const void *base, char *buf);

// Words for people and the schema: "bytes", "time", "rate", "ratio", "count", "bool", "one of".
const char *param_type_name(enum param_type type);

// Bytes of a field of this type.
size_t param_size(enum param_type type);

// The rate that `r` means on a line of `line_bps`.
uint64_t line_rate_bps(struct line_rate r, uint64_t line_bps);
