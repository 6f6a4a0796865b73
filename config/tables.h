// SPDX-License-Identifier: MIT
// Parameter tables of the scenario's own objects: what no module below owns.
#pragma once

#include "sim/spec.h"

// A quantity of `limits` as written; "auto" = no limit.
struct limits_params {
    ps_t sim_time_ps, wall_ps, stall_ps;
    uint64_t events, memory_bytes;
};

struct dim_params {
    uint64_t size, ranks_per_port;
};

struct flow_params {
    uint64_t src, dst, bytes;
    ps_t start_ps;
};

struct straggler_params {
    uint64_t rank;
    double factor;
};

struct ecn_switch {
    bool enabled; // the scenario's word for ecn_spec.mode
};

extern const struct param scenario_params[], limits_params[], report_params[], capture_params[],
    dim_params[], link_params[], flow_params[], straggler_params[], ecn_switch_params[],
    fault_params[], route_params[];
extern const size_t n_scenario_params, n_limits_params, n_report_params, n_capture_params,
    n_dim_params, n_link_params, n_flow_params, n_straggler_params, n_ecn_switch_params,
    n_fault_params, n_route_params;

// Keys that are no single value: read by code, listed for people.
struct own_key {
    const char *key, *type, *def, *help;
};
struct object_key { // of an object that is no job
    const char *object;
    struct own_key own;
};
extern const struct object_key own_keys[];
extern const size_t n_own_keys;
