// SPDX-License-Identifier: MIT
// Ranks as nodes of the network: arriving packets go to the senders and receivers of their flows,
// and NIC ports pull packets from senders.
#include "transport/host.h"
#include "transport/sender/envs.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "transport/nic/adapter.h"
#include "transport/nic/stack.h"
#include "transport/sender/pairs.h"

void hosts_post(void *ctx, const struct transfer_request *request, ps_t now)
{
    struct hosts *hosts = ctx;
    struct sender *s = hosts_connection_for(hosts, request, now);
    port_catch_up_before(hosts->net, s->port, now);
    if (s->cold.rechoose && s->oldest == MESSAGE_NIL) {
        s->cold.rechoose = false;
        if (!s->failed)
            hosts_try_other_port(hosts, s, now);
    }
    if (!hosts->quiet.take || !hosts->quiet.take(hosts->quiet.ctx, s, request, now))
        sender_post(s, request, now);
}

/* ---- packets that arrive ---- */

// Keep the times of a packet that ends a message or was sent again; reports do not need the times
// of other packets.
static inline void note_arrival(struct hosts *hosts, const struct packet *p)
{
    hosts->arriving.timed = p->flags & (PACKET_LAST | PACKET_RETX);
    if (!hosts->arriving.timed)
        return;
    const struct meta_pool *pool = &hosts->net->meta;
    hosts->arriving.sent_ps = meta_at(pool, p->meta)->sent_ps;
    hosts->arriving.waits.n = pool->waits[p->meta].n;
    hosts->arriving.waits.timeout_ps = pool->waits[p->meta].timeout_ps;
    if (hosts->arriving.waits.n > 0)
        hosts->arriving.waits = pool->waits[p->meta];
}

static struct receiver *receiver_of(struct hosts *hosts, uint32_t flow)
{
    struct receiver *r = hosts->receivers[flow];
    return r ? r : hosts_open_receiver(hosts, flow);
}

__attribute__((noinline)) static void arrive_trimmed(struct hosts *hosts, uint32_t port,
                                                     struct packet *p, ps_t now)
{
    struct receiver *r = receiver_of(hosts, p->flow);
    r->dim->ops->on_trimmed(r, port, p, now);
}

static void arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct hosts *hosts = ctx;
    if (p->kind == PACKET_DATA) {
        note_arrival(hosts, p);
        struct receiver *r = receiver_of(hosts, p->flow);
        r->dim->ops->on_data(r, node_port(hosts->net, node, local), p, now);
    } else if (p->kind == PACKET_TRIMMED) {
        arrive_trimmed(hosts, node_port(hosts->net, node, local), p, now);
    } else {
        sender_feedback(hosts->senders[p->flow], p, now);
    }
    packet_end(hosts->net, p);
}

/* ---- packets that a port sends ---- */

static void note_sent(const struct sender *s, const struct packet *p)
{
    const struct hosts *hosts = sender_hosts(s);
    const struct meta_pool *pool = &hosts->net->meta;
    struct packet_note *note = meta_note(pool, p->meta);
    note->window_bytes = s->cc->cwnd_bytes == CC_UNLIMITED ? NOTE_UNLIMITED : s->cc->cwnd_bytes;
    note->rate_bps = s->cc->rate_bps;
    note->resend = (enum note_resend)s->cold.resends;
    note->set |= NOTE_SENT;
    engine_lock(hosts->net->engine);
    hosts->observer.note(hosts->observer.ctx, meta_at(pool, p->meta)->token, note);
    engine_unlock(hosts->net->engine);
}

static bool pull_from(struct nic *nic, struct packet *p, ps_t now)
{
    struct sender *s = nic_pop(nic, now);
    if (s == NULL)
        return false;
    // The sender has waited for its pace, or PFC has paused its class since the last account.
    if (s->next_send_ps > s->last_start_ps || nic->paused_total_ps != s->time->paused_mark_ps)
        sender_time_gap(s, now);
    SIM_ASSERT(sender_hosts(s)->net->engine, sender_id(s)->src_node, !s->busy);
    s->dim->ops->fill(s, p, now);
    s->time->sent_bytes += p->wire_bytes;
    if (p->flags & (PACKET_LAST | PACKET_RETX)) {
        hosts_begin_call(sender_hosts(s));
        sender_time_sent(s, p, now);
        hosts_end_call(sender_hosts(s));
    }
    if (s->dim->hosts->net->meta.keeps_notes)
        note_sent(s, p);
    sender_sent(s, p->wire_bytes, now);
    // A sender that may send again is entered behind the others, so senders take turns packet by
    // packet.
    if (sender_may_send(s))
        nic_add(nic, s, now);
    return true;
}

static bool pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    (void)node;
    const struct hosts *hosts = ctx;
    struct nic *nic = &hosts->nics[port];
    return !nic->paused && pull_from(nic, p, now);
}

static ps_t next_pull(void *ctx, uint32_t port, ps_t now)
{
    const struct hosts *hosts = ctx;
    struct nic *nic = &hosts->nics[port];
    return nic->paused ? PS_NEVER : nic_next_ps(nic, now);
}

