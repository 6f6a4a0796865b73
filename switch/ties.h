// SPDX-License-Identifier: MIT
// Packets that compete for the last room of a full queue.
//
// Two senders at the rate of the port that they share send one packet each in the time in which one
// leaves. If the first to arrive always had the room, the phase between them, which may be a
// picosecond and stays, would give one of them everything. In a switch the two packets are received
// at the same time, cell by cell, and clocks and pipelines decide. So the packets that arrive while
// there is room for one of them are equal: each has it with the same probability, whatever their
// number. Floyd and Jacobson (1992) call this a phase effect of drop-tail queues, and a random
// choice among the waiting packets its remedy; two ConnectX-5 that overload a port share its losses
// within 0.5 % (docs/validation.md).
#pragma once

#include "net/network.h"

struct switches;
struct switch_node;

// The ports and the level of a packet that the buffer does not admit.
struct refused_place {
    uint32_t local, out;     // ports by which it arrived (of the switch) and should leave (global)
    struct drop_level level; // of the queue
};

// The last packet that waits in the queue of the class of *p at the port; NULL = none waits.
const struct packet *switch_youngest(const struct switches *sw, uint32_t out,
                                     const struct packet *p);

// Let *p take the place of the youngest packet of its queue. That one is then in *p, and the port
// by which it arrived in place->local. Returns false if the buffer has no room for *p.
bool switch_replace_youngest(struct switches *sw, struct switch_node *s,
                             struct refused_place *place, struct packet *p, ps_t now);

// The queue of a lossy class is full: draw whether *p takes the place of the youngest packet, which
// is then in *p. It does not where it has not begun to arrive before that packet was there.
void switch_draw_tie(struct switches *sw, struct switch_node *s, struct refused_place *place,
                     struct packet *p, ps_t now);
