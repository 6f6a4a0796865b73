// SPDX-License-Identifier: MIT
// A message that meets no other on its path, as a train of packets: when its packets start and
// arrive at every hop.
//
// Packet k starts on hop h at s[k,h] = max(s[k,h-1] + what the hop before takes to forward it,
// s[k-1,h] + its predecessor's bytes at the rate of h); packets are equal but for the first and the
// last. Over hops with different rates the equal packets keep the gap of the slowest hop so far, so
// four packets determine the train: the first, the first and the last of the equal ones, and the
// last. Times are in ps; doubles are exact to 1 ps up to 2.5 hours.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/units.h"

#define TRAIN_HOPS 8 // the most; longer paths are not quiet

struct train_hop {
    double byte_ps;        // time of a byte on the link
    ps_t delay_ps;         // latency of the switch behind it included
    uint32_t header_bytes; // bytes after which the far end forwards a packet; 0 = all
};

struct train_path {
    struct train_hop hops[TRAIN_HOPS];
    uint32_t n;
};

// Wire bytes of the packets of a message; mid and last are void where there are too few.
struct train_sizes {
    uint64_t packets;
    uint32_t first, mid, last;
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

// The train of a message whose first packet may start at `from_ps`. free_ps [hop]: when the hop has
// sent what came before on this path; becomes when it has sent this message.
struct train train_of(const struct train_path *path, const struct train_sizes *sizes,
                      double from_ps, double free_ps[TRAIN_HOPS]);

// Arrival of the last ACK of a message: `path` is the way back, and the ACK before it was made when
// the packet before the last one had arrived, unless receivers answer several packets at once.
double train_answered(const struct train_path *path, const struct train *t, uint32_t ack_bytes,
                      bool each);

// The time of a byte of a train on a hop, by the slowest hop so far, and in *begin_ps, its begin on
// the first hop, the begin on this one.
double train_at_hop(const struct train_path *path, const struct train_sizes *sizes, uint32_t hop,
                    double *begin_ps);

// The number of packets that have started on the first hop by `now_ps`, with every packet longer by
// `stretch` (1 = as it is).
uint64_t train_started(const struct train *t, const struct train_sizes *sizes, double byte_ps,
                       double stretch, double now_ps);
// Their wire bytes.
uint64_t train_bytes(const struct train_sizes *sizes, uint64_t packets);
