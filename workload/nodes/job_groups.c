// SPDX-License-Identifier: MIT
// All groups of a job have the same size and algorithm, but not the same paths between their ranks.
// Groups of 4 in a switch dimension of 6: ranks 0 to 3 share a switch, ranks 4 to 7 do not, and
// some of these pairs may have no path. So every group is checked.
#include "workload/nodes/job_groups.h"

#include "workload/read/executor_key.h"

bool job_groups_check(struct reader *r, const struct place *place, const struct job_spec *job,
                      const struct node_group *groups, const uint32_t *group_of,
                      struct coll_shape shape)
{
    uint32_t ranks = group_of != NULL ? job_size(r, job) : 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct node_group *g = &groups[group_of[rank]];
        if (g->ranks != NULL && g->ranks[0] != rank)
            continue; // each group is checked for its first rank
        const struct executor_spec *library = g->schedule.library;
        if (rank > 0 && library != NULL && executor_checks_all(library))
            return true;
        if (!group_check(r, place, job, &g->schedule, shape, g->ranks))
            return false;
        if (g->ranks == NULL)
            return true;
    }
    return true;
}
