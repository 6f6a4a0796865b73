// SPDX-License-Identifier: MIT
// What all jobs of a simulation will send, estimated before the run: messages, packets and hops.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct sim;

struct volume {
    double pairs;      // of ranks that exchange messages
    double flows;      // queue pairs: a pair of ranks may use several
    double flow_bytes; // memory of the queue pairs, without tables
    double messages;   // at most; parts of a message count as one
    double posts;   // the same, where a job whose messages are not known counts one for each pair
    double packets; // of data, without ACKs
    double hops, parts; // means over packets: number of links; over messages: number of parts
    double phases;      // of collectives, summed over all ranks and chunks
    double unacked; // payload in flight at the same time, as far as messages and policies limit it
    uint32_t smallest_mtu; // sim_smallest_mtu()
    bool listed;           // all messages are listed in the scenario
};

// Returns the volume of a network of packets, or in closed form (no packets, hops and queue pairs).
struct volume sim_volume(const struct sim *sim);

// The payload of the smallest full packet of all transports.
uint32_t sim_smallest_mtu(const struct sim *sim);
