// SPDX-License-Identifier: MIT
// The pipelines of a NIC, its bus and its buffer.
#include "transport/nic/adapter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "net/credit_balance.h"
#include "net/crossing.h"
#include "transport/host.h"

/* ---- qp cache ---- */

// The contexts of queue pairs in the memory of a NIC. A missing context takes a free place, or else
// the place of a random one. Each end of a flow has a context.
//
// Real caches are set-associative with undisclosed rules; random replacement has their gradual
// decline, and a closed form: where n contexts are used in turn and c fit, the share of hits h
// solves h = (1 - 1/c)^((n-1)(1-h)), since between two uses of a context the misses of the others
// may have evicted it.

static uint32_t place_for_new(struct qp_cache *c)
{
    if (c->n == c->limit)
        return (uint32_t)rng_below(&c->rng, c->limit);
    if (c->n == c->room)
        c->held = memory_grow(c->held, &c->room, sizeof *c->held);
    return c->n++;
}

static void places_reach(struct qp_places *places, uint32_t context)
{
    while (context >= places->n) {
        size_t before = places->n;
        places->at = memory_grow(places->at, &places->n, sizeof *places->at);
        memset(places->at + before, 0, (places->n - before) * sizeof *places->at);
    }
}

// Look up a context, and load it. Returns true if it was there.
static bool qp_cache_use(struct qp_cache *c, struct qp_places *places, uint32_t context)
{
    // A new context has place 0 in the table, which may hold another context, so the place is
    // checked.
    places_reach(places, context);
    uint32_t place = places->at[context];
    if (place < c->n && c->held[place] == context)
        return true;
    place = place_for_new(c);
    c->held[place] = context;
    places->at[context] = place;
    return false;
}

static void qp_cache_free(struct qp_cache *c) { free(c->held); }

/* ---- adapter pauses ---- */

// The PFC frames of a NIC whose packets arrive faster than it can pass them to its rank.

static struct network *adapter_pauses_net_of(const struct adapter *a) { return a->all->hosts->net; }

// Interval of refreshes: half of the quanta, of 512 bit times each, as for switches. It is computed
// for each pause, since faults may change a link's rate.
static ps_t refresh_ps(const struct adapter *a, uint32_t port)
{
    const struct byte_time *bt = &port_link(adapter_pauses_net_of(a), port)->byte_time;
    ps_t half = byte_time_span(bt, (uint64_t)a->quanta * 32);
    return half > 0 ? half : 1;
}

static struct pfc_cause cause_of(const struct adapter *a)
{
    return (struct pfc_cause){
        .source = PFC_NIC, .held_bytes = a->held_bytes, .limit_bytes = a->xoff_bytes};
}

// A packet has entered the buffer: pause its class at the port by which it came, if the buffer is
// at or above its threshold. Classes with credits are stopped by a lack of credit instead.
static void adapter_check_xoff(struct adapter *a, const struct packet *p, ps_t now)
{
    uint32_t port = node_port(adapter_pauses_net_of(a), a->node, p->ingress);
    struct adapter_port *ap = &a->all->ports[port];
    uint8_t cls = (uint8_t)(1u << p->cls);
    if (a->held_bytes < a->xoff_bytes || !(a->lossless & ~a->credits & cls) ||
        ap->pfc.xoff_sent & cls)
        return;
    struct pfc_cause cause = cause_of(a);
    cause.trigger = p;
    a->counters.pauses++;
    ap->pauses++;
    ap->pfc.refresh_every_ps = refresh_ps(a, port);
    pfc_sender_xoff(&ap->pfc, adapter_pauses_net_of(a), port, cls, a->quanta, &cause, now);
}

// Resume all paused classes at all ports of the NIC once the buffer is at or below its lower
// threshold.
static void adapter_check_xon(struct adapter *a, ps_t now)
{
    const struct pfc_cause cause = cause_of(a);
    if (a->held_bytes > a->xon_bytes)
        return;
    for (uint32_t port = a->first_port; port < a->first_port + a->n_ports; port++) {
        struct pfc_sender *sender = &a->all->ports[port].pfc;
        if (sender->xoff_sent != 0)
            pfc_sender_xon(sender, adapter_pauses_net_of(a), port, sender->xoff_sent, &cause, now);
    }
}

