// SPDX-License-Identifier: MIT
// The parts of a result, each made by one file.
#pragma once

#include "sim/collect/collect.h"

void collect_collectives(const struct sim *sim, struct result *r);
// Collect the results of critical paths: of a collective's record, and of all jobs that have ended.
void collect_critical(const struct sim *sim, const struct collective_record *record,
                      struct collective_result *c);
// Copies the times by cause; returns their sum.
ps_t collect_parts(const ps_t parts[PATH_CAUSES], ps_t out[PATH_CAUSES]);
void collect_slowest(const struct sim *sim, struct result *r);
void collect_trainings(const struct sim *sim, struct result *r);
void collect_memory(const struct sim *sim, struct result *r);
void collect_programs(const struct sim *sim, struct result *r);
void collect_jobs(const struct sim *sim, struct result *r); // after collectives and trainings
void collect_timeline(const struct sim *sim, struct result *r);
void collect_network(const struct sim *sim, struct result *r);
void collect_measured(const struct sim *sim, struct result *r); // after the flows
void collect_status(const struct sim *sim, struct result *r);
void collect_measured_collectives(const struct sim *sim, struct result *r);
char *collect_pair_name(const struct sim *sim, uint32_t src,
                        uint32_t dst); // "rank0->rank1", to be freed
