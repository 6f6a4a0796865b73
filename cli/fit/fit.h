// SPDX-License-Identifier: MIT
// A fit: the unknowns of a scenario, so that its results are measured values.
#pragma once

#include "cli/fit/observed.h"
#include "cli/fit/unknowns.h"
#include "cli/options/options.h"
#include "cli/terminal/pool_progress.h"
#include "config/draft.h"

// The scenario with some values of the unknowns, over the seeds.
struct fit_point {
    double places[UNKNOWNS_MOST]; // of the unknowns in their ranges, 0 to 1
    // [value of the measured list] mean of the logarithm over the seeds, and its standard error;
    // -INFINITY = none (0), NAN = the results have no such place
    double *log_mean, *log_error;
    char *key;      // the texts of the values
    bool asked;     // this search has asked for it, so its runs count in the budget
    unsigned stage; // of the fit when it ran
    uint64_t seeds; // of the mean
};

// A variant of the scenario: settings (PATH=VALUE) that are applied to it, and the name under which
// the store keeps its runs.
struct fit_form {
    char *name;
    json_t *set; // a list of texts
};

struct fit {
    const struct options *options;
    // If there are any, a point is one of these forms: places[0] is its number. One that the
    // network cannot have does not run.
    const struct fit_form *forms;
    struct draft draft;
    struct unknowns unknowns;
    struct observed measured;
    uint64_t seeds, budget; // runs at most
    uint64_t first_seed;    // seeds that are left out before them
    unsigned stage;         // values of later ones are left out (enum observed_stage)
    char *store;            // file of runs that have ended; NULL = none
    char *scenario_mark;    // of the scenario and the quantities, in the store
    json_t *known;          // by key and seed: list of values
    struct fit_point **points;
    size_t n_points, cap_points;
    uint64_t runs; // that were made, or found in the store
    bool interrupted;
    bool not_kept; // a run could not be written to the store
    struct pool_line line;
};

// Read the scenario and the measured values, and the runs of an earlier fit in --out. Returns 0, or
// -1 with errors.
int fit_open(struct fit *f, const char *measured, const char *scenario, struct err *err);
void fit_free(struct fit *f);
void fit_points_free(struct fit *f); // what fit_run() has made
// Add the runs of a store with this mark and so many values to `known`; other lines are left out.
void fit_store_read(json_t *known, const char *path, const char *mark, size_t n_values);
// Keep the runs in this file of the folder --out, if there is one, and take those that are there.
// Call it again after the draft has changed, since results of another draft do not count.
int fit_keep_in(struct fit *f, const char *file, struct err *err);

/* ---- runs (fit_runs.c) ---- */

// Run the scenario at those of `n` points whose results are not known yet, in parallel workers.
// Writes the points to list[]; the fit owns them. A point that was not run, since the fit was
// interrupted or its budget was used up, is NULL.
void fit_run(struct fit *f, size_t n, double places[][UNKNOWNS_MOST], struct fit_point **list);

// Run points again over more seeds than they have. Points that an interruption left unfinished
// become NULL.
void fit_deepen(struct fit *f, size_t n, struct fit_point **list, uint64_t seeds);

// The value of one seed, first_seed + 1 onwards; NAN = it has not run, or has no such place.
double fit_value(const struct fit *f, const struct fit_point *p, uint64_t seed, size_t value);

// How far a value is from what was measured, in standard deviations.
double fit_residual(const struct fit *f, const struct fit_point *p, size_t value);
// The sum of their squares over the values that are fitted.
double fit_misfit(const struct fit *f, const struct fit_point *p);

/* ---- the search (fit_search.c) ---- */

// What the data say of an unknown.
struct fit_range {
    double low, high; // places where the misfit has grown by 3.84: 95 % where errors are normal
    bool bounded;     // the interval ends inside of the range
    bool determined;  // and its ends are at most a quarter apart
};

// Place number `index` of a grid of low discrepancy (Halton), along unknown number `key`.
double fit_halton(size_t index, size_t key);
// The point with the least misfit; NULL = interrupted before there was one.
struct fit_point *fit_search(struct fit *f);
// The ranges of the unknowns around it.
void fit_ranges(struct fit *f, const struct fit_point *best, struct fit_range *ranges);

extern const struct command fit_command;
