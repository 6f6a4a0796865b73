// SPDX-License-Identifier: MIT
// The interface to captures.
#pragma once

#include "net/drop.h"
#include "net/packet.h"

// seen: a watched port starts a transmission. `port` is the global index of the transmitting port.
// The first bit leaves at start_ps and the last bit, preamble and gap included as the wire size
// counts them, at end_ps. At the far end both are later by the propagation delay. Calls are in
// order of start_ps for each port, but not across ports. The packet is as on the link (CE already
// set).
//
// dropped (may be NULL): a packet that should have left by a watched port has been dropped, or a
// packet that was on the link behind it is lost. `level` is the occupancy of the queue or buffer at
// the drop.
//
// paused (may be NULL): a class of a watched port has been paused for `length_ps` when the pause is
// renewed or ends.
struct drop_level {
    uint64_t bytes;       // bytes that the queue or buffer would hold with the packet
    uint64_t limit_bytes; // both 0 = does not apply
};
struct tap {
    void (*seen)(void *ctx, uint32_t port, const struct packet *packet, ps_t start_ps, ps_t end_ps);
    void (*dropped)(void *ctx, uint32_t port, const struct packet *packet, enum drop_reason reason,
                    struct drop_level level, ps_t now);
    void (*paused)(void *ctx, uint32_t port, unsigned cls, ps_t length_ps, ps_t now);
    void *ctx;
};
