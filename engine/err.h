// SPDX-License-Identifier: MIT
// A list of user errors and warnings, each with the place it speaks of; all are reported at once.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct err_item {
    char *text; // "switch.ecn.kmin: 900KB exceeds kmax 400KB"
    bool warning;
};

// Zero-initialise, pass by pointer, end with err_free().
struct err {
    struct err_item *items;
    size_t n_items, n_errors, cap;
};

// Add "path: message" (path may be NULL or empty). Each returns -1, so that a parser can say
// `return err_add(...)`.
__attribute__((format(printf, 3, 4))) int err_add(struct err *err, const char *path,
                                                  const char *format, ...);
__attribute__((format(printf, 3, 4))) void err_warn(struct err *err, const char *path,
                                                    const char *format, ...);
void err_free(struct err *err);

// The candidate (NULL-terminated array) nearest to a misspelt `word`, or NULL when none is near.
const char *err_near_miss(const char *word, const char *const *candidates);
