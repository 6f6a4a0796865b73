// SPDX-License-Identifier: MIT
// The state of a switch at the end of a run in several processes, as its owner hands it to the
// process that reports the results (engine/parcel.h): the state of its buffer that reports read,
// and the counters of its ports.
#pragma once

#include "engine/parcel.h"
#include "switch/switch.h"

// Hand over nodes[index], a switch or a router. The state of its ports as ports of the network is
// handed over separately (net/handover.h).
void switch_hand_over(struct parcel *p, struct switches *sw, uint32_t index);