// Replacements for pull() and next_pull() if several data classes are in use.
static bool shared_pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    (void)node;
    const struct hosts *hosts = ctx;
    uint32_t n = hosts->net->n_data;
    struct nic *nic = nic_share_turn(&hosts->nics[port * n], n, now);
    if (!nic || !pull_from(nic, p, now))
        return false;
    nic->credit_bytes -= p->wire_bytes;
    return true;
}

static ps_t shared_next_pull(void *ctx, uint32_t port, ps_t now)
{
    const struct hosts *hosts = ctx;
    uint32_t n = hosts->net->n_data;
    return nic_share_next_ps(&hosts->nics[port * n], n, now);
}

// Replacements for pull() and next_pull() if messages use the control class, which has priority
// over the data classes.
static bool control_pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now)
{
    (void)node;
    const struct hosts *hosts = ctx;
    uint32_t n = hosts->net->n_data;
    struct nic *nics = &hosts->nics[port * hosts->nics_per_port];
    if (!nics[n].paused && pull_from(&nics[n], p, now))
        return true;
    struct nic *nic = n > 1 ? nic_share_turn(nics, n, now) : nics;
    if (!nic || nic->paused || !pull_from(nic, p, now))
        return false;
    nic->credit_bytes -= n > 1 ? p->wire_bytes : 0;
    return true;
}

static ps_t control_next_pull(void *ctx, uint32_t port, ps_t now)
{
    const struct hosts *hosts = ctx;
    return nic_share_next_ps(&hosts->nics[port * hosts->nics_per_port], hosts->nics_per_port, now);
}

/* ---- PFC ---- */

static void pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    const struct hosts *hosts = ctx;
    if (cls >= NET_DATA_CLASSES && !(cls == NET_CLASS_CONTROL && hosts->pulls_control))
        return; // no message has the class
    struct nic *nic = hosts_nic(hosts, port, cls);
    nic->paused = paused;
    if (paused) {
        nic->paused_since_ps = now;
        return;
    }
    nic->paused_total_ps += now - nic->paused_since_ps;
    for (uint32_t i = 0; i < nic->n_parked; i++) {
        struct sender *s = nic->parked[i];
        if (s->nic == nic && s->rto_state == RTO_PARKED)
            sender_rto_resumed(s, now);
    }
    nic->n_parked = 0;
}

/* ---- memory hints ---- */

// Must be inlined, for the same reason as meta_prefetch().
__attribute__((always_inline)) static inline void prefetch_sender(const struct sender *s)
{
    for (size_t line = 0; line < sizeof *s + 64; line += 64) // the policy's state follows the
                                                             // sender
        __builtin_prefetch((const char *)s + line, 1);
}

// The state of a transport that follows the sender, or a receiver of several lines.
// `object` may be NULL.
__attribute__((noinline)) static void prefetch_lines(const void *object, uint32_t from,
                                                     uint32_t bytes)
{
    uintptr_t first = (uintptr_t)object + from;
    for (uint32_t line = 0; line < bytes; line += 64)
        __builtin_prefetch((const void *)(first + line), 1);
}

#define BEHIND_SENDER (sizeof(struct sender) + 64)

static uint32_t hint(void *ctx, uint32_t node, uint32_t local, struct packet *p)
{
    const struct hosts *hosts = ctx;
    meta_prefetch(&hosts->net->meta, p->meta);
    if (p->kind == PACKET_DATA)
        __builtin_prefetch(hosts->receivers[p->flow], 1);
    else
        prefetch_sender(hosts->senders[p->flow]);
    if (hosts->large_bytes > 0 && p->kind == PACKET_DATA)
        prefetch_lines(hosts->receivers[p->flow], 64, hosts->large_bytes);
    else if (hosts->large_bytes > 0)
        prefetch_lines(hosts->senders[p->flow], BEHIND_SENDER, hosts->large_bytes);
    return node_port(hosts->net, node, local);
}

// A NIC port is about to catch up: prefetch the sender that it will pull from.
static void hint_pull(void *ctx, uint32_t port)
{
    const struct hosts *hosts = ctx;
    const struct nic *nic = &hosts->nics[port * hosts->nics_per_port];
    const struct sender *next = nic->ready_head;
    if (next == NULL && nic->n_paced > 0)
        next = nic->paced[0];
    if (next != NULL)
        prefetch_sender(next);
    if (next != NULL && hosts->large_bytes > 0)
        prefetch_lines(next, BEHIND_SENDER, hosts->large_bytes);
}

/* ---- reports ---- */

uint32_t *hosts_flows_in_order(const struct hosts *hosts)
{
    uint32_t *order = memory_zeroed(hosts->flows.n, sizeof *order);
    if (hosts->flows.n == 0)
        return order;
    uint32_t n_ranks = hosts->net->n_ranks;
    uint32_t *first = memory_zeroed(n_ranks + 1, sizeof *first);
    for (uint32_t r = 0; r < n_ranks; r++)
        first[r + 1] = first[r] + hosts->n_opened[r];
    for (uint32_t flow = 0; flow < hosts->flows.n; flow++) {
        const struct flow_id *id = &hosts->flows.ids[flow];
        order[first[id->src] + id->number] = flow;
    }
    free(first);
    return order;
}