static void on_refresh(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct adapter *a = timer->data;
    struct adapter_port *ap =
        (struct adapter_port *)(void *)((char *)timer - offsetof(struct adapter_port, pfc.refresh));
    struct pfc_cause cause = cause_of(a);
    uint32_t port = (uint32_t)(ap - a->all->ports);
    cause.renews = true;
    ap->pfc.refresh_every_ps = refresh_ps(a, port);
    pfc_sender_renew(&ap->pfc, adapter_pauses_net_of(a), port, a->quanta, &cause, engine->now_ps);
}

// Initialise the timers that renew the pauses of the NIC's ports.
static void adapter_pauses_init(struct adapter *a)
{
    for (uint32_t port = a->first_port; port < a->first_port + a->n_ports; port++) {
        struct pfc_sender *sender = &a->all->ports[port].pfc;
        sim_timer_init(adapter_pauses_net_of(a)->engine, &sender->refresh, a->node, on_refresh, a);
    }
}

/* ---- adapter ---- */

static struct network *net_of(const struct adapter *a) { return a->all->hosts->net; }

/* ---- the pipelines ---- */

static uint32_t payload_of(const struct adapter *a, const struct packet *p)
{
    return p->kind == PACKET_DATA ? meta_at(&net_of(a)->meta, p->meta)->payload_bytes : 0;
}

static bool finds_context(struct adapter *a, unsigned direction, const struct packet *p,
                          bool receives)
{
    if (a->spec->qp_cache == 0 || a->spec->qp_miss_ps == 0)
        return true;
    bool found = qp_cache_use(&a->cache, &a->all->places, qp_context(p->flow, receives));
    a->counters.lookups[direction]++;
    a->counters.misses[direction] += !found;
    return found;
}

// Let a packet pass a pipeline from `now` on; returns when it leaves it.
static ps_t serve(struct adapter *a, unsigned direction, const struct packet *p, bool receives,
                  ps_t now)
{
    const struct nic_spec *spec = a->spec;
    uint32_t payload = payload_of(a, p);
    ps_t begin = now > a->free_ps[direction] ? now : a->free_ps[direction], start = begin;
    if (!finds_context(a, direction, p, receives)) {
        start += spec->qp_miss_ps;
        a->counters.missed_ps[direction] += spec->qp_miss_ps;
    }
    ps_t end = start + nic_packet_ps(spec, 0);
    if (payload > 0 && spec->bus_rate_bps > 0) {
        ps_t *bus = &a->bus_free_ps[spec->bus_duplex == BUS_HALF_DUPLEX ? 0 : direction];
        ps_t length = serialization_ps(nic_bus_bytes(spec, payload), spec->bus_rate_bps);
        *bus = (*bus > start ? *bus : start) + length;
        a->counters.bus_busy_ps[direction] += length;
        end = end > *bus ? end : *bus;
    }
    a->counters.busy_ps[direction] += end - begin;
    return a->free_ps[direction] = end;
}

/* ---- sending ---- */

static bool pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    struct adapters *all = ctx;
    struct adapter_port *ap = &all->ports[port];
    if (!ap->adapter)
        return all->nic.pull(all->nic.ctx, node, port, p, now);
    if (now < ap->fetched_ps)
        return false;
    if (ap->held_since_ps < now) // before the pull, in which the sender accounts for its waits
        ap->held_ps += now - ap->held_since_ps;
    ap->held_since_ps = PS_NEVER;
    if (!all->nic.pull(all->nic.ctx, node, port, p, now))
        return false;
    if (p->kind == PACKET_DATA)
        ap->fetched_ps = serve(ap->adapter, ADAPTER_SENDS, p, false, now);
    return true;
}

static ps_t next_pull(void *ctx, uint32_t port, ps_t now)
{
    struct adapters *all = ctx;
    struct adapter_port *ap = &all->ports[port];
    ps_t next = all->nic.next_pull(all->nic.ctx, port, now);
    if (!ap->adapter || next >= ap->fetched_ps)
        return next;
    ps_t free_ps = all->hosts->net->ports[port].busy_until_ps;
    ps_t since = next > free_ps ? next : free_ps;
    if (since < ap->held_since_ps && since < ap->fetched_ps)
        ap->held_since_ps = since;
    return ap->fetched_ps;
}

static void pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    const struct adapters *all = ctx;
    all->nic.pause_changed(all->nic.ctx, port, cls, paused, now);
}

