// SPDX-License-Identifier: MIT
// The job kind `chakra`: execution traces, one for each rank.
#pragma once

#include "chakra/set.h"
#include "workload/kind.h"

struct chakra_params {
    const char *prefix, *comm_groups;
    uint64_t streams;
    double peak_tflops; // 0 = computations take their duration
    uint64_t memory_bps, remote_bps;
    ps_t remote_latency_ps;
    struct mapping_params mapping;
};

struct chakra_settings {
    struct chakra_params params;
    struct trace_set set;
    struct node_program program;
};

extern const struct job_kind chakra_kind;
