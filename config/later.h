// SPDX-License-Identifier: MIT
// Words and keys of the scenario language whose meaning is not built yet: legal, but an error that
// says so. What a registry or table knows is never asked here, so an entry may outlive its purpose.
#pragma once

#include <jansson.h>
#include <stdbool.h>

// Is `word` a later one of `what` ("topology kind", or the name of a parameter)?
bool later_word(const char *what, const char *word);

// A key that may only be given with its default value so far.
struct later_key {
    const char *object, *key; // "switch", "int"
    const char *only;         // as JSON
    const char *help;
};
extern const struct later_key later_keys[];
extern const size_t n_later_keys;

// Add the later keys of `object` with their values.
void later_keys_write(json_t *json, const char *object);
