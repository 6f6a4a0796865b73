// SPDX-License-Identifier: MIT
// The key `algorithm` of programs: an algorithm for all operations, or one for each.
#pragma once

#include "collective/algorithm/collective.h"
#include "workload/group_choice.h"
#include "workload/kind.h"
#include "workload/read/algorithms.h"
#include "workload/read/executor_key.h"
#include "workload/read/job_ranks.h"

// Read `algorithm` and the settings of algorithms. Operations without one run by ring, all_to_all
// by direct.
void group_algorithms_read(struct reader *r, const struct place *place, struct keys *keys,
                           struct group_choice *choice);
void group_algorithms_write(json_t *json, const struct group_choice *choice);
void group_algorithms_schema(json_t *object);

// Its entry among the own keys of a kind of job.
#define GROUP_ALGORITHM_KEY                                                                        \
    {                                                                                              \
        "algorithm", "word or object", "ring; all_to_all: direct",                                 \
            "of all collectives, or of each operation; each has its settings: "                    \
            "collwire list collective"                                                             \
    }

// Check that the schedule's algorithm, or its library, can run an operation over a group, and that
// its pairs can exchange messages; adds an error at `place` if not. `shape` gives the operation,
// its bytes, root and vectors; `members`: rank of the job of each member, NULL = all.
bool group_check(struct reader *r, const struct place *place, const struct job_spec *job,
                 const struct coll_schedule *s, struct coll_shape shape, const uint32_t *members);
