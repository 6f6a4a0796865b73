// SPDX-License-Identifier: MIT
// Parameter tables that several objects share.
#pragma once

#include "sim/spec/spec.h"

struct flow_params {
    uint64_t src, dst, bytes;
    ps_t start_ps;
};

struct straggler_params {
    uint64_t rank;
    double factor;
};

extern const struct param link_params[], flow_params[], straggler_params[];
extern const size_t n_link_params, n_flow_params, n_straggler_params;
