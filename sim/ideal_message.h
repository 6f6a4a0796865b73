// SPDX-License-Identifier: MIT
// A message of a collective on an empty network: least times, and what its ends' lines carry of it.
#pragma once

#include "sim/sim_internal.h"

struct ideal_message {
    uint32_t out,
        in; // first port of the line that it leaves by, comes in by; GRAPH_NONE = not known
    double reach_ps;  // from the post to its last byte at the receiver
    double own_ps;    // its bytes on those ports of the sender that it takes
    double out_ps;    // its bytes on the whole line of the sender
    double in_ps;     // and on that of the receiver
    double after_ps;  // from the end of its last packet at the sender to its arrival
    double behind_ps; // so much later yet, where nothing is known but the end of its bytes
    double before_ps; // from the post to the first bit on the receiver's line
    double ack_ps;    // one ACK on the receiver's line, 0 = ACKs leave by other ports than data
    double acks_ps;   // all that must leave
    double ack_share; // time of the ACKs of as much data as takes a unit of time
};

struct ideal_message ideal_message(const struct sim *sim, uint32_t src, uint32_t dst,
                                   uint64_t bytes);