ps_t adapter_held_ps(const struct hosts *hosts, uint32_t port, ps_t now)
{
    if (!adapter_of_port(hosts, port))
        return 0;
    const struct adapter_port *ap = &hosts->adapters->ports[port];
    return ap->held_ps + (ap->held_since_ps < now ? now - ap->held_since_ps : 0);
}

/* ---- receiving ---- */

// Let the next packet enter the receiving pipeline, packets of the control class first.
static void start(struct adapter *a, ps_t now)
{
    a->busy = false;
    for (unsigned q = 0; q < ADAPTER_QUEUES && !a->busy; q++) {
        if (a->waiting[q].count == 0)
            continue;
        const struct packet *p = fifo_head(&net_of(a)->pool, &a->waiting[q]);
        bool to_receiver = p->kind == PACKET_DATA || p->kind == PACKET_TRIMMED;
        a->busy = true;
        a->serves = (uint8_t)q;
        sim_timer_start(net_of(a)->engine, &a->timer,
                        serve(a, ADAPTER_RECEIVES, p, to_receiver, now));
    }
}

static void release(struct adapter *a, const struct packet *p, ps_t now)
{
    struct network *net = net_of(a);
    uint32_t sender = net->cold[node_port(net, a->node, p->ingress)].peer;
    if (p->cls == NET_CLASS_CONTROL)
        return;
    a->held_bytes -= p->frame_bytes;
    if (a->credits >> p->cls & 1)
        credits_return(net, sender, p->cls, p->frame_bytes, now);
    adapter_check_xon(a, now);
}

static void on_end(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct adapter *a = timer->data;
    struct network *net = net_of(a);
    struct fifo *queue = &a->waiting[a->serves];
    struct packet p = *fifo_head(&net->pool, queue);
    ps_t now = engine->now_ps;
    fifo_drop_head(&net->pool, queue);
    release(a, &p, now);
    start(a, now);
    if (p.flags & (PACKET_LAST | PACKET_RETX) && now > p.arrives_ps)
        meta_add_wait(&net->meta, p.meta, META_WAIT_NIC | node_port(net, a->node, p.ingress),
                      now - p.arrives_ps);
    a->all->nic.arrive(a->all->nic.ctx, a->node, p.ingress, &p, now);
}

// Put a packet of a data class into the buffer. Packets of lossy classes must not use the headroom
// of the lossless classes. Returns false if there is no room.
static bool admit(struct adapter *a, const struct packet *p, ps_t now)
{
    uint64_t limit = a->lossless >> p->cls & 1 ? a->spec->buffer_bytes : a->xoff_bytes;
    if (!(a->credits >> p->cls & 1) && a->held_bytes + p->frame_bytes > limit)
        return false;
    a->held_bytes += p->frame_bytes;
    if (a->held_bytes > a->counters.max_held_bytes)
        a->counters.max_held_bytes = a->held_bytes;
    adapter_check_xoff(a, p, now);
    return true;
}

static void drop(struct adapter *a, uint32_t port, struct packet *p, ps_t now)
{
    struct network *net = net_of(a);
    a->counters.dropped.packets++;
    a->counters.dropped.bytes += p->frame_bytes;
    network_lose(net, net->cold[port].peer, p, DROP_NIC_BUFFER, now);
}

static void arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct adapters *all = ctx;
    uint32_t port = node_port(all->hosts->net, node, local);
    struct adapter *a = all->ports[port].adapter;
    if (!a) {
        all->nic.arrive(all->nic.ctx, node, local, p, now);
        return;
    }
    unsigned q = p->cls == NET_CLASS_CONTROL ? ADAPTER_CONTROL : ADAPTER_DATA;
    p->ingress = (uint16_t)local;
    p->arrives_ps = now;
    if (q == ADAPTER_DATA && !admit(a, p, now)) {
        drop(a, port, p, now);
        return;
    }
    *fifo_push(&net_of(a)->pool, &a->waiting[q]) = *p;
    if (!a->busy)
        start(a, now);
}

static uint32_t hint(void *ctx, uint32_t node, uint32_t local, struct packet *p)
{
    const struct adapters *all = ctx;
    return all->nic.hint(all->nic.ctx, node, local, p);
}

