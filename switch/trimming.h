// SPDX-License-Identifier: MIT
// Packet trimming: where a switch would drop a data packet of a lossy class, it removes the payload
// and sends the headers on in the control class, so that the receiver detects the loss at once.
//
// With `victim: coin`, the packet that is trimmed is chosen at random with equal probability:
// either the arriving packet, or the last packet of the queue, whose place the arriving packet then
// takes. With packets of different sizes the queue may therefore exceed its limit by less than one
// packet. A packet of at most the trimmed size is dropped instead.
#pragma once

#include "engine/base/rng.h"
#include "net/network.h"

enum trim_victim { TRIM_NEWEST, TRIM_COIN };

// The settings of a switch.
struct trimming {
    uint8_t classes;                  // bit set of classes that are trimmed; 0 = none
    uint8_t victim;                   // enum trim_victim
    uint16_t frame_bytes, wire_bytes; // of a trimmed packet
};

// Counters of the packets that an output port has trimmed.
struct trim_port {
    struct drops trimmed; // packets; frame bytes removed from them
    uint64_t last_hop;    // packets whose destination is attached to the port
    struct rng coin;
};

struct switches;
struct switch_node;
struct refused_place;

// Trim packet *p, of a class that is trimmed, or the youngest one of its queue. The trimmed packet
// is then in *p, the port by which it arrived in place->local, and the other one in the queue.
// Returns false if there is nothing to trim.
bool switch_trim(struct switches *sw, struct switch_node *s, struct refused_place *place,
                 struct packet *p, ps_t now);
