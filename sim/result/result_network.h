// SPDX-License-Identifier: MIT
// Results of ports, switches, NICs and transports. Times are in ps; -1 = null.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/units.h"
#include "switch/counters.h"
#include "transport/counters.h"

struct pfc_port_result {
    char *at; // the paused port
    unsigned cls;
    uint64_t pauses;
    ps_t paused_ps;
};

struct port_result {
    char *at;
    bool from_switch;
    uint64_t bytes, packets, max_queue_bytes, dropped_packets, dropped_bytes;
    struct switch_port_counters counters; // of a switch's port
    uint64_t trimmed_packets, trimmed_bytes, retried_packets, retries;
    ps_t retry_ps;
    double utilization, mean_queue_bytes;
};

// A link that failed or was repaired, or an update of all routes.
struct link_change {
    ps_t at_ps;
    const char *at, *what;
};

struct switch_result {
    char *at;
    uint64_t max_queue_bytes, max_buffer_bytes, max_headroom_bytes;
    uint64_t max_ingress_bytes; // of lossless classes if there are any
    double alpha;               // alpha of that ingress's class
    uint64_t shared_bytes, headroom_limit_bytes;
    double mean_queue_bytes;
    struct switch_counters counters;
};

// A NIC that is not ideal. [0] sends, [1] receives.
struct nic_result {
    char *at; // its rank
    uint32_t dim;
    uint64_t max_held_bytes, pauses, dropped_packets, qp_lookups[2], qp_misses[2];
    double busy_share[2], bus_share[2]; // shares of the time with a busy pipeline and a busy bus
    double missed_share[2];             // share for which its pipeline waited for contexts
};

struct aggregator_result { // in a switch
    char *at;
    uint64_t buffer_bytes, max_bytes, reduced_bytes;
};