/* ---- life ---- */

void hosts_prepare(struct hosts *hosts)
{
    for (uint32_t d = 0; d < hosts->n_dims; d++) {
        hosts->dims[d].hosts = hosts;
        hosts->dims[d].ops->prepare(&hosts->dims[d]);
        uint32_t more = (uint32_t)hosts->dims[d].ops->sender_bytes;
        hosts->large_bytes = more > hosts->large_bytes ? more : hosts->large_bytes;
        bool admits = hosts->dims[d].spec.admission != ADMISSION_NONE;
        hosts->dims[d].uses_control_class |= admits;
        hosts->pulls_control |= admits;
    }
}

void hosts_init(struct hosts *hosts, struct network *net)
{
    hosts->net = net;
    hosts->no_time = slab_alloc(&hosts->times, sizeof *hosts->no_time);
    hosts_flows_init(hosts);
    uint32_t n_ports = net->first_port[net->n_ranks];
    hosts->nics_per_port = net->n_data + hosts->pulls_control;
    hosts->n_nics = n_ports * hosts->nics_per_port;
    hosts->nics = memory_zeroed_lines(hosts->n_nics, sizeof *hosts->nics);
    for (uint32_t p = 0; p < n_ports; p++) {
        net->ports[p].flags |= PORT_PULLS;
        for (uint32_t i = 0; i < net->n_data; i++)
            hosts->nics[p * hosts->nics_per_port + i].quantum_bytes =
                port_queue(net, p, net->data_slot + i)->quantum_bytes;
    }
    hosts->n_opened = memory_zeroed(net->n_ranks, sizeof *hosts->n_opened);
    hosts->n_named = memory_zeroed(net->n_ranks, sizeof *hosts->n_named);
    hosts->pairs = memory_zeroed(1, sizeof *hosts->pairs);
    hosts->envs = memory_zeroed(1, sizeof *hosts->envs);
    message_pool_init(&hosts->messages);
    for (uint32_t d = 0; d < hosts->n_dims; d++)
        if (hosts->dims[d].ops->open_dim)
            hosts->dims[d].ops->open_dim(&hosts->dims[d]);
    bool shared = net->n_data > 1, control = hosts->pulls_control;
    net->ops[NET_RANK] = (struct node_ops){.arrive = arrive,
                                           .pull = control  ? control_pull
                                                   : shared ? shared_pull
                                                            : pull,
                                           .next_pull = control  ? control_next_pull
                                                        : shared ? shared_next_pull
                                                                 : next_pull,
                                           .pause_changed = pause_changed,
                                           .hint = hint,
                                           .hint_pull = hint_pull,
                                           .ctx = hosts};
}

static void flow_free(const struct hosts *hosts, uint32_t flow)
{
    struct sender *s = hosts->senders[flow];
    struct receiver *r = hosts->receivers[flow];
    const struct transport_ops *ops = s->dim->ops;
    if (r && ops->close_receiver)
        ops->close_receiver(r);
    if (ops->close_sender)
        ops->close_sender(s);
    free(s->cold.own);
    free(s->cold.rare);
}

// Free the receivers of flows that other processes have opened.
static void foreign_receivers_free(const struct hosts *hosts)
{
    const struct passage *passage =
        hosts->net && hosts->net->shards ? hosts->net->shards->passage : NULL;
    for (uint32_t q = 0; passage && q < passage->n; q++)
        for (uint32_t flow = q * passage->flows_per_process; flow < passage->seen[q]; flow++) {
            struct receiver *r = hosts->receivers[flow];
            if (r && r->dim->ops->close_receiver)
                r->dim->ops->close_receiver(r);
        }
}

void hosts_free(struct hosts *hosts)
{
    foreign_receivers_free(hosts);
    for (uint32_t flow = hosts->flows.first; flow < hosts->flows.n; flow++)
        flow_free(hosts, flow);
    for (uint32_t d = 0; d < hosts->n_dims; d++) {
        struct transport_dim *dim = &hosts->dims[d];
        if (dim->ops->close_dim)
            dim->ops->close_dim(dim);
        slab_free(&dim->senders);
        slab_free(&dim->receivers);
    }
    slab_free(&hosts->times);
    for (uint32_t p = 0; p < hosts->n_nics; p++)
        nic_free(&hosts->nics[p]);
    adapters_free(hosts);
    stack_free(hosts);
    if (hosts->pairs)
        pairs_free(hosts->pairs);
    free(hosts->pairs);
    if (hosts->envs)
        cc_envs_free(hosts->envs);
    free(hosts->envs);
    free(hosts->dims);
    hosts_flows_free(hosts);
    free(hosts->nics);
    free(hosts->n_opened);
    free(hosts->n_named);
    message_pool_free(&hosts->messages);
    *hosts = (struct hosts){0};
}
