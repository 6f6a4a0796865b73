// SPDX-License-Identifier: MIT
// A scenario that trains by a layout, on a smaller job: the same groups and the same sizes of
// messages, with fewer layers, micro-batches and data replicas.
#pragma once

#include "cli/plan/cluster.h"
#include "plan/search.h"

struct shrunk {
    json_t *scenario;         // NULL = there is none
    struct llm_params params; // of the smaller job
    uint32_t gpus;
};

// One layer for each virtual stage (of jobs with experts those from one layer with experts to the
// next), as many micro-batches as stages, but two at least, and as few data replicas as fill two
// servers. Returns a scenario that is NULL after an error.
struct shrunk layout_shrunk(const struct cluster *m, const struct plan_layout *layout,
                            struct err *err);

// The whole job.
struct shrunk layout_whole(const struct cluster *m, const struct plan_layout *layout,
                           struct err *err);
