// SPDX-License-Identifier: MIT
// What a scenario leaves open for a fit: {"from": "1us", "to": "60us"} in place of a value.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

enum unknown_kind {
    UNKNOWN_TIME,
    UNKNOWN_BYTES,
    UNKNOWN_RATE,
    UNKNOWN_WHOLE,
    UNKNOWN_REAL,
    UNKNOWN_ONE_OF
};

struct unknown {
    char *path; // as --set takes it
    enum unknown_kind kind;
    double from, to; // ps, bytes, bit/s or the number; from < to
    bool by_ratio;   // equal steps multiply the value: from is above 0
    char **choices;  // UNKNOWN_ONE_OF: [n_choices] values as JSON
    size_t n_choices;
};

struct unknowns {
    struct unknown *list;
    size_t n;
};

#define UNKNOWNS_MOST 8

// Find the ranges in a scenario, and put the value in their middle into their places. Returns 0, or
// -1 with errors.
int unknowns_take(struct unknowns *u, json_t *scenario, struct err *err);
void unknowns_free(struct unknowns *u);
// Read a range "1us..60us", or a list of values "none,dcqcn", of the key `path`; of the list all
// values may be numbers of a range too. Returns 0, or -1 with an error.
int unknown_parse(struct unknown *u, const char *path, const char *text, struct err *err);

// The value at a place of the range, from 0 to 1, as a number and as the text of a setting (JSON),
// in UNKNOWN_TEXT bytes.
#define UNKNOWN_TEXT 64
double unknown_value(const struct unknown *u, double place);
const char *unknown_text(const struct unknown *u, double place, char text[UNKNOWN_TEXT]);
// The same, rounded for reading: "54.2 us".
const char *unknown_words(const struct unknown *u, double place, char text[UNKNOWN_TEXT]);
