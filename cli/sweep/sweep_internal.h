// SPDX-License-Identifier: MIT
// A sweep while it runs; shared by the files of the command.
#pragma once

#include "cli/measured/measured_table.h"
#include "cli/options/options.h"
#include "cli/results/result_set.h"
#include "cli/terminal/pool_progress.h"
#include "config/policy_choice.h"
#include "report/study/store.h"
#include "report/study/value_grid.h"

// Names of axes that are not paths of the scenario.
extern const char sweep_scenario[], sweep_policy[], sweep_seed[];

// A point of this shard.
struct point {
    size_t position; // in the grid
    char hash[POINT_HASH];
    bool finished;                    // it is in the store
    double expected_s, expected_hops; // estimates
};

struct sweep {
    const struct options *options;
    const char *const *paths; // of the scenarios
    struct collwire_scenario **bases;
    size_t n_scenarios;
    struct grid grid;
    size_t n_grid; // points of the whole grid
    struct policy_choice *choices;
    size_t n_choices;
    struct point *points;
    size_t n;
    char *dir;
    char (*done)[POINT_HASH]; // hashes of points that had finished before, sorted
    size_t n_done;
    struct result_set *set;
    struct store *store;
    struct pool_line line;
    bool stop; // a result could not be stored
    bool interrupted;
    struct measured_table measured; // of --against
    double calibration;             // seconds of this machine for an estimated second
};

// Load the scenario of a point; `wall_limit` replaces limits.wall, NULL = unchanged.
struct collwire_scenario *sweep_load(const struct sweep *s, size_t position, const char *wall_limit,
                                     struct err *err);

// The varied values of a point as a JSON object; to be freed.
char *sweep_values(const struct sweep *s, size_t position);

// Read the options into axes and points. Errors are added.
void sweep_plan(struct sweep *s, struct err *err);

// Load and build every point in parallel: its hash, estimate and errors, which are added, equal
// ones once. Sets s->interrupted.
void sweep_check(struct sweep *s, struct err *err);

// Run all points that have not finished, into the store.
void sweep_run(struct sweep *s);

// Run some points for a moment, to measure the speed of this machine.
void sweep_calibrate(struct sweep *s);

// Write sweep.csv and print the results. Returns the exit code.
int sweep_finish(struct sweep *s);

void sweep_print_list(const struct sweep *s);
void sweep_print_cost(const struct sweep *s, FILE *out);

// Print the tables of the points in the store, without a plan.
int sweep_list_store(const struct options *o);

// Print the line with the place of a sweep's results.
void sweep_results_print(const char *dir);

// The points of the store as CSV, to be freed; NULL with an error. `why`: with their reasons;
// `measured`: with the measured time of each size, NULL or empty = without.
char *sweep_csv(struct store *store, bool why, const struct measured_table *measured,
                struct err *err);

// What costs the most time along each axis, as a list of sentences (a new reference), and printed.
json_t *sweep_why(struct store *store, struct err *err);
void sweep_print_why(struct store *store, struct err *err);

// Print the best point of each job and the axes that change its time, where runs have several jobs.
// `csv` is the text of sweep.csv.
void sweep_print_effects(const char *csv);

// Write sweep.csv and sweep.json from the store and install them. Returns 0, or -1 with an error.
int sweep_commit(struct result_set *set, struct store *store, bool why,
                 const struct measured_table *measured, struct err *err);
