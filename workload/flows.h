// SPDX-License-Identifier: MIT
// Jobs that are lists of messages, each on its own queue pair: settings of the kinds flows, incast,
// permutation and poisson. Each begins with the list, which its reader fills.
#pragma once

#include "workload/kind.h"

struct raw_flow {
    uint32_t src, dst; // indices into the job's ranks
    uint64_t bytes;
    ps_t start_ps;    // after the job's start
    ps_t measured_ps; // from its first to its last packet, in the capture that it is from; 0 = none
};

enum flow_connections { FLOW_OWN, FLOW_OF_PAIR };

struct flow_list {
    struct raw_flow *flows; // owned
    size_t n;
    int connections; // enum flow_connections
};

enum start_unit { START_UNIT_AUTO, START_UNIT_US, START_UNIT_NS, START_UNIT_PS };
struct flows_settings {
    struct flow_list list;
    const char *file; // "" = the scenario holds the list
    int start_unit;   // of a connection matrix: enum start_unit
};

struct incast_settings {
    struct flow_list list;
    uint64_t receiver, bytes;
};

struct permutation_settings {
    struct flow_list list;
    uint64_t shift, bytes;
};

struct poisson_settings {
    struct flow_list list;
    const char *cdf;
    double load;
    ps_t duration_ps;
};

extern const struct job_kind flows_kind, incast_kind, permutation_kind, poisson_kind;

// The list of flows of a job of one of these kinds.
static inline struct flow_list *job_flows(const struct job_spec *job) { return job->settings; }

// True if the job is a list with a flow that was measured in a capture.
bool job_is_measured(const struct job_spec *job);
