// SPDX-License-Identifier: MIT
// Relaying: a message between ranks that differ in several dimensions goes through intermediate
// ranks, one dimension after the other, the innermost first. An intermediate rank receives the
// complete message before it forwards it, as collective libraries do (NCCL's PXN). Each leg is a
// separate message in the results. The program of the source goes on when the first leg has been
// sent: only a further message could inform the source of the later legs.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/slots.h"
#include "sim/delivery/layer.h"

#define LEG_BIT (UINT64_C(1) << 63)   // set in tokens of legs; tokens of the workload are below it
#define FIRST_BIT (UINT64_C(1) << 32) // also set in the token of the first leg

struct relayed {
    struct transfer_request request; // as posted by the workload
    uint32_t at;                     // destination of the current leg
    uint8_t legs_open; // callbacks still to come: `delivered` and `sent` of each posted leg
    bool left, failed; // left: the program of the source has gone on
    // end of the leg that ended last; possibly known before the end of another leg
    ps_t ended_ps;
};

struct relay {
    struct delivery *delivery;
    struct layer layer;
    struct relayed *slots;
    struct slots numbers;
};

// A callback of a leg has been handled. The message has been sent when both callbacks of all its
// legs have come, in any order. The slot is freed before the client's callback, which may post.
static void callback_over(struct relay *r, uint32_t slot, ps_t now)
{
    struct relayed *m = &r->slots[slot];
    struct path_book *book = &r->delivery->path_book;
    m->ended_ps = ps_longer(m->ended_ps, now - path_thread(book)->held_ps);
    if (--m->legs_open > 0)
        return;
    path_thread(book)->held_ps = now - m->ended_ps;
    slots_give(&r->numbers, slot);
    r->layer.client.sent(r->layer.client.ctx, m->request.token, now);
}

static void post_leg(struct relay *r, uint32_t slot, uint32_t from, ps_t now)
{
    struct relayed *m = &r->slots[slot];
    struct transfer_request leg = m->request;
    leg.src = from;
    leg.dst = m->at = fabric_next_rank(&r->delivery->fabric->graph, from, m->request.dst);
    leg.token = LEG_BIT | (from == m->request.src ? FIRST_BIT : 0) | slot;
    // Each leg calls back twice, when it is delivered and when it is sent.
    m->legs_open += 2;
    r->delivery->transfer.post(r->delivery->transfer.net, &leg, now);
}

static void relay_post(void *net, const struct transfer_request *request, ps_t now)
{
    struct relay *r = net;
    if (graph_joining_dim(&r->delivery->fabric->graph, request->src, request->dst) != GRAPH_NONE) {
        r->delivery->transfer.post(r->delivery->transfer.net, request, now);
        return;
    }
    uint32_t slot = slots_take(&r->numbers, r->slots);
    r->slots[slot] = (struct relayed){.request = *request};
    post_leg(r, slot, request->src, now);
}

// The first leg has been sent, so the program of the source goes on. Later legs are sent by other
// ranks, and no message informs the source of them.
static void left_source(struct relay *r, uint32_t slot, ps_t now)
{
    struct relayed *m = &r->slots[slot];
    bool first = !m->left && !m->failed;
    m->left = true;
    if (first && r->layer.client.entered)
        r->layer.client.entered(r->layer.client.ctx, m->request.token, now);
}

static void delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    struct relay *r = ctx;
    uint32_t slot = (uint32_t)token;
    struct relayed *m = &r->slots[slot];
    if (m->at != m->request.dst) {
        // The leg has been delivered, which is one of its two callbacks, and the next leg adds two
        // more.
        m->legs_open--;
        post_leg(r, slot, m->at, now);
        return;
    }
    r->layer.client.delivered(r->layer.client.ctx, m->request.token, bytes, now);
    callback_over(r, slot, now);
}

static void entered(void *ctx, uint64_t token, ps_t now)
{
    struct relay *r = ctx;
    if (token & FIRST_BIT)
        left_source(r, (uint32_t)token, now);
}

static void sent(void *ctx, uint64_t token, ps_t now)
{
    struct relay *r = ctx;
    uint32_t slot = (uint32_t)token;
    if (token & FIRST_BIT)
        left_source(r, slot, now);
    callback_over(r, slot, now);
}

static void failed(void *ctx, uint64_t token, ps_t now)
{
    struct relay *r = ctx;
    // the slot is not reused, since callbacks may still come
    struct relayed *m = &r->slots[(uint32_t)token];
    // Several legs may fail, and the client is called once for its message.
    bool first = !m->failed;
    m->failed = true;
    if (first)
        r->layer.client.failed(r->layer.client.ctx, m->request.token, now);
}

void relay_init(struct delivery *delivery)
{
    struct relay *r = delivery->relay = memory_zeroed(1, sizeof *r);
    r->delivery = delivery;
    r->layer = (struct layer){.own = {.delivered = delivered,
                                      .entered = entered,
                                      .sent = sent,
                                      .failed = failed,
                                      .ctx = r},
                              .mask = LEG_BIT,
                              .bits = LEG_BIT};
    layer_insert(&r->layer, delivery);
    delivery->entry = (struct transfer){.post = relay_post, .net = r};
}

void relay_free(struct delivery *delivery)
{
    if (delivery->relay) {
        free(delivery->relay->slots);
        slots_free(&delivery->relay->numbers);
    }
    free(delivery->relay);
}
