// SPDX-License-Identifier: MIT
// The job kind `chakra`: execution traces, one for each rank.
#pragma once

#include "workload/chakra/set.h"
#include "workload/nodes/program_job.h"

struct chakra_params {
    const char *prefix, *comm_groups;
    int order;   // enum program_order
    int missing; // 1 = ignore
    uint64_t comm_streams, window;
    double peak_tflops; // 0 = computations take their duration
    double memory_gbps; // 0 = infinite
    uint64_t remote_bps, remote_share;
    ps_t remote_latency_ps;
    struct group_params group;
    struct contention_params contention;
    struct mapping_params mapping;
};

struct chakra_settings {
    struct chakra_params params;
    struct group_choice choice; // without `system`
    struct trace_set set;
    struct node_program program;
    bool rendezvous; // messages wait for their receivers (collective/rendezvous.h)
};

extern const struct job_kind chakra_kind;
