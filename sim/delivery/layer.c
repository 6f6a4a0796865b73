// SPDX-License-Identifier: MIT
// Passes events of messages to the layer that has made them.
#include "sim/delivery/layer.h"

static const struct transfer_client *receiver(const struct layer *layer, uint64_t token)
{
    return (token & layer->mask) == layer->bits ? &layer->own : &layer->client;
}

static void delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    const struct transfer_client *to = receiver(ctx, token);
    to->delivered(to->ctx, token, bytes, now);
}

static void entered(void *ctx, uint64_t token, ps_t now)
{
    const struct transfer_client *to = receiver(ctx, token);
    if (to->entered)
        to->entered(to->ctx, token, now);
}

static void sent(void *ctx, uint64_t token, ps_t now)
{
    const struct transfer_client *to = receiver(ctx, token);
    to->sent(to->ctx, token, now);
}

static void failed(void *ctx, uint64_t token, ps_t now)
{
    const struct transfer_client *to = receiver(ctx, token);
    to->failed(to->ctx, token, now);
}

void layer_insert(struct layer *layer, struct delivery *delivery)
{
    layer->client = delivery->client;
    delivery->client = (struct transfer_client){
        .delivered = delivered, .entered = entered, .sent = sent, .failed = failed, .ctx = layer};
}
