// SPDX-License-Identifier: MIT
// What a scenario may leave open, with the range that real clusters have: the table of `compare
// --draws`.
#pragma once

#include <jansson.h>

#include "config/scenario.h"

enum { ASSUMPTION_VALUES = 4 };

enum assumption_kind {
    ASSUMPTION_CHOICE, // each of its values with the same probability
    ASSUMPTION_TIME,   // between two times, uniform in the logarithm
    ASSUMPTION_SEED    // another one in each draw
};

struct assumption {
    const char *name;
    const char *path; // of the key; [] stands for every dimension or job that the key belongs to
    enum assumption_kind kind;
    const char *values[ASSUMPTION_VALUES]; // ascending; of times the shortest and the longest
    const char *words[ASSUMPTION_VALUES];  // what they mean, where that is not plain; NULL = plain
    const char *also[2];                   // a key and its value beside all values but the first
    const char *source;
    // Why a scenario does not have it; NULL = it has. `given`: as its user states it.
    const char *(*unfit)(const struct scenario *s, const json_t *given);
};

enum { ASSUMPTIONS = 9 };
extern const struct assumption assumptions[ASSUMPTIONS];

enum { ASSUMPTION_PATHS = 16 }; // at least as many as a scenario has dimensions

// The paths that are to be set, to be freed each: the places of the key that `given`, a
// scenario as its user states it, leaves open. Returns their number; 0 = it is stated.
size_t assumption_paths(const struct assumption *a, const json_t *given,
                        char *paths[ASSUMPTION_PATHS]);

// The range as text, "12MB, 32MB or 64MB"; of a choice the `n` values with these numbers. To be
// freed.
char *assumption_range(const struct assumption *a, const size_t *values, size_t n);
