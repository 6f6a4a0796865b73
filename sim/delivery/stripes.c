// SPDX-License-Identifier: MIT
// Messages striped over planes, as over the ports of NVLink: one stripe per plane of a dimension,
// or in a direct dimension per parallel link to the same neighbour, each on a queue pair of its
// own. Where the transport splits messages over several queue pairs, each plane has as many
// stripes. A stripe stays on its plane; while a plane does not lead to the destination, messages
// are cut into stripes for the others. Stripes differ by at most one byte, and a message of fewer
// bytes than stripes has one stripe per byte, so no stripe is empty. A message is delivered, and
// sent, when all its stripes are; it has failed if one stripe has, and this is reported when all
// stripes have ended. The stripes share one record.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/base/slots.h"
#include "sim/delivery/layer.h"

#define STRIPE_BITS (UINT64_C(3) << 62) // tokens of other layers never have both bits set

struct striped {
    uint64_t token; // token of the message
    uint64_t bytes; // bytes of the delivered stripes
    uint16_t stripes, undelivered, unended, unrecorded;
    bool failed;
    ps_t
        ended_ps; // end of the stripe that ended last; possibly known before the end of another one
    struct flow_record record;
};

struct stripes {
    struct delivery *delivery;
    struct layer layer;
    struct transfer below; // for complete messages and for stripes
    struct striped *slots;
    struct slots numbers;
};

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct stripes *s = net;
    uint32_t dim = fabric_request_dim(s->delivery->fabric, request);
    uint32_t all =
        fabric_stripes(s->delivery->fabric, request->src, request->dst, dim, request->transport);
    uint8_t lanes[STRIPES_MAX];
    uint32_t planes = fabric_planes_now(s->delivery->fabric, request, dim, all, lanes);
    uint32_t split =
        hosts_dim(&s->delivery->fabric->hosts, dim, request->transport)->parts_per_message;
    uint32_t stripes = planes * (split > 1 ? split : 1);
    if (request->bytes < stripes)
        stripes = request->bytes > 0 ? (uint32_t)request->bytes : 1;
    // A message that is not cut needs no entry here. If there are several planes, the plane of its
    // only stripe has to be set below; only messages of at most one byte pass unchanged.
    if (stripes == 1 && (all == 1 || request->bytes < 2)) {
        s->below.post(s->below.net, request, now);
        return;
    }
    uint32_t slot = slots_take(&s->numbers, s->slots);
    uint16_t n = (uint16_t)stripes;
    s->slots[slot] = (struct striped){
        .token = request->token, .stripes = n, .undelivered = n, .unended = n, .unrecorded = n};
    uint32_t number =
        request->piece_of ? request->piece_of : ledger_count(s->delivery, request->src);
    for (uint32_t i = 0; i < stripes; i++) {
        struct transfer_request one = *request;
        one.bytes = request->bytes / stripes + (i < request->bytes % stripes);
        one.channel =
            request->channel * MESSAGE_PARTS_MAX + i / planes * STRIPES_MAX + lanes[i % planes];
        // Stripe 0 means that the message may use any port.
        one.stripe = all > 1 ? lanes[i % planes] + 1u : 0;
        one.piece_of = number;
        one.of_dim = (uint8_t)(dim + 1);
        one.token = STRIPE_BITS | slot;
        if (split > 1) { // queue pairs share the ports; planes have ports of their own
            one.hint.at_source *= split;
            one.hint.at_destination *= split;
            one.hint.turn = one.hint.turn > 0 ? (one.hint.turn - 1) * split + 1 + i / planes : 0;
        }
        s->below.post(s->below.net, &one, now);
    }
}

static bool is_stripe(uint64_t token) { return (token & STRIPE_BITS) == STRIPE_BITS; }

static void delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    struct stripes *s = ctx;
    struct striped *m = &s->slots[(uint32_t)token];
    m->bytes += bytes;
    // The message is complete at the receiver with its last stripe, in whatever order they arrive.
    if (--m->undelivered == 0)
        s->layer.client.delivered(s->layer.client.ctx, m->token, m->bytes, now);
}

