// SPDX-License-Identifier: MIT
// What `collwire library` says, as text and as JSON.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli/library/log_comparison.h"
#include "cli/library/query.h"

void answer_print(FILE *out, const struct answer *a);

// What is equal to a log, and what is not.
void log_comparison_print(FILE *out, const struct answer *a, const struct log_comparison *c);

// Everything as one object; `c` may be NULL.
json_t *answer_json(const struct answer *a, const struct log_comparison *c);

// What a cost is: a sentence.
const char *answer_cost_note(const struct answer *a);
