// SPDX-License-Identifier: MIT
// Messages striped over planes, as over the ports of NVLink: one part per plane of a dimension, or
// in a direct dimension per parallel link to the same neighbour, each on a queue pair of its own.
// Where the transport splits messages over several queue pairs, each plane has as many parts.
// A part stays on its plane; while a plane does not lead to the destination, messages are cut into
// parts for the others. Parts differ by at most one byte, and a message of fewer bytes than parts has one part per byte,
// so no part is empty. A message is delivered, and sent, when all its parts are; it has failed if
// one part has, and this is reported when all parts have ended. The parts share one record.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/rng.h"
#include "sim/sim_internal.h"

#define PART_BITS (UINT64_C(3) << 62) // tokens of other layers never have both bits set

struct striped {
    uint64_t token; // token of the message
    uint64_t bytes; // bytes of the delivered parts
    uint32_t next_free;
    uint16_t parts, undelivered, unended, unrecorded;
    bool failed;
    ps_t ended_ps; // of the part that ended last, which may not be the one whose end is known last
    struct flow_record record;
};

struct stripes {
    struct sim *sim;
    struct transfer_client client;
    struct transfer below; // for complete messages and for parts
    struct striped *slots;
    size_t cap;
    uint32_t n, free_head;
};

// Find those of the `n` ports that are parallel: equal next hops on different planes or links.
// Returns their number, and the one for part `part` in *chosen.
static uint32_t side_by_side(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                             const uint16_t *ports, uint32_t n, uint32_t part,
                             const uint16_t **chosen)
{
    const struct graph *g = &sim->graph;
    const uint16_t *lanes[SIM_STRIPES_MAX];
    uint64_t planes = 0; // bit set of the planes below 64
    uint32_t count = 0, first = g->nodes[src].first_port;
    // The first part may be a byte longer; different pairs start with different planes.
    uint32_t pair = (uint32_t)hash_mix((uint64_t)src << 32 | dst) >> 1, turn = n > 1 ? pair % n : 0;
    uint32_t neighbour = n > 0 ? g->ports[g->ports[first + ports[turn]].peer].node : 0;
    for (uint32_t i = 0; i < n && count < SIM_STRIPES_MAX; i++) {
        uint32_t peer = g->ports[g->ports[first + ports[i]].peer].node;
        uint64_t plane = UINT64_C(1) << (g->nodes[peer].plane & 63);
        bool another = g->dim_direct[dim] ? peer == neighbour : !(planes & plane);
        planes |= plane;
        if (another)
            lanes[count++] = &ports[i];
    }
    if (count > 0)
        *chosen = lanes[(part + pair) % count];
    return count;
}

static bool is_among(uint16_t port, const uint16_t *ports, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (ports[i] == port)
            return true;
    return false;
}

// The port that part `part` has in the network without failures; NULL = there is none, or it does not
// lead to the destination now, by none of the `n` ports `ports`.
static const uint16_t *own_port(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                                uint32_t part, const uint16_t *ports, uint32_t n)
{
    const uint16_t *first, *own;
    uint32_t all = routes_from(sim_first_routes(sim), src, dst, dim, &first);
    bool has = side_by_side(sim, src, dst, dim, first, all, part, &own) > 0;
    return has && is_among(*own, ports, n) ? own : NULL;
}

uint32_t sim_stripe_port(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                         uint32_t part, const uint16_t **port, uint32_t n)
{
    const uint16_t *own = own_port(sim, src, dst, dim, part, *port, n);
    if (!own)
        return side_by_side(sim, src, dst, dim, *port, n, part, port) > 0;
    *port = own;
    return 1;
}

uint32_t sim_stripes(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                     uint32_t transport)
{
    const uint16_t *ports;
    if (!sim->stripes || !sim->spec->dims[dim].stacks[transport].transport.stripe)
        return 1;
    src = graph_owner(&sim->graph, src, dim);
    dst = graph_owner(&sim->graph, dst, dim);
    if (src == dst)
        return 1;
    uint32_t n = routes_from(sim_first_routes(sim), src, dst, dim, &ports);
    n = side_by_side(sim, src, dst, dim, ports, n, 0, &ports);
    return n > 0 ? n : 1;
}

