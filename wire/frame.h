// SPDX-License-Identifier: MIT
// The interface by which a transport encodes its packets as frames for captures.
#pragma once

#include <stddef.h>

#include "net/flow_id.h"
#include "net/meta.h"
#include "net/packet.h"

// Upper limit of the headers before the payload.
#define FRAME_HEADERS_MAX 128

// A packet as it was at the start of its transmission.
struct frame_source {
    const struct packet *packet;
    const struct packet_meta *meta;
    const struct flow_id *flow;
    const struct sack_block *sacks; // meta->n_sacks blocks
    const uint8_t *trailer; // the flow->int_bytes of telemetry after data and ACKs; NULL = zeros
};

struct frame_ops {
    // Writes the first min(cap, frame length) bytes of the frame, without FCS, to `out` and returns
    // how many. *length is set to the length of the whole frame.
    size_t (*encode)(const struct frame_source *source, uint8_t *out, size_t cap, size_t *length);
};
