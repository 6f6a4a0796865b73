// SPDX-License-Identifier: MIT
// The one point where captures see packets: called when a watched port starts a transmission.
#pragma once

#include "net/packet.h"

// `port` is the global index of the transmitting port. Its first bit leaves at start_ps, its last
// (counted) bit at end_ps; at the far end both are later by the propagation delay. Calls come in
// order of start per port, not across ports. The packet is as on the wire (CE already set).
struct tap {
    void (*seen)(void *ctx, uint32_t port, const struct packet *packet, ps_t start_ps, ps_t end_ps);
    void *ctx;
};
