// SPDX-License-Identifier: MIT
// Policies side by side: the rows of all runs, grouped by scenario and job, with statistics over
// seeds for each policy.
#pragma once

#include "report/comparison/statistics.h"
#include "report/rows.h"

// A column of a policy, over the seeds with which it completed.
struct column_summary {
    double mean, median;
    double center;            // mean or median, see group.center
    struct interval interval; // of the center
    /* against the baseline, over the seeds with which both completed */
    double ratio; // of the centers
    struct interval ratio_interval;
    bool mixed; // too few seeds for an interval, and they disagree on the sign
};

// Result of one policy (and value) for one scenario (or job), over all seeds.
struct outcome {
    const char *name;        // of its rows: the policy, and what varies beside it
    const struct row **rows; // [n], in the order of seeds
    size_t n, n_completed;
    bool identical; // several seeds, and all gave the same figures
    bool best;
    struct column_summary columns[ROW_COLUMNS];
    double shares[PATH_CAUSES]; // of the critical path, mean over the seeds; NAN = there is none
};

// A scenario, or one of its jobs.
struct group {
    const char *scenario, *job; // job: NULL = the whole run
    struct outcome *outcomes;
    size_t n;
    const struct outcome *baseline;
    enum center center; // medians where noise of hosts acts: a few seeds may fall into another mode
    size_t headline;    // the column that is compared first: the time of what the scenario is about
};

struct comparison {
    struct group *groups;
    size_t n;
    size_t n_seeds;
};

// Group the rows, which must outlive the result. `baseline` is the name of some of them.
struct comparison *comparison_new(const struct rows *rows, const char *baseline);
void comparison_free(struct comparison *c);

// True if the ratio of a column differs from 1 for certain: its interval excludes 1, or without an
// interval the seeds agree.
bool column_differs(const struct outcome *o, size_t column);

// The statistics as a JSON list, one item for each group and policy.
json_t *comparison_json(const struct comparison *c);

// What compare.json says beside rows and statistics; borrowed.
struct comparison_about {
    const char *const *scenarios; // [n_scenarios] names; the first one names the comparison
    size_t n_scenarios;
    const char *baseline;
    json_t *varied; // list of the varied paths; NULL = none
    uint64_t seeds;
    json_t *draws; // what it says of draws, an object of further keys; NULL = nothing was drawn
};

// The text of compare.json; to be freed.
char *comparison_document(const struct comparison_about *about, const struct rows *rows,
                          const struct comparison *c);
