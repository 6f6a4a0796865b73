// SPDX-License-Identifier: MIT
// Reads, checks and prints settings by their tables (collwire/param.h).
#pragma once

#include "collwire/param.h"
#include "engine/base/err.h"
#include "engine/base/units.h"

// Walks over the rows of a table, with included tables in their place. A row returned has its
// offset from the start of the outermost struct and is valid until the next call.
#define PARAM_DEPTH 4 // limit of nested tables
struct param_walk {
    struct {
        const struct param *at, *end; // end = NULL: the table ends with a row without a name
        size_t offset;
    } levels[PARAM_DEPTH];
    unsigned depth; // levels in use
    struct param row;
};
struct param_walk params_walk(const struct param *params, size_t n);
const struct param *params_next(struct param_walk *walk); // NULL at the end

// Set every field of `base`, a struct that the table describes, to its default. Fields without a
// default are not changed.
void params_default(const struct param *params, size_t n, void *base);

// Returns a copy of the parameter called `name`. Its name is NULL if there is none.
struct param param_find(const struct param *params, size_t n, const char *name);

// True if `choices` are words for sizes or times, which may be given as such too.
bool param_has_words(const struct param *param);

// Parse `text` (scenario syntax) into its field of `base`, checking type and range. On failure adds
// one error at `path` and returns -1. PARAM_TEXT stores the pointer `text`.
int param_set(const struct param *param, void *base, const char *text, const char *path,
              struct err *err);

// Returns the value in scenario syntax, written to `buf` of PARAM_TEXT_MAX bytes. PARAM_TEXT
// returns its own pointer.
#define PARAM_TEXT_MAX 64
const char *param_text(const struct param *param, const void *base, char *buf);

// The name of a type in messages and in the schema, such as "bytes" or "one of".
const char *param_type_name(enum param_type type);

// Returns the bytes of a field of this type.
size_t param_size(enum param_type type);

// Whether the value at `base`, which is no text, is the default.
bool param_is_default(const struct param *param, const void *base);
