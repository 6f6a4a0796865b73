// SPDX-License-Identifier: MIT
// The INT trailer after an IP packet: the encoding of telemetry on the wire.
#pragma once

#include <stddef.h>

#include "net/meta.h"

#define INT_TRAILER_MAX (2 + 8 * 8)

// Write the trailer of `bytes` (at most INT_TRAILER_MAX) of a data packet or ACK in its current
// state. Records that no switch has written yet are zero. A trailer of one byte is PINT's digest.
void int_trailer_put(uint8_t *out, size_t bytes, const struct packet_meta *meta,
                     const struct int_hop *hops);
