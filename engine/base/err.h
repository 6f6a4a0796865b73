// SPDX-License-Identifier: MIT
// A list of user errors and warnings, each with its path in the scenario. All are reported at once.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err_item {
    char *text; // "switch.ecn.kmin: 900KB exceeds kmax 400KB"
    bool warning;
};

// Zero-initialise, pass by pointer, release with err_free().
struct err {
    struct err_item *items;
    size_t n_items, n_errors, cap;
};

// Add "path: message"; path may be NULL or empty. err_add() returns -1, so that a parser can write
// `return err_add(...)`. A warning does not count as an error.
__attribute__((format(printf, 3, 4))) int err_add(struct err *err, const char *path,
                                                  const char *format, ...);
__attribute__((format(printf, 3, 4))) void err_warn(struct err *err, const char *path,
                                                    const char *format, ...);
// Add all of `own` as "path: text", so that the errors of several files name theirs; a text that
// begins with `path` has it once. `own` keeps its items.
void err_add_all(struct err *err, const char *path, const struct err *own);
// Remove the errors at `path` whose message begins with `words`, because another error says the
// same with its remedy.
void err_withdraw(struct err *err, const char *path, const char *words);
// Returns true if an error is at `path` or in something that it contains.
bool err_below(const struct err *err, const char *path);
// Remove all warnings.
void err_drop_warnings(struct err *err);
void err_free(struct err *err);

// Returns the word of the NULL-terminated array `candidates` that is nearest to the misspelt
// `word`, or NULL if none is near. It points into `candidates`.
const char *err_near_miss(const char *word, const char *const *candidates);
