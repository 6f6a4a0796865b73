// SPDX-License-Identifier: MIT
// The outputs of `collwire library nccl`: text, and one JSON object.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli/nccl/log_comparison.h"
#include "cli/nccl/query.h"

// Machine, versions, channels, rings, trees, costs and choices.
void answer_print(FILE *out, const struct answer *a);

// What is equal to a log, and what is not.
void log_comparison_print(FILE *out, const struct answer *a, const struct log_comparison *c);

// Everything as JSON; `c` may be NULL.
json_t *answer_json(const struct answer *a, const struct log_comparison *c);

#define COST_NOTE                                                                                  \
    "The cost is the figure in us by which NCCL ranks its choices; it is not a forecast of the "   \
    "time."
