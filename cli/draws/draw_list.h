// SPDX-License-Identifier: MIT
// Plans of draws for readers.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli/draws/draw_plan.h"

// Print what is drawn, with ranges and sources, and what is not, with the reason.
void draw_plan_print(FILE *out, const struct draw_plan *plan, size_t width);

// Print the names of what the scenario states, and of what it does not have.
void draw_plan_print_rest(FILE *out, const struct draw_plan *plan, size_t width);

// Returns "noise, buffer and seed", the names of what is drawn; to be freed.
char *draw_plan_names(const struct draw_plan *plan);

// An assumption as an object of compare.json, without what the draws say of it.
json_t *draw_axis_json(const struct draw_axis *axis);
