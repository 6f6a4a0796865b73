// SPDX-License-Identifier: MIT
// A look at what the hybrid network would save: a trial of the beginning of a run.
//
// The share of the bytes that are quiet is known only from a run. The trial has a number of events,
// and so ends alike on every machine; what comes later in the run may meet more or less.
#pragma once

#include "cli/options/options.h"
#include "cli/runs/simulate.h"

#define LOOK_FROM_HOPS 20e6 // of a run by packets: less takes seconds

struct hybrid_look {
    double quiet_share, until_ns; // of the bytes until then
    double messages, payload_bytes;
    double packet_hops, wall_s; // of a whole run, if the rest of it is alike
    double packets_s;           // of a whole run by packets
};

// Simulate the first events of a scenario, whose cost is known, on the hybrid network. Returns
// false if nothing can be said, or the run takes no time anyway.
bool hybrid_look(const struct options *o, const struct collwire_scenario *scenario,
                 const struct collwire_cost *cost, struct hybrid_look *look);
