// SPDX-License-Identifier: MIT
// The state of ports at the end of a run in several processes, as their owner hands it to the
// process that reports the results (engine/parcel.h).
#pragma once

#include "engine/parcel.h"
#include "net/network.h"

// What the process of the port's node knows, and what reports read of it: counters, pauses, lengths
// of queues, and for each queue that a pause has stopped by which links its packets have come. The
// reader's port must hold no packet. `net` is the network of the port's shard.
void port_hand_over(struct parcel *p, struct network *net, uint32_t port);

// What the far end of the port's link counts: lost packets. The reader adds it up.
void port_hand_over_lost(struct parcel *p, struct network *net, uint32_t port);

// Sums over all ports. The shards of both networks are united.
void network_hand_over(struct parcel *p, struct network *net);
