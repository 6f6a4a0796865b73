// SPDX-License-Identifier: MIT
// The INT trailer behind an IP packet: what telemetry looks like on the wire.
#pragma once

#include <stddef.h>

#include "net/meta.h"

#define INT_TRAILER_MAX (2 + 8 * 8)

// Write the trailer of `bytes` (INT_TRAILER_MAX at most) of what a data packet or ACK carries now; room
// that no switch has filled yet is zero. One byte is PINT's digest.
void int_trailer_put(uint8_t *out, size_t bytes, const struct packet_meta *meta,
                     const struct int_hop *hops);
