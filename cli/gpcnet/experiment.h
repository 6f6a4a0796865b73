// SPDX-License-Identifier: MIT
// The network tests on one network: all policies and seeds, alone and beside the congestors.
#pragma once

#include "cli/gpcnet/gpcnet_table.h"
#include "cli/options/options.h"
#include "cli/terminal/pool_progress.h"
#include "config/draft.h"
#include "config/policy_choice.h"

struct task {
    size_t policy;
    uint64_t seed;
    enum gpcnet_test test;
    bool congested;
    struct collwire_scenario *scenario;
    struct measured made;
};

struct experiment {
    const struct options *options;
    struct draft draft;
    struct policy_choice *choices;
    size_t n_policies;
    uint32_t ranks;
    struct gpcnet_span span;
    uint64_t first_seed;
    struct task *tasks;
    size_t n_tasks;
    struct impact *impacts; // [n_policies]
    size_t failed;
    struct pool_line line;
};

// Read the network of the options' scenario `path` and its policies, and make the runs. Return 0,
// or -1 with errors.
int experiment_read(struct experiment *g, const char *path, struct err *err);
int experiment_make(struct experiment *g, struct err *err);

// Run all, and fill `impacts`; `failed` counts runs without a result. Returns 0, or -1 if it was
// interrupted.
int experiment_run(struct experiment *g);

void experiment_free(struct experiment *g);
