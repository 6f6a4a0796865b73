// SPDX-License-Identifier: MIT
// The draws of a comparison, shared by the files that run and print them.
#pragma once

#include "cli/draws/draw_plan.h"

struct compared;
struct variant;

// A row of a scenario: what a policy or a varied value makes of it.
struct drawn_row {
    struct variant *of;
    json_t *given; // as the user states it
    size_t scenario;
};

struct compare_draws {
    size_t n_draws;
    const struct compared *scenarios; // [n_plans]
    struct draw_plan *plans;
    size_t n_plans;
    struct drawn_row *rows; // those of a scenario beside each other
    size_t n_rows;
    double *values; // [n_draws][n_rows][ROW_COLUMNS]; NAN = did not complete, or has none
};
