// SPDX-License-Identifier: MIT
// Deficit weighted round robin among the data classes of an output port (Shreedhar & Varghese,
// SIGCOMM 1995). The class whose turn it is sends while its deficit covers the wire bytes of its
// first packet. Each turn adds one quantum (weight times the largest frame, so a turn sends at
// least one packet) to the deficit. A class whose queue is empty, or that PFC pauses during its
// turn, loses its deficit. A packet that finds its port idle starts at once and does not change the
// turn, because all deficits are 0 on an idle port and the round would have reached its class.
#pragma once

#include "net/network.h"

// Returns the slot to send from. `ready` is the non-empty bit set of slots of data classes that
// hold packets and are not paused.
unsigned drr_pick(struct network *net, uint32_t port, unsigned ready);
