// SPDX-License-Identifier: MIT
// What switches count. The structs are handed over between processes and copied into the results as
// a whole, so a new counter is its field here, the place that counts it, and its row in
// report/metric_fabric.c.
#pragma once

#include <stdint.h>

// Of a port: [global port].
struct switch_port_counters {
    uint64_t marked;  // packets that got a CE mark
    uint64_t metered; // packets beyond the rate of a meter: dropped, or marked if they can be
};

// Of a switch, or of the router of a rank.
struct switch_counters {
    uint64_t markable; // ECN-capable packets that could have been marked
};
