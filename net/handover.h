// SPDX-License-Identifier: MIT
// The state of ports at the end of a run in several processes, as their owner hands it to the
// process that reports the results (engine/parcel.h).
#pragma once

#include "engine/parcel.h"
#include "net/network.h"

// The state that only the process of the port's node has, as far as reports read it: counters,
// pauses, lengths of queues, and for each queue that a pause has stopped the links by which its
// packets have arrived. The reader's port must hold no packet. `net` is the network of the port's
// shard.
void port_hand_over(struct parcel *p, struct network *net, uint32_t port);

// The packets lost on the port's link, which the process at the far end counts. The reader adds
// them to its own count.
void port_hand_over_lost(struct parcel *p, struct network *net, uint32_t port);

// Sums over all ports. Both processes must have united their shards before the call.
void network_hand_over(struct parcel *p, struct network *net);
