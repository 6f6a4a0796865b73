// SPDX-License-Identifier: MIT
// Which messages are quiet.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "sim/hybrid/quiet.h"

/* ---- which messages are quiet ---- */

#define QUEUE_LEAST (64 * 1024) // bytes that wait at a slower link without any effect

// True while a port sends more than an ACK: what was under way when quiet messages became packets.
static bool is_busy(const struct port *port, double ack_ps, ps_t now)
{
    return port->paused != 0 || (double)port->busy_until_ps > (double)now + ack_ps;
}

static bool ports_free(struct hybrid *h, const struct sender *s, const struct quiet_connection *c,
                       ps_t now)
{
    const struct network *net = hybrid_net(h);
    uint32_t own = c->returned;
    for (uint32_t i = 0; i < c->out.n; i++) {
        const struct port_use *use = &h->ports[c->out.ports[i]];
        double ack_ps = s->dim->ack.wire * c->out.hops[i].byte_ps;
        if (port_has_other(use, s->flow, now) || use->n_packet > own ||
            (!own && is_busy(&net->ports[c->out.ports[i]], ack_ps, now)))
            return false;
    }
    for (uint32_t i = 1; i < c->in.n; i++)
        if (h->ports[c->in.ports[i]].n_packet > 1)
            return false;
    return true;
}

// True if the NIC of either end is not ideal, or if cores of hosts handle packets.
static bool costs_host(const struct hybrid *h, const struct sender *s)
{
    const struct hosts *hosts = hybrid_hosts(h);
    const struct flow_id *id = sender_id(s);
    const struct nic_spec *const *nic_of = s->dim->nic_of;
    return hosts->stack || (nic_of && (nic_of[id->src_node] || nic_of[id->dst_node]));
}

// True in a window of hybrid_check(). Time never goes back.
static bool is_checked(struct hybrid *h, ps_t now)
{
    while (h->check < h->n_checks && h->check_ps[h->check] + h->check_length_ps <= now)
        h->check++;
    return h->check < h->n_checks && h->check_ps[h->check] <= now;
}

enum not_quiet why_not_quiet(struct hybrid *h, const struct quiet_connection *c,
                             const struct sender *s, const struct transfer_request *r, ps_t now)
{
    const struct transport_dim *dim = s->dim;
    if (h->off != IS_QUIET)
        return h->off;
    if (h->n_checks > 0 && is_checked(h, now))
        return NOT_QUIET_CHECKED;
    if (!dim->ops->quiet || dim->int_records || r->control)
        return NOT_QUIET_TRANSPORT;
    if (c->never)
        return NOT_QUIET_PATHS;
    if (c->special != IS_QUIET)
        return c->special;
    if (costs_host(h, s))
        return NOT_QUIET_HOST;
    if (c->n_packet > c->returned || h->n_never[sender_id(s)->dim] > 0 || !ports_free(h, s, c, now))
        return NOT_QUIET_MEETS;
    if ((1 - c->out.hops[0].byte_ps / c->slowest_ps) * (double)r->bytes > QUEUE_LEAST)
        return NOT_QUIET_SLOWER;
    return dim->ops->quiet(s) ? IS_QUIET : NOT_QUIET_RATE;
}

// A message is posted to a sender: struct host_quiet.
static bool on_post(void *ctx, struct sender *s, const struct transfer_request *request, ps_t now)
{
    struct hybrid *h = ctx;
    struct quiet_connection *c = hybrid_connection(h, s->flow);
    if (!c->known && h->off == IS_QUIET)
        connection_walk(h, c, s);
    enum not_quiet why = why_not_quiet(h, c, s, request, now);
    if (why == IS_QUIET) {
        quiet_post(h, s, request, now);
        return true;
    }
    const struct newcomer self = {c, request->bytes};
    if (c->oldest)
        connection_wake(h, s->flow, &self, now);
    hybrid_packets(h, s, request, why, now);
    return true;
}

