// SPDX-License-Identifier: MIT
// Plans as a table and as JSON.
#pragma once

#include "cli/plan/packets.h"

// `plans`: n of one number of GPUs or several, the fastest of each first.
void plans_print(FILE *out, const struct planned *plans, size_t n);
json_t *plans_json(const struct planned *plans, size_t n);
