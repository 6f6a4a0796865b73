// SPDX-License-Identifier: MIT
// Skips what repeats, without an error (docs/fast-forward.md).
//
// Above the network everything is simulated: jobs, collectives, the ledger, critical paths,
// statistics. Only the network is skipped. Where its whole state returns relative to the present
// (engine/state.h), what the network did in the period in between is known as a list of calls:
// messages delivered, last packets sent, and so on, at their times, and the messages that were
// posted meanwhile. As long as what is above posts the same messages at the same times, the list is
// simply repeated. At the first difference the network's state is moved to the beginning of the
// present period, and simulated from there on.
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

// Begin to look for what repeats, if the scenario asks for it; before the run. skipping->skip stays
// NULL where nothing can be skipped, and skipping->why says why.
void skip_begin(struct skipping *skipping);

// Bring the network to the present; when the run ends, whatever the reason.
void skip_finish(struct skipping *skipping);

// Add the hops of packets and the delivered bytes that the counters do not have yet.
void skip_ahead(const struct skipping *skipping, uint64_t *hops, uint64_t *bytes);
