// SPDX-License-Identifier: MIT
// The message interface that every network offers to workloads.
#pragma once

#include <stdbool.h>

#include "engine/units.h"

struct transfer_request {
    uint32_t src, dst; // ranks, src != dst
    uint64_t bytes;    // 0 is legal: a message of headers only
    uint32_t job, channel;
    uint32_t stripe; // 1.. = part of a message that is cut over planes; 0 = whole
    uint32_t cls;    // class of its data
    bool own_qp;     // a queue pair of its own (raw flows)
    uint64_t token;  // handed back
};

// Called by the network inside the event that makes it true; may post again from that rank.
struct transfer_client {
    // The last of its bytes has arrived at the receiver.
    void (*delivered)(void *ctx, uint64_t token, uint64_t bytes, ps_t now);
    void (*sent)(void *ctx, uint64_t token, ps_t now);   // last ACK at the sender
    void (*failed)(void *ctx, uint64_t token, ps_t now); // given up; neither of the others follows
    void *ctx;
};

struct coll_phase_call; // collective/phase.h: a network hands it on, and knows it only if it can

struct transfer {
    void (*post)(void *net, const struct transfer_request *request, ps_t now);
    // A network without contention may know a whole phase of a collective, which all its ranks begin
    // at once, in closed form: true, and how long it takes. NULL = none does.
    bool (*phase)(void *net, const struct coll_phase_call *phase, ps_t *duration_ps);
    void *net;
};
