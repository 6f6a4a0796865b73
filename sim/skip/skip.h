// SPDX-License-Identifier: MIT
// Fast-forward: skips repetitions without an error (docs/fast-forward.md).
//
// Everything above the network is simulated: jobs, collectives, the ledger, critical paths,
// statistics. Only the network is skipped. When its whole state returns relative to the present
// (engine/state.h), the network's work in the period in between is given by a list of calls:
// messages delivered, last packets sent, and so on, at their times, and the messages that were
// posted meanwhile. As long as the layers above post the same messages at the same times, the list
// is simply repeated. At the first difference the network's state is moved to the beginning of the
// present period, and the network is simulated from there on.
#pragma once

#include "sim/delivery/delivery.h"
#include "workload/workload.h"

struct skip;

struct skipping {
    struct fabric *fabric;
    struct delivery *delivery;
    const struct workload *workload;
    struct skip *skip; // NULL = everything is simulated
    struct skip_result result;
    char why[200]; // why not more was skipped
};

void skipping_init(struct skipping *skipping, struct delivery *delivery,
                   const struct workload *workload);

// Begin to look for repetitions, if the scenario enables it; before the run. If nothing can be
// skipped, skipping->skip stays NULL, and skipping->why states the reason.
void skip_begin(struct skipping *skipping);

// Simulate the network up to the present, and end skipping; when the run ends, for whatever reason.
void skip_finish(struct skipping *skipping);

// Add the packet-hops and delivered bytes of repetitions that the counters do not include yet.
void skip_ahead(const struct skipping *skipping, uint64_t *hops, uint64_t *bytes);
