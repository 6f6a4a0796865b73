// SPDX-License-Identifier: MIT
// Groups of a job are alike in size and algorithm, but not in which of their pairs a dimension of
// the network joins: where the sizes of groups do not divide those of dimensions, one group may lie
// within a dimension and the next one across two.
#include "config/job/job_groups.h"

bool job_groups_check(struct reader *r, const struct place *place, const struct job_spec *job,
                      const struct node_group *groups, const uint32_t *group_of,
                      struct coll_shape shape)
{
    uint32_t ranks = group_of != NULL ? job_size(r, job) : 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        const struct node_group *g = &groups[group_of[rank]];
        if (g->ranks != NULL && g->ranks[0] != rank)
            continue; // each group is checked for its first rank
        const struct library_spec *library = g->schedule.library;
        if (rank > 0 && library != NULL && library->machine != NULL)
            return true; // one check covers all: library_check() asks the network as a whole
        if (!group_check(r, place, job, &g->schedule, shape, g->ranks))
            return false;
        if (g->ranks == NULL)
            return true;
    }
    return true;
}
