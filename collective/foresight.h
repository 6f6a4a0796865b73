// SPDX-License-Identifier: MIT
// Predicts whether phases of groups in several shards may start or end within a window.
//
// A phase starts when its last member is ready and its dimension has a place for it, and gives its
// place back when its last member has ended. Neither takes time, so a group in several shards
// decides in the order of events: on one thread. None of its phases starts or ends within a window
// if each running phase has a message that is delivered after the window, or a member that is then
// still delayed, and if
//  - all places are taken; or
//  - no open collective has further phases for the group, and a member issues no other one: it
//    computes until after the window, its program is over, or it waits for a collective, one of
//    whose messages to it is delivered after the window.
#pragma once

#include "collective/communicator.h"

// The network's predictions for messages.
struct comm_network_view {
    // The least time from the post of a message to its delivery.
    ps_t (*least_ps)(void *ctx, const struct transfer_request *request);
    // True if a message that has been posted (all of `request` but its hint and origin is set)
    // cannot be delivered before `until_ps`.
    bool (*late)(void *ctx, const struct transfer_request *request, ps_t until_ps);
    uint64_t events; // before the window, the same in all processes
    void *ctx;
};

// True if a library runs an operation of the job that cannot end within `span_ps` from now. Until
// its end the job is not over, and messages or timers of the operation are pending.
bool comm_library_holds(const struct comm_job *job, const struct comm_network_view *view,
                        ps_t span_ps);

// Returns true unless no phase of such a group of the listed communicators (comm_job.queued) can
// start or end between `now` and `until_ps`.
bool comm_may_start(struct communicator *listed, const struct comm_network_view *view, ps_t now,
                    ps_t until_ps);
