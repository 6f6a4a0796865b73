// SPDX-License-Identifier: MIT
// `compare --draws`: the rows of a comparison again, under draws of what the scenario leaves open.
#pragma once

#include <jansson.h>

#include "engine/base/err.h"
#include "report/comparison/comparison.h"

struct compare;
struct compare_draws;

// Find out what is open in the scenarios of a comparison whose rows are loaded. NULL with errors.
struct compare_draws *compare_draws_plan(const struct compare *c, struct err *err);
void compare_draws_free(struct compare_draws *d);

// Print the assumptions with their ranges and sources.
void compare_draws_list(const struct compare_draws *d);

// Run all rows under all draws, each run in a worker process without files. An interruption leaves
// the draws that have ended, and sets c->interrupted.
void compare_draws_run(struct compare_draws *d, struct compare *c);

// What the draws say: `draws` of the rows, and the further keys of compare.json, which are
// returned.
json_t *compare_draws_summary(const struct compare_draws *d, struct rows *rows,
                              const struct comparison *comparison);

// Print the table of a scenario's draws below that of the comparison. `heading`: of its names.
void compare_draws_print(const struct compare_draws *d, const struct group *g, const char *heading,
                         const json_t *summary);
