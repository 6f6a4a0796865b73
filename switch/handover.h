// SPDX-License-Identifier: MIT
// The state of a switch at the end of a run in several processes, as its owner hands it to the
// process that reports the results (engine/parcel.h): what reports read of its buffer, and the
// counters of its ports.
#pragma once

#include "engine/parcel.h"
#include "switch/switch.h"

// nodes[index], a switch or a router. Its ports' own state is not part of it (net/handover.h).
void switch_hand_over(struct parcel *p, struct switches *sw, uint32_t index);
