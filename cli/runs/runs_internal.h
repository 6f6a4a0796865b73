// SPDX-License-Identifier: MIT
// A comparison while it runs; shared by the files of the command.
#pragma once

#include "cli/draws/draw_plan.h"
#include "cli/options/options.h"
#include "cli/results/result_set.h"
#include "cli/terminal/pool_progress.h"
#include "config/policy_choice.h"
#include "report/comparison/comparison.h"
#include "report/rows.h"
#include "report/study/value_grid.h"

// A scenario that is compared.
struct compared {
    const char *path, *name;
    struct collwire_scenario *base;
    struct policy_choice *choices;
    size_t n_choices;
};

// A run.
struct variant {
    struct compared *of;
    const struct policy_choice *choice; // NULL = the scenario's own policy
    size_t point;                       // of the grid: the varied values
    char *policy, *name;                // name: in tables, and of the directory
    json_t *vary;                       // values by path; NULL = none vary
    uint64_t seed;
    char *dir;
    struct collwire_scenario *scenario; // NULL = to be loaded by the worker
    bool ran;
    int code;
    char id[33];   // of its set of files; "" = none
    char *failure; // why there are no results, NULL = unknown
};

#define NOT_STARTED "not started" // failure of runs that an interruption left out

struct compare {
    const struct options *options;
    struct compared *scenarios;
    size_t n_scenarios;
    struct grid grid; // of --vary: one axis, or none
    char *heading;    // of the column of names
    struct variant *list;
    size_t n;
    const char *baseline; // name of a variant
    char *dir;
    struct result_set *set; // of the directory that contains the runs' directories
    struct pool_line line;
    bool interrupted, written;
    struct compare_draws *draws; // NULL = no --draws
};

// The completed run of an outcome whose time is nearest to the center; NULL = there is none. The
// outcome with the longest time; NULL = none has one.
const struct row *typical_run(const struct group *g, const struct outcome *o);
const struct outcome *worst_outcome(const struct group *g);

// Run the trials of the best and the worst row of each scenario, where --try is given or the row
// had few packet-hops. Returns true if the metrics of a row were replaced.
bool compare_try(const struct compare *c, const struct rows *rows);

// Load the scenario of a run; `draw` are the settings of a draw, NULL = none.
struct collwire_scenario *compare_load(const struct compare *c, const struct variant *one,
                                       const struct draw_sets *draw, struct err *err);

// Write compare.json and compare.csv and print the results. Returns 0, or -1 after a message.
int compare_write(const struct compare *c, struct rows *rows);
