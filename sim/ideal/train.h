// SPDX-License-Identifier: MIT
// A message that meets no other on its path, as a train of packets: when its packets start and
// arrive at every hop (docs/models.md: store and forward).
//
// Packet k starts on hop h at s[k,h] = max(s[k,h-1] + what the hop before takes to forward it,
// s[k-1,h] + its predecessor's bytes at the rate of h); packets are equal but for the first and the
// last. Over hops with different rates the equal packets keep the gap of the slowest hop so far, so
// four packets determine the train: the first, the first and the last of the equal ones, and the
// last. Times are in ps; doubles are exact to 1 ps up to 2.5 hours.
#pragma once

#include "sim/ideal/ideal.h"

struct train_hop {
    double byte_ps;        // time of a byte on the link
    ps_t delay_ps;         // latency of the switch behind it included
    uint32_t header_bytes; // bytes after which the far end forwards a packet; 0 = all
};

struct train {
    double begin_ps;      // start of the first packet on the first hop
    double last_start_ps; // of the last packet there
    double sent_ps;       // end of the last packet there
    double arrives_ps;    // last byte at the end of the path
    double before_ps;     // the same of the packet before the last one; -1 = there is none
};

// Time from the start of a packet on a hop to when the next hop may start it.
double train_forward_ps(const struct train_hop *hop, uint32_t wire_bytes);

// The train of a message over `n` hops whose first packet may start at `from_ps`. free_ps [hop]:
// when the hop has sent what came before on this path; becomes when it has sent this message.
// NULL = nothing came before.
struct train train_of(const struct train_hop *hops, uint32_t n, const struct ideal_wire *w,
                      double from_ps, double *free_ps);

// Arrival of the ACK of a packet that arrives at `arrives_ps`, over the `n` hops of the way back.
// It may wait behind the ACK of the packet that arrived at `before_ps`; -1 = there is none.
double train_answered(const struct train_hop *hops, uint32_t n, double arrives_ps, double before_ps,
                      uint32_t ack_bytes);

// The time of a byte of a train on hop `hop`, by the slowest hop so far, and in *begin_ps, its
// begin on the first hop, the begin on this one.
double train_at_hop(const struct train_hop *hops, const struct ideal_wire *w, uint32_t hop,
                    double *begin_ps);

// The number of packets that have started by `now_ps` on a hop where the train begins at
// `begin_ps`, with `byte_ps` for each byte.
uint64_t train_started(const struct ideal_wire *w, double begin_ps, double byte_ps, double now_ps);
// Their wire bytes.
uint64_t train_bytes(const struct ideal_wire *w, uint64_t packets);