bool adapters_busy(const struct hosts *hosts, ps_t now)
{
    const struct adapters *all = hosts->adapters;
    for (uint32_t i = 0; all && i < all->n; i++)
        if (all->list[i].busy || all->list[i].free_ps[ADAPTER_SENDS] > now)
            return true;
    return false;
}

uint64_t adapter_drain_bps(const struct hosts *hosts, uint32_t port, uint32_t wire_bytes,
                           uint32_t payload_bytes)
{
    const struct adapter *a = adapter_of_port(hosts, port);
    ps_t packet_ps = a ? nic_packet_ps(a->spec, payload_bytes) * (ps_t)a->n_ports : 0;
    if (a && a->spec->bus_duplex == BUS_HALF_DUPLEX)
        packet_ps *= 2;
    return packet_ps > 0 ? wire_bytes * UINT64_C(8) * PS_PER_S / (uint64_t)packet_ps : UINT64_MAX;
}

/* ---- life ---- */

struct adapter *adapter_of_port(const struct hosts *hosts, uint32_t port)
{
    return hosts->adapters ? hosts->adapters->ports[port].adapter : NULL;
}

void adapters_attach(struct hosts *hosts, uint32_t n)
{
    struct network *net = hosts->net;
    struct adapters *all = hosts->adapters = memory_zeroed(1, sizeof *all);
    all->hosts = hosts;
    all->list = memory_zeroed(n, sizeof *all->list);
    all->ports = memory_zeroed(net->first_port[net->n_ranks], sizeof *all->ports);
    struct node_ops *ops = &net->ops[NET_RANK];
    all->nic = *ops;
    *ops = (struct node_ops){.arrive = arrive,
                             .pull = pull,
                             .next_pull = next_pull,
                             .pause_changed = pause_changed,
                             .hint = hint,
                             .ctx = all};
}

void adapter_add(struct hosts *hosts, const struct adapter_config *config)
{
    struct adapters *all = hosts->adapters;
    struct adapter *a = &all->list[all->n++];
    uint64_t buffer = config->spec->buffer_bytes;
    *a = (struct adapter){
        .all = all,
        .spec = config->spec,
        .dim = config->dim,
        .node = config->node,
        .first_port = config->first_port,
        .n_ports = config->n_ports,
        .lossless = config->lossless,
        .credits = config->credits,
        .quanta = config->quanta,
        .waiting = {fifo_empty(), fifo_empty()},
        .cache = {.limit = (uint32_t)config->spec->qp_cache,
                  .rng = rng_init(hosts->net->engine->seed, RNG_QP_CACHE, config->first_port)}};
    a->xoff_bytes = buffer > config->headroom_bytes ? buffer - config->headroom_bytes : 0;
    a->xon_bytes = a->xoff_bytes > config->xon_bytes ? a->xoff_bytes - config->xon_bytes : 0;
    sim_timer_init(hosts->net->engine, &a->timer, a->node, on_end, a);
    for (uint32_t p = a->first_port; p < a->first_port + a->n_ports; p++) {
        all->ports[p] = (struct adapter_port){.adapter = a, .held_since_ps = PS_NEVER};
        port_pin_departure_events(hosts->net, p);
    }
    adapter_pauses_init(a);
}

// The shards share the arrays, because each entry belongs to one shard. A context belongs to one
// shard too, because it is that of one end of a flow.
void *adapters_divide(struct hosts *shard, void *below)
{
    if (!shard->adapters)
        return below;
    const struct network *net = shard->net;
    struct adapters *all = memory_zeroed(1, sizeof *all);
    *all = *shard->adapters;
    all->hosts = shard;
    all->nic.ctx = below;
    all->places = (struct qp_places){0};
    for (uint32_t i = 0; i < all->n; i++)
        if (network_at_port(net, all->list[i].first_port) == net)
            all->list[i].all = all;
    return shard->adapters = all;
}

void adapters_shard_free(struct hosts *shard)
{
    if (shard->adapters)
        free(shard->adapters->places.at);
    free(shard->adapters);
}

void adapters_free(struct hosts *hosts)
{
    struct adapters *all = hosts->adapters;
    for (uint32_t i = 0; all && i < all->n; i++)
        qp_cache_free(&all->list[i].cache);
    if (all) {
        free(all->list);
        free(all->ports);
        free(all->places.at);
    }
    free(all);
    hosts->adapters = NULL;
}
