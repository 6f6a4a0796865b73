// SPDX-License-Identifier: MIT
// collwire tune: the settings of a scenario, or of several at once, that make a goal best.
#pragma once

#include "cli/fit/fit.h"

#define TUNE_GOALS 2
#define TUNE_GUARDS 8
#define TUNE_SCENARIOS 64

// A quantity of the results (cli/fit/observed.h), as in "max_queue dim0.sw0->rank3".
struct tune_goal {
    char *text; // as given
    bool most;  // the largest value is best
};

// A bound that must hold in every scenario, with the mean over the seeds.
struct tune_guard {
    char *text;
    bool least; // the value must not be below the bound
    double bound;
};

// A scenario: the search's runs, its own settings, and the best ones on seeds that were not used.
struct tune_case {
    char *name;
    struct fit search, as_is, unused_as_is, unused_best;
    struct fit_point *start; // of as_is
};

struct tune {
    const struct options *options;
    struct unknowns keys;
    struct tune_goal goals[TUNE_GOALS];
    struct tune_guard guards[TUNE_GUARDS];
    size_t n_goals, n_guards;
    struct observed values; // the goals, then the guards
    struct tune_case *cases;
    size_t n_cases;
    double quantile; // over the cases, which counts: faults; 0 = their mean
    uint64_t check;  // seeds that were not used
    double best[UNKNOWNS_MOST];
    bool interrupted;
};

/* ---- the command line (tune_words.c) ---- */

int tune_words(struct tune *t, struct err *err); // --vary, --goal, --guard
void tune_words_free(struct tune *t);

/* ---- cases (tune_cases.c) ---- */

// Read the scenarios, each once more for every drawn fault of --faults, and run them as they are.
int tune_open(struct tune *t, struct err *err);
void tune_free(struct tune *t);
// Runs that each place takes.
uint64_t tune_cost(const struct tune *t);

/* ---- the search (tune_search.c) ---- */

#define TUNE_NOT_RUN 1e9
#define TUNE_BREAKS 100 // added where a guard does not hold

// How far the goal is from the scenarios' own settings: the logarithm of the ratio, below 0 =
// better; the mean over the cases, or their quantile. The second goal has the weight `second`.
// Places that break a guard have TUNE_BREAKS and more.
double tune_score(struct tune *t, const double *places, double second);
// Run part `part` of `parts` of the first grid, whose places do not depend on each other. Returns
// how many places that is.
size_t tune_part(struct tune *t, size_t part, size_t parts);
// Set t->best. Returns false if nothing has run.
bool tune_search(struct tune *t);
// Runs below which there is no search.
uint64_t tune_least(const struct tune *t);

// What a key does around the best place.
struct tune_effect {
    double loss;      // of the goal, at the worst place of the range, with the others at their best
    double low, high; // places beside the best one whose loss is below 1 %
};
struct tune_effect tune_effect(struct tune *t, size_t key);

/* ---- the result (tune_tell.c) ---- */

int tune_tell(struct tune *t, const struct tune_effect *effects, struct err *err);

/* ---- what it writes (tune_json.c) ---- */

// The value of a key as the scenario has it; to be freed.
char *tune_own_value(const struct tune *t, const char *path);
// The keys with their best values and where they lose nothing.
json_t *tune_keys_json(const struct tune *t, const struct tune_effect *effects);
// Add the first goal of the first scenario: its value with the best settings and as it was, and the
// share by which it is better; null = not known.
void tune_add_summary(const struct tune *t, json_t *all, const json_t *gains);
// Write the first scenario with the settings (-o). Returns 0, or -1 with an error.
int tune_write_scenario(const struct tune *t, struct err *err);

extern const struct command tune_command;
