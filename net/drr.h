// SPDX-License-Identifier: MIT
// Deficit weighted round robin among the data classes of an output port (Shreedhar & Varghese, SIGCOMM
// 1995): the class whose turn it is sends while its deficit covers the wire bytes of its first packet;
// each turn begins with a quantum more (weight times the largest frame, so a turn sends at least one).
// A class that has nothing left loses its deficit, and so does one that PFC stops in its turn. A packet
// that finds its port idle starts at once and leaves the turns as they are: its class has no deficit to
// spend then, and the round would have come to it.
#pragma once

#include "net/network.h"

// The slot to send from: one of `ready`, slots of data classes with packets that may go (not empty).
unsigned drr_pick(struct network *net, uint32_t port, unsigned ready);
