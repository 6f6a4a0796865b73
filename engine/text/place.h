// SPDX-License-Identifier: MIT
// A JSON value and its location in the scenario, as the user would write it:
// "workload.flows[0].dst".
#pragma once

#include <jansson.h>

#include "engine/base/err.h"
#include "engine/base/param.h"

struct place {
    const struct place *parent; // NULL = the root
    const char *key;            // NULL = item number `index` of a list
    size_t index;
    json_t *json; // borrowed; NULL = missing
};

#define PLACE_TEXT 256

// The place of a member of `parent`, which must outlive it; json is NULL if the member is missing.
struct place place_key(const struct place *parent, const char *key);
struct place place_item(const struct place *parent, size_t index);

// Write the path of a place to `buf`, truncated if necessary. Returns `buf`.
const char *place_text(const struct place *place, char buf[PLACE_TEXT]);

// Add an error or a warning at a place; place_error() returns -1.
__attribute__((format(printf, 3, 4))) int place_error(struct err *err, const struct place *place,
                                                      const char *format, ...);
// An error at a member of a place.
__attribute__((format(printf, 4, 5))) int place_key_error(struct err *err,
                                                          const struct place *place,
                                                          const char *key, const char *format, ...);
// Refuse each of the keys (NULL-terminated) of a table whose value at `base` is not the default: it
// needs `what`.
void place_keys_need(struct err *err, const struct place *place, const struct param *params,
                     size_t n, const void *base, const char *const *keys, const char *what);
__attribute__((format(printf, 3, 4))) void place_warn(struct err *err, const struct place *place,
                                                      const char *format, ...);

// The noun for a JSON value in messages: "a list", "null".
const char *json_noun(const json_t *json);