// Those of `planes` planes, by their parts' numbers, that lead to the destination now; all of them if
// none does. Returns their number.
static uint32_t planes_now(const struct sim *sim, const struct transfer_request *r, uint32_t dim,
                           uint32_t planes, uint8_t *parts)
{
    const uint16_t *ports;
    uint32_t src = graph_owner(&sim->graph, r->src, dim);
    uint32_t dst = graph_owner(&sim->graph, r->dst, dim), found = 0;
    uint32_t n = sim->rerouted && src != dst ? routes_from(&sim->routes, src, dst, dim, &ports) : 0;
    for (uint32_t i = 0; i < planes && n > 0; i++)
        if (own_port(sim, src, dst, dim, i, ports, n))
            parts[found++] = (uint8_t)i;
    if (found > 0)
        return found;
    for (uint32_t i = 0; i < planes; i++)
        parts[i] = (uint8_t)i;
    return planes;
}

uint32_t sim_parts(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                   uint32_t transport)
{
    uint32_t split = hosts_dim(&sim->hosts, dim, transport)->parts_per_message;
    return sim_stripes(sim, src, dst, dim, transport) * (split > 1 ? split : 1);
}

static uint32_t slot_take(struct stripes *s)
{
    if (s->free_head != UINT32_MAX) {
        uint32_t slot = s->free_head;
        s->free_head = s->slots[slot].next_free;
        return slot;
    }
    if (s->n == s->cap)
        s->slots = memory_grow(s->slots, &s->cap, sizeof *s->slots);
    return s->n++;
}

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct stripes *s = net;
    uint32_t dim = sim_request_dim(s->sim, request);
    uint32_t all = sim_stripes(s->sim, request->src, request->dst, dim, request->transport);
    uint8_t lanes[SIM_STRIPES_MAX];
    uint32_t planes = planes_now(s->sim, request, dim, all, lanes);
    uint32_t split = hosts_dim(&s->sim->hosts, dim, request->transport)->parts_per_message;
    uint32_t parts = planes * (split > 1 ? split : 1);
    if (request->bytes < parts)
        parts = request->bytes > 0 ? (uint32_t)request->bytes : 1;
    if (parts == 1 && (all == 1 || request->bytes < 2)) {
        s->below.post(s->below.net, request, now);
        return;
    }
    uint32_t slot = slot_take(s);
    uint16_t n = (uint16_t)parts;
    s->slots[slot] = (struct striped){request->token, 0, 0, n, n, n, n, false, 0, {0}};
    uint32_t number =
        request->piece_of ? request->piece_of : sim_ledger_count(s->sim, request->src);
    for (uint32_t i = 0; i < parts; i++) {
        struct transfer_request part = *request;
        part.bytes = request->bytes / parts + (i < request->bytes % parts);
        part.channel =
            request->channel * SIM_PARTS_MAX + i / planes * SIM_STRIPES_MAX + lanes[i % planes];
        part.stripe = all > 1 ? lanes[i % planes] + 1u : 0;
        part.piece_of = number;
        part.of_dim = (uint8_t)(dim + 1);
        part.token = PART_BITS | slot;
        if (split > 1) { // queue pairs share the ports; planes have ports of their own
            part.hint.at_source *= split;
            part.hint.at_destination *= split;
            part.hint.turn = part.hint.turn > 0 ? (part.hint.turn - 1) * split + 1 + i / planes : 0;
        }
        s->below.post(s->below.net, &part, now);
    }
}

static bool is_part(uint64_t token) { return (token & PART_BITS) == PART_BITS; }

static void delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    struct stripes *s = ctx;
    if (!is_part(token)) {
        s->client.delivered(s->client.ctx, token, bytes, now);
        return;
    }
    struct striped *m = &s->slots[(uint32_t)token];
    m->bytes += bytes;
    if (--m->undelivered == 0)
        s->client.delivered(s->client.ctx, m->token, m->bytes, now);
}

// A part has ended. The slot is freed before the callback, since callbacks may post.
static void part_ended(struct stripes *s, uint32_t slot, bool failed, ps_t now)
{
    struct striped *m = &s->slots[slot];
    struct path_book *book = &s->sim->path_book;
    m->failed |= failed;
    m->ended_ps = ps_longer(m->ended_ps, now - book->held_ps);
    if (--m->unended > 0)
        return;
    uint64_t token = m->token;
    failed = m->failed;
    book->held_ps = failed ? 0 : now - m->ended_ps;
    m->next_free = s->free_head;
    s->free_head = slot;
    if (failed)
        s->client.failed(s->client.ctx, token, now);
    else
        s->client.sent(s->client.ctx, token, now);
}

