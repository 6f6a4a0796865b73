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
void group_algorithms_read(struct reader *r, const struct place *place,
                           struct group_choice *choice);
void group_algorithms_write(json_t *json, const char *key, const void *value, const json_t *given);
json_t *group_algorithms_schema(void);

// The rows of `algorithm`, with its default and purpose in words, and of `library` for a struct
// group_choice at member `at` of the settings struct `of`.
#define GROUP_ALGORITHM_PARTS(of, at, def, purpose)                                                \
    PART_ROW("algorithm", "word or object", def,                                                   \
             purpose ", or of each operation; each has its settings: collwire list collective",    \
             .offset = offsetof(of, at), .write = group_algorithms_write,                          \
             .schema = group_algorithms_schema),                                                   \
        LIBRARY_PART(of, at.library, 0)
#define GROUP_PARTS(of, at)                                                                        \
    GROUP_ALGORITHM_PARTS(of, at, "ring; all_to_all: direct", "of all collectives")

// Check that the schedule's algorithm, or its library, can run an operation over a group, and that
// its pairs can exchange messages; adds an error at `place` if not. `shape` gives the operation,
// its bytes, root and vectors; `members`: rank of the job of each member, NULL = all.
bool group_check(struct reader *r, const struct place *place, const struct job_spec *job,
                 const struct coll_schedule *s, struct coll_shape shape, const uint32_t *members);
