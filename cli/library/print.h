// SPDX-License-Identifier: MIT
// The outputs of `collwire library nccl`: text, and one JSON object.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli/library/log_comparison.h"
#include "cli/library/query.h"

// Machine, versions, channels, rings, trees, costs and choices.
void answer_print(FILE *out, const struct answer *a);

// What is equal to a log, and what is not.
void log_comparison_print(FILE *out, const struct answer *a, const struct log_comparison *c);

// Everything as JSON; `c` may be NULL.
json_t *answer_json(const struct answer *a, const struct log_comparison *c);

#define COST_NOTE(library)                                                                         \
    "The cost is the figure in us by which " library                                               \
    " ranks its choices; it is not a forecast of the time."
static inline const char *cost_note(const struct answer *a)
{
    return a->comm.settings.rccl ? COST_NOTE("RCCL") : COST_NOTE("NCCL");
}
