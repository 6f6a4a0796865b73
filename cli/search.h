// SPDX-License-Identifier: MIT
// `collwire list --search WORD`: entries and keys of the catalogue by a part of their names or
// texts.
#pragma once

#include <stdio.h>

#include "cli/categories.h"

// Print the keys called `name` (or PREFIX.name) of one category, or of all where it is NULL, with
// the command that shows what they belong to. Returns how many there are.
size_t search_keys(FILE *out, const struct category *only, const char *name,
                   const struct cc_catalogue *policies);

// The name of a key that is near to `word`, which is the name of none; NULL = none is near. The
// tables hold the text.
const char *search_near(const struct category *only, const char *word,
                        const struct cc_catalogue *policies);

// Print what has `word` in its name, then what has it in its text, whatever the case. Returns how
// much there is; 0 after a line on stderr.
size_t search_print(FILE *out, const char *word, const struct cc_catalogue *policies);
