// SPDX-License-Identifier: MIT
// A scenario that trains by a layout, on a smaller job: the same groups and the same sizes of
// messages, with fewer layers, micro-batches and data replicas.
#pragma once

#include "cli/plan/cluster.h"
#include "cli/plan/search.h"

struct shrunk {
    json_t *scenario;         // NULL = there is none
    struct llm_params params; // of the smaller job
    uint32_t gpus;
};

// What a smaller job leaves out. Each value leaves out what the one before it does, and more.
enum shrinking {
    SHRINK_NOTHING,
    SHRINK_REPLICAS,      // as few data replicas as fill two servers
    SHRINK_MICRO_BATCHES, // and two micro-batches for each stage, four at least
    SHRINK_LAYERS,        // and four layers for each virtual stage
    SHRINK_MOST,          // and as many micro-batches as stages, two at least, and one layer
    SHRINKINGS
};

// Layers of jobs with experts are whole periods from one layer with experts to the next. Returns a
// scenario that is NULL after an error.
struct shrunk layout_shrunk(const struct cluster *m, const struct plan_layout *layout,
                            enum shrinking shrinking, struct err *err);
