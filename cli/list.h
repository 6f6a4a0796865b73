// SPDX-License-Identifier: MIT
// `collwire list`: everything that a scenario can name, with every parameter.
#pragma once

#include <stdio.h>

#include "cc/catalogue.h"

// Print the entries of category `what` (an object of scenarios, collective or metrics; NULL = all
// categories), or the keys of its entry `name` (NULL = list the entries, or the keys if there is
// only one entry). Returns 0, or -1 with a line on stderr if a word is unknown.
int list_print(FILE *out, const char *what, const char *name, const struct cc_catalogue *policies);

// The names of all categories; returns how many, at most `max`.
size_t list_categories(const char **names, size_t max);
