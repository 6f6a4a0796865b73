// SPDX-License-Identifier: MIT
// A JSON value and where it stands in the scenario, in its writer's words: "workload.flows[0].dst".
#pragma once

#include <jansson.h>

#include "engine/err.h"

struct place {
    const struct place *parent; // NULL = the root
    const char *key;            // NULL = item `index` of a list
    size_t index;
    json_t *json; // borrowed; NULL = not there
};

#define PLACE_TEXT 256

// A child of `parent` (which must outlive it); json is NULL where there is none.
struct place place_key(const struct place *parent, const char *key);
struct place place_item(const struct place *parent, size_t index);

// The path of a place, cut where it does not fit. Returns `buf`.
const char *place_text(const struct place *place, char buf[PLACE_TEXT]);

// Add an error or a warning at a place; place_error() returns -1.
__attribute__((format(printf, 3, 4))) int place_error(struct err *err, const struct place *place,
                                                      const char *format, ...);
__attribute__((format(printf, 3, 4))) void place_warn(struct err *err, const struct place *place,
                                                      const char *format, ...);

// Words for a value: "a list", "null".
const char *json_noun(const json_t *json);
