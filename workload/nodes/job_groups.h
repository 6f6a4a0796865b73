// SPDX-License-Identifier: MIT
// Checks of the groups into which a kind of job divides its ranks.
#pragma once

#include "workload/nodes/node.h"
#include "workload/read/group_algorithms.h"

// Check that every group runs the operation (group_check()); adds one error at `place` if not.
// `group_of`: [rank of the job] index into `groups`; NULL = there are none.
bool job_groups_check(struct reader *r, const struct place *place, const struct job_spec *job,
                      const struct node_group *groups, const uint32_t *group_of,
                      struct coll_shape shape);
