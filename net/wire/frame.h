// SPDX-License-Identifier: MIT
// The interface through which a transport encodes its packets as frames for captures.
#pragma once

#include <stddef.h>

#include "net/flow_id.h"
#include "net/meta.h"
#include "net/packet.h"
#include "net/wire/crc_zeros.h"

#define FRAME_HEAD_MAX 128 // headers before the payload
#define FRAME_TAIL_MAX 192 // trailer after the payload: checksums, telemetry

// A frame without FCS. Its payload is zeros, which are counted, not stored. Zero-initialise once.
struct frame {
    size_t head_bytes, zero_bytes, tail_bytes;
    uint8_t head[FRAME_HEAD_MAX];
    uint8_t tail[FRAME_TAIL_MAX];
    struct crc_zeros crc_zeros; // kept from one frame to the next
};

static inline size_t frame_bytes(const struct frame *f)
{
    return f->head_bytes + f->zero_bytes + f->tail_bytes;
}

// Write the first min(cap, frame_bytes) bytes to `out` and return how many.
size_t frame_copy(const struct frame *f, uint8_t *out, size_t cap);

// A packet as it was at the start of its transmission.
struct frame_source {
    const struct packet *packet;
    const struct packet_meta *meta;
    const struct flow_id *flow;
    const struct sack_block *sacks; // meta->n_sacks blocks
    const uint8_t *trailer; // the flow->int_bytes of telemetry after data and ACKs; NULL = zeros
};

#define FRAME_TERMS_MAX 64

struct frame_ops {
    void (*encode)(const struct frame_source *source, struct frame *frame);

    // Write terms of a Wireshark display filter that separate a flow's packets from others between
    // the same addresses: its data (`forward`), or the packets that come back. NULL = none.
    void (*filter_terms)(const struct flow_id *flow, bool forward, char out[FRAME_TERMS_MAX]);
};
