// SPDX-License-Identifier: MIT
// Collectives of a rank whose times were measured in a real run, beside their simulated times.
#pragma once

#include "workload/nodes/node.h"

struct measured_call {
    uint32_t group, number; // number: of the collective in its group
    enum coll_op op;
    uint64_t bytes;
    ps_t measured_ps;      // of this rank, from its begin to its end
    ps_t begin_ps, end_ps; // simulated
};

struct measured_calls {
    struct measured_call *items;
    size_t n, cap;
};
