// SPDX-License-Identifier: MIT
// Skips what repeats, without an error (docs/fast-forward.md).
//
// Above the network everything is simulated: jobs, collectives, the ledger, critical paths, statistics. Only
// the network is skipped. Where its whole state returns relative to the present (engine/state.h), what the
// network did in the period in between is known as a list of calls: messages delivered, last packets sent, and
// so on, at their times, and the messages that were posted meanwhile. As long as what is above posts the same
// messages at the same times, the list is simply repeated. At the first difference the network's state
// is moved to the beginning of the present period, and simulated from there on.
#pragma once

#include "sim/sim_internal.h"

struct skip;

// Begin to look for what repeats, if the scenario asks for it; before the run. sim->skip stays NULL where nothing
// can be skipped, and sim->skipped says why.
void sim_skip_init(struct sim *sim);

// Bring the network to the present; when the run ends, whatever the reason.
void sim_skip_finish(struct sim *sim);

// A message has been delivered at a rank that is watched, `age_ps` after its post.
void sim_skip_delivered(struct skip *skip, uint32_t rank, uint32_t src, uint64_t bytes, ps_t age_ps,
                        ps_t now);

// Post a message to the hosts.
void sim_skip_post(struct skip *skip, const struct transfer_request *request, ps_t now);

// Something outside has acted on the network: what is being recorded will not be repeated.
void sim_skip_spoil(struct skip *skip, const char *why);

// Hops of packets and delivered bytes that the counters do not have yet.
void sim_skip_ahead(const struct skip *skip, uint64_t *hops, uint64_t *bytes);
