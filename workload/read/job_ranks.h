// SPDX-License-Identifier: MIT
// The ranks of a job that is being read: their number, checks of one rank and of a pair of ranks,
// and the setting `mapping`.
#pragma once

#include "collective/algorithm/collective.h"
#include "engine/text/read.h"
#include "workload/kind.h"
#include "workload/read/site.h"

// Number of ranks of the job; 0 while the network is unknown.
uint32_t job_size(const struct reader *r, const struct job_spec *job);
// Check that the job has a rank `value`; adds an error if not.
bool rank_check(struct reader *r, const struct place *place, const struct job_spec *job,
                int64_t value);
// True if a dimension connects all ranks, so that no pair needs a check.
bool pairs_all_joined(const struct reader *r);
// Check that two ranks of the job can exchange messages: a dimension connects them, or relaying is
// enabled, or the network is in closed form. If not, adds an error that names the pair.
bool pair_check(struct reader *r, const struct place *place, const struct job_spec *job, uint32_t a,
                uint32_t b);

/* mapping.c: sets the job's ranks by `mapping` */
void map_ranks(struct reader *r, const struct place *place, struct job_spec *job,
               const struct mapping_params *params);
