// SPDX-License-Identifier: MIT
// The interface to captures, called when a watched port starts a transmission.
#pragma once

#include "net/packet.h"

// `port` is the global index of the transmitting port. The first bit leaves at start_ps and the
// last bit, preamble and gap included as the wire size counts them, at end_ps. At the far end both
// are later by the propagation delay. Calls are in order of start_ps for each port, but not across
// ports. The packet is as on the link (CE already set).
struct tap {
    void (*seen)(void *ctx, uint32_t port, const struct packet *packet, ps_t start_ps, ps_t end_ps);
    void *ctx;
};
