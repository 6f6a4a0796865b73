// SPDX-License-Identifier: MIT
// Explanations: sentences made from a result and facts of the network and the jobs.
#pragma once

#include "sim/fabric/fabric.h"
#include "sim/ideal/ideal.h"
#include "workload/workload.h"

// Inputs of the explanations in addition to the result.
struct explain_facts {
    const struct fabric *fabric;
    const struct workload *workload;
    const struct ideals *ideals;
    bool stuck; // nothing was left to happen, or nothing was delivered for long
};

// Add the sentences about a run; all other results must be complete.
void explain(const struct explain_facts *facts, struct result *r);
// List what blocks the run: every unfinished flow, and every port that PFC has paused.
void explain_waiting(const struct explain_facts *facts, struct result *r);
// Find a cycle of paused ports that wait for each other.
void find_deadlock(const struct fabric *fabric, struct result *r);
