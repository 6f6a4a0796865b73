// SPDX-License-Identifier: MIT
// How a transport's packets are written as frames for captures.
#pragma once

#include <stddef.h>

#include "net/flow_id.h"
#include "net/meta.h"
#include "net/packet.h"

// No headers before the payload are longer.
#define FRAME_HEADERS_MAX 128

// A packet as it was when its transmission started.
struct frame_source {
    const struct packet *packet;
    const struct packet_meta *meta;
    const struct flow_id *flow;
    const uint8_t *trailer; // flow->int_bytes of telemetry behind data and ACKs; NULL = zeros
};

struct frame_ops {
    // Writes the first min(cap, length) bytes of the frame without FCS into `out` and returns their number;
    // *length becomes the length of the whole frame.
    size_t (*encode)(const struct frame_source *source, uint8_t *out, size_t cap, size_t *length);
};
