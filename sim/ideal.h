// SPDX-License-Identifier: MIT
// What bounds a message between two ranks from below, whichever of its possible paths it takes.
//
// Where all paths are alike, hop by hop, the time on an empty network is exact (sim/ideal.c). Where they
// differ, a packet of s bytes takes no less than the least sum of delays and s times the least sum of
// byte times, and a message no less than its bytes take on the slowest link of its best path. Where its
// packets may take different paths, only the sender's port and all links into the receiver bound the
// message; once routes have changed in the run, only the first and the last link do.
#pragma once

#include "sim/sim_internal.h"

struct ideal_path {
    uint32_t src, dst, dim; // nodes whose ports are used
    bool known;
    bool exact;             // one train of packets over hops that do not depend on the choice
    bool parted;            // packets of one message may take different paths
    uint32_t fractions;     // hops whose byte time is no whole number of ps: each may round down
    double delay_ps;        // least sums over the paths
    double byte_ps;         // of the time of a byte
    double slowest_ps;      // time of a byte on the slowest link of the best path
    double first_ps;        // time of a byte on the fastest port of the sender that leads there
    double first_single_ps; // on the slowest of them
    double into_ps;         // on all links into the receiver together
    double into_single_ps;  // on the slowest of them
};

struct ideal_paths; // of a simulation: what has been found out lately

struct ideal_paths *ideal_paths_new(const struct sim *sim);
void ideal_paths_free(struct ideal_paths *paths);

// Between two ranks that dimension `dim` joins.
struct ideal_path ideal_path(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim);

// Bytes on the wire of a message, and of its smallest packet.
struct ideal_wire {
    uint64_t total, packets;
    uint32_t first, mid, last, least; // last is 0 where there is one packet
};
struct ideal_wire ideal_wire(const struct transport_dim *dim, uint64_t bytes);

// From the post to the last byte at the receiver, no less; of a message that is not cut.
double ideal_delivery_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                         uint64_t bytes);

// The largest part of a message that is cut over planes; whole where it is not.
uint64_t ideal_part(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim, uint64_t bytes,
                    uint32_t *parts);
