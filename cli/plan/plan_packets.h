// SPDX-License-Identifier: MIT
// Runs the best layouts over packets, each in a process of its own: the whole job, or the largest
// smaller one that needs no more packet-hops than the budget. Keeps the results in a folder: a line
// of JSON for each run, found again by the hash of its scenario. Parts of the runs, on several
// machines, write a file each; all that are in the folder are read.
#pragma once
#include "cli/plan/cluster.h"
#include "cli/plan/plan_search.h"

struct shrunk {
    json_t *scenario;         // NULL = there is none
    struct llm_params params; // of the smaller job
    uint32_t gpus;
};

// What a smaller job leaves out. Each value leaves out what the one before it does, and more.
enum shrinking {
    SHRINK_NOTHING,
    SHRINK_REPLICAS,      // as few data replicas as fill two servers
    SHRINK_MICRO_BATCHES, // and two micro-batches for each stage, four at least
    SHRINK_LAYERS,        // and four layers for each virtual stage
    SHRINK_MOST,          // and as many micro-batches as stages, two at least, and one layer
    SHRINKINGS
};

struct planned {
    uint32_t gpus;
    const struct plan_layout *layout;
    struct plan_network network;
    /* by packets */
    bool whole;       // the job that runs is the whole one
    double closed_ps; // the closed form of the job that runs
    double ps;        // its time over packets; 0 = it was not run
    double time_ps;   // of the layout: by packets and extrapolated, else in closed form
    double hops;      // of the job that runs, estimated
    char *impossible; // why the network cannot run the layout; NULL = it can, or nobody has tried
};

struct packets {
    const struct options *options;
    const struct cluster *cluster;
    double budget_hops; // of a layout
    const char *folder; // NULL = nothing is kept
    size_t part, parts; // the part of the runs, from 1
    struct planned *plans;
    size_t n;
};

// Run all that is within the budget and not known from the folder. Returns 0; -1 with errors before
// anything has run; or above 0 if a signal has ended it, or results could not be kept: what was
// known by then counts.
int packets_run(struct packets *p, struct err *err);