// A stripe has ended. The slot is freed before the callback, since callbacks may post.
static void stripe_ended(struct stripes *s, uint32_t slot, bool failed, ps_t now)
{
    struct striped *m = &s->slots[slot];
    struct path_book *book = &s->delivery->path_book;
    m->failed |= failed;
    // With completions of a NIC, the end of a stripe may be known later than it was; the message
    // ends with the latest end, not with the latest report.
    m->ended_ps = ps_longer(m->ended_ps, now - path_thread(book)->held_ps);
    if (--m->unended > 0)
        return;
    uint64_t token = m->token;
    failed = m->failed;
    path_thread(book)->held_ps = failed ? 0 : now - m->ended_ps;
    slots_give(&s->numbers, slot);
    if (failed)
        s->layer.client.failed(s->layer.client.ctx, token, now);
    else
        s->layer.client.sent(s->layer.client.ctx, token, now);
}

static void sent(void *ctx, uint64_t token, ps_t now)
{
    stripe_ended(ctx, (uint32_t)token, false, now);
}

static void failed(void *ctx, uint64_t token, ps_t now)
{
    stripe_ended(ctx, (uint32_t)token, true, now);
}

bool stripes_record(struct delivery *delivery, uint64_t *token, struct flow_record *record)
{
    struct stripes *s = delivery->stripes;
    if (!s || !is_stripe(*token))
        return true;
    struct striped *m = &s->slots[(uint32_t)*token];
    *token = m->token;
    // The first record is taken as it is, since there are no sums yet to add it to.
    if (m->unrecorded == m->stripes)
        m->record = *record;
    else
        record_merge(&m->record, record, 0);
    *record = m->record;
    return --m->unrecorded == 0;
}

void stripes_renumber(struct delivery *delivery, const struct flow_numbers *numbers)
{
    struct stripes *s = delivery->stripes;
    for (uint32_t i = 0; s && i < s->numbers.n; i++)
        // A message without any record of a stripe has no flow to rename.
        if (s->slots[i].unrecorded < s->slots[i].stripes)
            record_renumber(&s->slots[i].record, numbers);
}

static bool is_cut(const struct delivery *delivery, uint32_t dim)
{
    const struct graph *g = &delivery->fabric->graph;
    uint32_t first = 0;
    bool striped = false;
    for (uint32_t t = 0; t < delivery->fabric->hosts.n_transports; t++) {
        striped |= delivery->fabric->spec->dims[dim].stacks[t].transport.stripe;
        if (hosts_dim(&delivery->fabric->hosts, dim, t)->parts_per_message > 1)
            return true;
    }
    if (!striped)
        return false;
    // Without parallel ports there is nothing to stripe over. Then messages skip this layer, which
    // costs a lookup for each message.
    for (uint32_t rank = 0; rank < g->n_ranks; rank++)
        if (graph_ports_in(g, rank, dim, &first) > 1)
            return true;
    return false;
}

void stripes_init(struct delivery *delivery)
{
    bool any = false;
    for (uint32_t d = 0; d < delivery->fabric->graph.n_dims; d++)
        any |= is_cut(delivery, d);
    if (!any)
        return;
    struct stripes *s = delivery->stripes = memory_zeroed(1, sizeof *s);
    s->delivery = delivery;
    s->below = delivery->transfer;
    // While stripes enter buffers nothing is reported: the program goes on when all are sent.
    s->layer = (struct layer){
        .own = {.delivered = delivered, .entered = NULL, .sent = sent, .failed = failed, .ctx = s},
        .mask = STRIPE_BITS,
        .bits = STRIPE_BITS};
    layer_insert(&s->layer, delivery);
    delivery->transfer = (struct transfer){.post = post, .net = s};
}

void stripes_free(struct delivery *delivery)
{
    if (delivery->stripes) {
        free(delivery->stripes->slots);
        slots_free(&delivery->stripes->numbers);
    }
    free(delivery->stripes);
}
