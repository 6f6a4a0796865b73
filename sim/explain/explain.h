// SPDX-License-Identifier: MIT
// Explanations: sentences made from a result and facts of the network and the jobs.
#pragma once

#include "sim/fabric/fabric.h"
#include "workload/workload.h"

// What explanations are made from, beside the result.
struct explain_facts {
    const struct fabric *fabric;
    const struct workload *workload;
    bool stuck; // nothing was left to happen, or nothing was delivered for long
};

// Add the sentences about a run; its results are complete but for them.
void explain(const struct explain_facts *facts, struct result *r);
// List what blocks the run: every unfinished flow, and every port that PFC has paused.
void explain_waiting(const struct explain_facts *facts, struct result *r);
// Find a circle of paused ports.
void find_deadlock(const struct fabric *fabric, struct result *r);
