// SPDX-License-Identifier: MIT
// Lower bounds of the time of a message between two ranks, over all of its possible paths.
//
// If all paths are alike hop by hop, the time on an empty network is exact (sim/ideal/ideal.c). If
// they differ, a packet of s bytes takes at least the least sum of delays plus s times the least
// sum of byte times, and a message takes at least the time of its bytes on the slowest link of its
// best path. If packets of one message may take different paths, only the sender's port and all
// links into the receiver together bound the message; after routes have changed during the run,
// only the first and the last link do.
#pragma once

#include "sim/ideal/ideal.h"

// Time of a byte on a port's link.
static inline double ideal_byte_ps(const struct ideals *ideals, uint32_t port)
{
    const struct byte_time *bt = &port_first_link(&ideals->fabric->net, port)->byte_time;
    double share = ideals->share ? ideals->share[port] : 1;
    return share * (double)bt->num / (double)bt->den;
}

struct ideal_path {
    uint32_t src, dst, dim; // the nodes whose ports are used
    bool known;
    bool exact;         // all packets form one train over hops that do not depend on the path
    bool cut;           // messages are cut into pieces or parts, whose last packets may be small
    bool parted;        // packets of one message may take different paths
    uint32_t fractions; // hops whose byte time is not an integer number of ps: each may round down
    double delay_ps;    // least sum of delays over the paths
    double byte_ps;     // least sum of byte times over the paths
    double slowest_ps;  // time of a byte on the slowest link of the best path
    double first_ps;    // byte time of the sender's fastest port towards the receiver
    double first_single_ps; // byte time of the slowest of these ports
    double first_all_ps;    // byte time of all these ports together
    double into_ps;         // byte time of all links into the receiver together
    double into_single_ps;  // byte time of the slowest of these links
};

// The ideal times of the last message of a pair, since most messages of a pair have one size.
struct ideal_answer {
    uint32_t src, dst, dim, transport;
    uint64_t bytes;
    ps_t ideal_ps, delivered_ps; // ideal_ps 0 = none
};
// The place that a pair shares with other pairs of the same hash.
struct ideal_answer *ideal_kept(const struct ideals *ideals, uint32_t src, uint32_t dst);

// The bounds between two ranks that share dimension `dim`.
struct ideal_path ideal_path(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim);

// The same for a message of a transport, which may be sent over several connections.
struct ideal_path ideal_path_of(const struct ideals *ideals, uint32_t src, uint32_t dst,
                                uint32_t dim, uint32_t transport, uint64_t bytes);

// Lower bound from the post to the last byte at the receiver, for a message that is not striped.
double ideal_delivery_ps(const struct ideals *ideals, const struct ideal_path *path, uint32_t src,
                         uint32_t dst, uint32_t transport, uint64_t bytes);

// The largest part of a message striped over planes; the size of the message if it is not striped.
uint64_t ideal_part(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t dim,
                    uint32_t transport, uint64_t bytes, uint32_t *parts);
