// SPDX-License-Identifier: MIT
// The draws of a scenario: which assumptions are drawn, and their values in each draw.
//
// A value depends on the scenario's seed, the number of the draw and the name of the assumption
// alone: all rows of a comparison have the same values in a draw, and more draws begin with the
// same ones.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/draws/assumption.h"
#include "collwire/collwire.h"

enum axis_state {
    AXIS_DRAWN,
    AXIS_STATED, // by the scenario, by --set, --vary or a policy of --cc
    AXIS_UNFIT   // the scenario does not have it, or does not load with it
};

struct draw_axis {
    const struct assumption *of;
    enum axis_state state;
    char *why;                        // of AXIS_UNFIT; else NULL
    size_t values[ASSUMPTION_VALUES]; // numbers of the choices with which all rows load
    size_t n_values;
};

struct draw_plan {
    uint64_t seed; // of the scenario
    struct draw_axis axes[ASSUMPTIONS];
};

// A row of the comparison: as the user states it, with the settings of --set, --vary and --cc, and
// loaded.
struct draw_row {
    const json_t *given;
    const struct scenario *scenario;
};

// Settings of a draw; the texts are owned.
struct draw_sets {
    struct collwire_setting *list;
    size_t n;
};
void draw_sets_free(struct draw_sets *sets);

// Returns true if row number `row` loads with further settings; else *why is the first error, to be
// freed.
typedef bool draw_loads(void *ctx, size_t row, const struct draw_sets *sets, char **why);

// Find out what the rows leave open: what none of them states, and with which values each loads.
void draw_plan_make(struct draw_plan *plan, uint64_t seed, const struct draw_row *rows,
                    size_t n_rows, draw_loads *loads, void *ctx);
void draw_plan_free(struct draw_plan *plan);

bool draw_plan_is_empty(const struct draw_plan *plan);

// The value of an assumption in draw k = 1, 2, ..: as the scenario writes it, to be freed; and
// where it stands among all values, from 0 to 1, NAN for a seed.
char *draw_value(const struct draw_plan *plan, size_t axis, size_t k, double *place);

// The settings of draw k for a row.
struct draw_sets draw_settings(const struct draw_plan *plan, const json_t *given, size_t k);

// Repetitions of the collective in draw k, if the plan draws their number and the draw has several;
// else 1. The result of the draw is the last one's time.
size_t draw_repeats(const struct draw_plan *plan, size_t k);
