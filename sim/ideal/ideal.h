// SPDX-License-Identifier: MIT
// Ideal times: those of messages and collectives that are alone on the network.
#pragma once

#include "sim/fabric/fabric.h"

// The ideal times of a fabric, with a cache of recently computed paths.
struct ideals {
    const struct fabric *fabric;
    // [thread] NULL = the network is in closed form
    struct ideal_paths *paths;
    uint32_t n_threads;
    // [port] times with which the time of a byte counts, for networks that are faster than the
    // fabric; NULL = 1
    const double *share;
};

// Initialise the ideal times of a fabric, after its packet network if it has one.
void ideals_init(struct ideals *ideals, const struct fabric *fabric);
// The same for a network whose links have another rate; `share` is borrowed.
void ideals_init_with(struct ideals *ideals, const struct fabric *fabric, const double *share);
// Give each of `n_threads` threads of the simulation a cache of its own, so that they may call the
// functions below at the same time.
void ideals_share(struct ideals *ideals, uint32_t n_threads);
void ideals_free(struct ideals *ideals);

// Returns the time from the post of a message, alone on its path, to its last ACK at the sender,
// and in *delivered_ps the time to its last byte at the receiver. Both are lower bounds; where all
// paths are alike, a run of one message takes exactly this, within 1 ps a hop.
ps_t ideal_message_ps(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim,
                      uint32_t transport, uint64_t bytes, ps_t *delivered_ps);

// Wire bytes of a message and of its smallest packet.
struct ideal_wire {
    uint64_t total, packets;
    uint32_t first, mid, last, least; // sizes of packets; last is 0 if there is only one packet
};
struct ideal_wire ideal_wire(const struct transport_dim *dim, uint64_t bytes, bool cut);

// Ideal time of a collective: the longest path through its steps without contention. `ranks`:
// [member] rank of the network, NULL = the same number.
ps_t ideal_collective_ps(const struct ideals *ideals, const uint32_t *ranks,
                         const struct coll_schedule *schedule, const struct comm_request *request,
                         uint32_t transport);