/* ---- life ---- */

struct hybrid *hybrid_attach(struct fabric *fabric, struct path_book *path_book)
{
    if (fabric->spec->network != NETWORK_HYBRID)
        return NULL;
    struct hybrid *h = memory_zeroed(1, sizeof *h);
    h->fabric = fabric;
    h->path_book = path_book;
    h->client = fabric->hosts.client;
    h->observer = fabric->hosts.observer;
    h->ports = memory_zeroed(fabric->net.n_ports, sizeof *h->ports);
    for (uint32_t p = 0; p < fabric->net.n_ports; p++)
        h->ports[p].owner = NO_CONNECTION;
    // Time series are of the packets of all flows, and circuits change all paths.
    h->off = fabric->spec->report.sample_ps > 0 ? NOT_QUIET_WATCHED
             : fabric->circuits                 ? NOT_QUIET_CHANGES
                                                : IS_QUIET;
    fabric->hosts.quiet =
        (struct host_quiet){.take = on_post, .rerouted = hybrid_rerouted, .ctx = h};
    rest_attach(h);
    fabric_needs_order(fabric, "the hybrid network decides for all ranks at once");
    return h;
}

void hybrid_free(struct hybrid *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < h->cap; i++) {
        if (h->connections[i])
            free(h->connections[i]->long_message);
        free(h->connections[i]);
    }
    free(h->connections);
    free(h->ports);
    slab_free(&h->messages);
    free(h);
}

void hybrid_check(struct hybrid *h, uint32_t n, ps_t span_ps)
{
    if (!h)
        return;
    h->n_checks = n < HYBRID_WINDOWS_MOST ? n : HYBRID_WINDOWS_MOST;
    h->check_length_ps = span_ps / 100 + 1;
    for (uint32_t i = 0; i < h->n_checks; i++) {
        struct rng rng = rng_init(h->fabric->spec->seed, RNG_HYBRID_CHECK, i);
        double part = (double)span_ps / h->n_checks;
        h->check_ps[i] = (ps_t)(i * part + rng_unit(&rng) * (part - (double)h->check_length_ps));
    }
}

bool hybrid_pending(const struct hybrid *h) { return h && h->n_quiet > 0; }

void hybrid_running(struct hybrid *h)
{
    for (size_t i = 0; h && i < h->cap; i++)
        for (const struct quiet_message *m = h->connections[i] ? h->connections[i]->oldest : NULL;
             m; m = m->next) {
            if (!m->delivered)
                quiet_count_running(h, h->connections[i], &m->wire, m->train.begin_ps,
                                    m->wire.packets);
            struct message_end end = quiet_end(m, false);
            rest_add(h, h->connections[i], &end);
            h->observer.message_ended(h->observer.ctx, &end, hybrid_net(h)->engine->now_ps);
        }
}

#define NOT_QUIET_WORD(constant, word) word,
_Static_assert(NOT_QUIET_REASONS == NOT_QUIET_MOST, "the result has a place for each reason");

void hybrid_collect(const struct hybrid *h, struct result *r)
{
    static const char *const words[] = {NOT_QUIET_LIST(NOT_QUIET_WORD)};
    if (!h)
        return;
    struct hybrid_result *out = r->hybrid = memory_zeroed(1, sizeof *out);
    out->reasons = out->not_quiet;
    double all = (double)h->quiet_bytes;
    for (size_t i = 0; i < NOT_QUIET_REASONS; i++)
        all += (double)h->packet_bytes[i];
    out->error = hybrid_error_of(h->fabric->spec, h->fabric->graph.n_ranks);
    out->quiet_share = all > 0 ? (double)h->quiet_bytes / all : 0;
    for (size_t i = 0; i < NOT_QUIET_REASONS; i++)
        if (h->packet_bytes[i] > 0)
            out->not_quiet[out->n_reasons++] =
                (struct not_quiet_share){words[i], (double)h->packet_bytes[i] / all};
}
