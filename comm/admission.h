// SPDX-License-Identifier: MIT
// The decisions that several ranks of a communicator share: what a collective's plan is, and which
// phases have a place in a dimension.
//
// Who decides     One admission per communicator, for all its members. No other module of comm/ lets the
//                 state of one rank depend on another's but by messages.
// From what       The plan of collective number k: from its request and the time of the first member that
//                 issues it. A place: from the members of a group that are ready for a phase, the
//                 queueing order of the schedule and the phases that hold places.
// In which order  Requests are taken at the instant of the event in which they arise, so in the order
//                 of the engine's keys: by time, then by rank of the network, and of one rank in the
//                 order of its program. A phase requests a place in the event in which the last of its
//                 members gets ready. Of phases in closed form that end at one instant in a queue
//                 the one that began first ends first.
//
// The decisions take no simulated time, so ranks of one communicator that are simulated apart have to
// take them at one place (as a coordinator among partitions), in the order given here.
#pragma once

#include "comm/comm_internal.h"

void admission_init(struct communicator *c);
void admission_free(struct communicator *c);

// Collective `number`, planned where `member` is the first to issue it.
struct instance *admission_open(struct communicator *c, uint32_t number, uint32_t member,
                                const struct comm_request *request, ps_t now);

// Frees a collective if all its members and phases are over.
void admission_close(struct communicator *c, struct instance *in);

// Another member is ready for its phase; those that get a place start.
void admission_ready(struct phase_run *run, ps_t now);

// A phase has ended: its place is free, but no other phase gets it before admission_next.
void admission_leave(struct phase_run *run, ps_t now);
struct dim_queue *admission_queue(const struct phase_run *run);
void admission_next(struct communicator *c, struct dim_queue *queue, ps_t now);

// Adds to the dimensions' use what has begun and not ended.
void admission_use_settle(struct communicator *c, ps_t now);
