// SPDX-License-Identifier: MIT
// The machine that a scenario describes, with any number of GPUs.
//
// The outermost dimension of its topology grows: servers of a `machine`, leaves of a leaf_spine or
// fat_tree, at the same oversubscription. A topology of one switch is one server; more GPUs than it
// has are servers joined by another dimension.
#pragma once

#include "cli/options/options.h"
#include "cli/plan/iteration.h"
#include "config/draft.h"

struct cluster {
    const struct options *options;
    struct draft draft;
    const json_t *fabric; // --fabric: a dimension that joins servers; NULL = the default
    struct draft fabric_file;
    uint32_t server; // GPUs
    bool joins;      // servers of one switch are joined by the fabric
};

// Read the scenario, with the settings of `changes`, and the fabric. Returns 0, or -1 with errors.
int cluster_read(struct cluster *m, const struct options *o, const struct options *changes,
                 const char *path, struct err *err);
void cluster_free(struct cluster *m);

// A new scenario with so many GPUs; NULL with an error if they are not whole servers.
json_t *cluster_grown(const struct cluster *m, uint32_t gpus, struct err *err);

// The network in closed form. Returns 0, or -1 with errors.
int cluster_network(const struct cluster *m, uint32_t gpus, struct plan_network *network,
                    struct err *err);

// The job, alone on one rank, with its shapes resolved; its degrees are one. Returns 0, or -1 with
// errors. `capacity_bytes`: of a GPU, less what `memory` reserves; 0 = not known.
int cluster_job(const struct cluster *m, struct llm_params *job, uint64_t *capacity_bytes,
                struct err *err);
