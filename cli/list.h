// SPDX-License-Identifier: MIT
// `collwire list`: the catalogue of what a scenario can name, with every parameter.
#pragma once

#include <stdio.h>

#include "cc/catalogue.h"

// Print the entries of category `what` (an object of scenarios, collective or metrics; NULL = all
// categories), or the keys of its entry `name` (NULL = none asked for; a category of one entry shows
// that). 0, or -1 with a line on stderr where a word is unknown.
int list_print(FILE *out, const char *what, const char *name, const struct cc_catalogue *policies);
