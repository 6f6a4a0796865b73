// SPDX-License-Identifier: MIT
// A message of a collective on an empty network: least times, and the load on the sender's and the
// receiver's links.
#pragma once

#include "sim/ideal/ideal_internal.h"

struct ideal_message {
    // First port of the links by which the message leaves and arrives; GRAPH_NONE = unknown.
    uint32_t out, in;
    double reach_ps; // from the post to the last byte at the receiver
    double own_ps;   // time of its bytes on the ports of the sender that the message uses
    double out_ps;   // time of its bytes on all links of the sender together
    double in_ps;    // time of its bytes on all links of the receiver together
    double after_ps; // from the end of its last packet at the sender to its arrival
    // additional delay if only the end of the message's last byte at the sender is known
    double behind_ps;
    double before_ps; // from the post to the first bit on the receiver's link
    // time of one ACK for each port of the receiver's link, at their rates together; 0 = ACKs use
    // other ports than data
    double ack_ps;
    double acks_ps;   // time of all ACKs that the receiver must send
    double ack_share; // time of the ACKs per unit of time of data
};

struct ideal_message ideal_message(const struct ideals *ideals, uint32_t src, uint32_t dst,
                                   uint32_t transport, uint64_t bytes);
