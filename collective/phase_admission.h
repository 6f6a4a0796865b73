// SPDX-License-Identifier: MIT
// Decisions that the ranks of a communicator share: the plan of a collective, and which phases may
// run in a dimension.
//
// Scope: one admission per communicator decides for all its members. In all other files of
// collective/ the state of a rank depends on other ranks through messages only. Inputs: the plan of
// collective number k depends on its request and on the time when the first member issues it.
// Whether a phase may run depends on the members of the group that are ready, the queueing order of
// the schedule and the phases that are running. Order: requests are handled in the event in which
// they arise, so in the order of the engine's keys: by time, then by rank of the network, then in
// the order of the rank's program. A phase enters the queue in the event in which its last member
// becomes ready. If phases in closed form end at the same time in one queue, the phase that began
// first ends first.
//
// The decisions take no simulated time. Where a simulation has shards (engine/shards.h), a group
// within one shard decides at once. For a group of several shards, ranks become ready at the end of
// the window, in the order of their events, since a window in which a phase of such a group may
// start or end runs on one thread (collective/foresight.h).
#pragma once

#include "collective/comm_internal.h"

void admission_init(struct communicator *c);
void admission_free(struct communicator *c);

// Create and plan collective `number` if `member` is the first to issue it. Returns NULL, and ends
// the run, if another member has issued a different one.
struct instance *admission_open(struct communicator *c, uint32_t number, uint32_t member,
                                const struct comm_request *request, ps_t now);

// Free a collective if all its members and phases have ended.
void admission_close(struct communicator *c, struct instance *in);

// One more member is ready for its phase. Starts every phase that may run now.
void admission_ready(struct phase_run *run, ps_t now);

// A phase has ended and frees its place; no other phase starts before admission_next().
void admission_leave(struct phase_run *run, ps_t now);
struct dim_queue *admission_queue(const struct phase_run *run);
void admission_next(struct communicator *c, struct dim_queue *queue, ps_t now);

// True if the members of the queue's group, or the aggregators of its phases, are in several shards
// of the simulation.
bool admission_spans(struct communicator *c, const struct dim_queue *queue);

// True if an open collective has a phase in a group that has not begun.
bool admission_phases_left(const struct communicator *c, uint32_t dim, uint32_t group);

// Add phases that have begun and not ended to the use of the dimensions.
void admission_use_flush(struct communicator *c, ps_t now);
