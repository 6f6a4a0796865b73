// SPDX-License-Identifier: MIT
// What hosts count. All fields are 64-bit counters, so shards, processes and dimensions add the
// structs as a whole (engine/counters.h), and results have them as they are: a new counter is its
// field here, the place that counts it, and its row in report/metric_fabric.c.
#pragma once

#include "engine/counters.h"

// Of all flows of the whole or of a shard.
struct host_counters {
    uint64_t delivered_bytes, posted_bytes;
    uint64_t cnps_sent, echoed_marks, naks, timeouts, retransmitted;
    uint64_t moved;   // senders that took another port because their own led nowhere
    uint64_t cc_cuts; // number of times that a policy lowered a rate or a window
};

// Counts over all flows of a dimension, for transports whose events hosts.counters does not cover.
struct transport_counters {
    uint64_t connections;      // opened
    uint64_t retransmitted;    // packets with payload sent again
    uint64_t fast_retransmits; // retransmissions that start a fast recovery
    uint64_t timeouts;         // of the retransmission timer
    uint64_t loss_probes;      // tail loss probes
    uint64_t window_probes;    // probes of a closed receive window
    uint64_t duplicate_acks;   // that arrived at senders
    uint64_t spurious;         // retransmissions of packets that had arrived, as receivers report
    uint64_t resets;           // connections given up
    uint64_t nacks;            // reports of trimmed packets that arrived at senders
    uint64_t grants;           // credits that receivers have sent
    uint64_t requests;         // packets without payload that request credits
    uint64_t ack_requests;     // packets without payload that request an ACK
    uint64_t probes;           // packets without payload that probe a path with losses
};

COUNTERS(struct host_counters);
COUNTERS(struct transport_counters);
