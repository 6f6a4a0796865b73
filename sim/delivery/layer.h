// SPDX-License-Identifier: MIT
// A layer of messages: events of the messages that it has made itself go to its own functions, all
// others to its client. The tokens of its own messages have certain bits.
#pragma once

#include "sim/delivery/delivery_internal.h"

struct layer {
    struct transfer_client client; // the layer above
    struct transfer_client own;    // `entered` may be NULL
    uint64_t mask, bits;           // a token is the layer's own if token & mask == bits
};

// Becomes the client of the layers below; its own client is delivery->client.
void layer_insert(struct layer *layer, struct delivery *delivery);
