// SPDX-License-Identifier: MIT
// Parameter tables that several kinds of jobs share.
#pragma once

#include "engine/base/param.h"

struct flow_params {
    uint64_t src, dst, bytes;
    ps_t start_ps;
};

struct straggler_params {
    uint64_t rank;
    double factor;
};

extern const struct param flow_params[], straggler_params[];
extern const size_t n_flow_params, n_straggler_params;
