// SPDX-License-Identifier: MIT
// Schedules of groups: one dimension.
#include "workload/group_choice.h"

struct coll_schedule group_schedule(const struct group_choice *choice, uint32_t ranks)
{
    struct coll_schedule s = {
        .library = executor_is_given(&choice->library) ? &choice->library : NULL,
        .n_dims = 1,
        .dim_size = {ranks},
        .dim_bandwidth = {1},
        .stepwise = true, // members arrive at different times
        .chunks = choice->params.chunks,
        .active_chunks =
            choice->params.active_chunks == PARAM_AUTO ? 0 : choice->params.active_chunks,
        .endpoint_ps = choice->params.endpoint_ps,
        .reduce_bps = choice->params.reduce_bps == PARAM_AUTO ? 0 : choice->params.reduce_bps};
    for (unsigned op = 0; op < COLL_OPS; op++)
        s.choice[op][0] = s.choice[op][1] = choice->by_op[op];
    return s;
}
