// SPDX-License-Identifier: MIT
// Aggregators of switches, the trees that groups of ranks reserve on them, and the division of their
// buffers.
#pragma once

#include "sim/sim_internal.h"

// Number of aggregators of a graph without any: the switches of dimensions with switch.reduction.
uint32_t sim_count_aggregators(const struct sim *sim);

// Add an aggregator to each of these switches, for which room has been reserved.
void sim_add_aggregators(struct sim *sim);

void sim_reductions_init(struct sim *sim); // after the network
void sim_reductions_free(struct sim *sim);

// The function comm_job.reduce.
const struct coll_reduction *sim_reduce(void *sim, const struct comm_reduce_request *request);

// Divide the buffers among the groups that have reserved aggregators, and warn of the jobs that have
// got none; after the workload.
void sim_reductions_settle(struct sim *sim, struct err *err);

void sim_reductions_collect(const struct sim *sim, struct result *r);