// Of a message in parts nothing is said: its program goes on when all of them are sent.
static void entered(void *ctx, uint64_t token, ps_t now)
{
    const struct stripes *s = ctx;
    if (!is_part(token) && s->client.entered)
        s->client.entered(s->client.ctx, token, now);
}

static void sent(void *ctx, uint64_t token, ps_t now)
{
    struct stripes *s = ctx;
    if (is_part(token))
        part_ended(s, (uint32_t)token, false, now);
    else
        s->client.sent(s->client.ctx, token, now);
}

static void failed(void *ctx, uint64_t token, ps_t now)
{
    struct stripes *s = ctx;
    if (is_part(token))
        part_ended(s, (uint32_t)token, true, now);
    else
        s->client.failed(s->client.ctx, token, now);
}

static ps_t later(ps_t a, ps_t b) // -1 = never
{
    return a < 0 || b < 0 ? -1 : a > b ? a : b;
}

void sim_record_merge(struct flow_record *whole, struct flow_record *part, ps_t shift_ps)
{
    part->fct_ps += part->fct_ps >= 0 ? shift_ps : 0;
    part->life_ps[PATH_WINDOW] += part->delivered_ps >= 0 ? shift_ps : 0;
    part->delivered_ps += part->delivered_ps >= 0 ? shift_ps : 0;
    if (part->delivered_ps > whole->delivered_ps) // the part that is delivered last counts
        memcpy(whole->life_ps, part->life_ps, sizeof whole->life_ps);
    whole->bytes += part->bytes;
    whole->delivered_bytes += part->delivered_bytes;
    whole->packets += part->packets;
    whole->retransmitted += part->retransmitted;
    whole->cnps += part->cnps;
    whole->timeouts += part->timeouts;
    whole->fct_ps = later(whole->fct_ps, part->fct_ps);
    whole->delivered_ps = later(whole->delivered_ps, part->delivered_ps);
    whole->qp = part->qp < whole->qp ? part->qp : whole->qp;
    if (part->status == MESSAGE_FAILED || whole->status == MESSAGE_DONE)
        whole->status = part->status;
}

bool sim_stripes_record(struct sim *sim, uint64_t *token, struct flow_record *record)
{
    struct stripes *s = sim->stripes;
    if (!s || !is_part(*token))
        return true;
    struct striped *m = &s->slots[(uint32_t)*token];
    *token = m->token;
    if (m->unrecorded == m->parts)
        m->record = *record;
    else
        sim_record_merge(&m->record, record, 0);
    *record = m->record;
    return --m->unrecorded == 0;
}

static bool is_cut(const struct sim *sim, uint32_t dim)
{
    const struct graph *g = &sim->graph;
    uint32_t first = 0;
    bool striped = false;
    for (uint32_t t = 0; t < sim->hosts.n_transports; t++) {
        striped |= sim->spec->dims[dim].stacks[t].transport.stripe;
        if (hosts_dim(&sim->hosts, dim, t)->parts_per_message > 1)
            return true;
    }
    if (!striped)
        return false;
    for (uint32_t rank = 0; rank < g->n_ranks; rank++)
        if (graph_ports_in(g, rank, dim, &first) > 1)
            return true;
    return false;
}

void sim_stripes_init(struct sim *sim)
{
    bool any = false;
    for (uint32_t d = 0; d < sim->graph.n_dims; d++)
        any |= is_cut(sim, d);
    if (!any)
        return;
    struct stripes *s = sim->stripes = memory_zeroed(1, sizeof *s);
    s->sim = sim;
    s->free_head = UINT32_MAX;
    s->client = sim->client;
    s->below = sim->transfer;
    sim->client = (struct transfer_client){
        .delivered = delivered, .entered = entered, .sent = sent, .failed = failed, .ctx = s};
    sim->transfer = (struct transfer){.post = post, .net = s};
}

void sim_stripes_free(struct sim *sim)
{
    if (sim->stripes)
        free(sim->stripes->slots);
    free(sim->stripes);
}
