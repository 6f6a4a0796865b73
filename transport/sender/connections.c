// SPDX-License-Identifier: MIT
// The choice of a message's flow. Flows of a pair are opened when first needed, and reused.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "transport/host.h"
#include "transport/sender/envs.h"
#include "transport/sender/pairs.h"

// A sender is followed by the transport's state and by that of its policy, each on cache lines of
// their own.
static size_t cc_offset(const struct transport_dim *dim)
{
    return sizeof(struct sender) + (dim->ops->sender_bytes + 63) / 64 * 64;
}

static size_t sender_bytes(const struct transport_dim *dim)
{
    return cc_offset(dim) + cc_bytes(dim->cc);
}

size_t hosts_flow_bytes(const struct transport_dim *dim)
{
    return sender_bytes(dim) + sizeof(struct sender_time) + dim->ops->receiver_bytes +
           sizeof(struct flow_id) + 2 * sizeof(void *);
}

// Returns the key of a pair's first connection for a channel in a dimension; the keys of its other
// connections follow.
static uint64_t pair_channel(uint32_t channel, uint32_t dim)
{
    return (uint64_t)dim << 40 | (uint64_t)channel << 8;
}

// Enlarge the tables where address space is limited (ulimit -v). They may move as long as the hosts
// are not divided into shards.
static void flows_extend(struct hosts *hosts)
{
    struct flow_ids *flows = &hosts->flows;
    if (flows->cap == HOSTS_FLOWS_MAX || hosts->net->shards)
        memory_exhausted(flows->n, sizeof *flows->ids);
    flows->cap = 2 * flows->cap < HOSTS_FLOWS_MAX ? 2 * flows->cap : HOSTS_FLOWS_MAX;
    size_t *bytes = hosts->reserved_bytes, n = flows->cap;
    hosts->senders = memory_extend(hosts->senders, &bytes[0], n * sizeof *hosts->senders);
    hosts->receivers = memory_extend(hosts->receivers, &bytes[1], n * sizeof *hosts->receivers);
    flows->ids = memory_extend(flows->ids, &bytes[2], n * sizeof *flows->ids);
}

static uint32_t new_flow(struct hosts *hosts)
{
    struct flow_ids *flows = &hosts->whole->flows;
    if (flows->n == flows->cap)
        flows_extend(hosts->whole);
    return flows->n++;
}

static void *reserve(size_t *bytes, size_t size, uint32_t *cap)
{
    *bytes = HOSTS_FLOWS_MAX * size;
    void *table = memory_reserve(bytes);
    *cap = *bytes / size < *cap ? (uint32_t)(*bytes / size) : *cap;
    return table;
}

void hosts_flows_init(struct hosts *hosts)
{
    uint32_t *cap = &hosts->flows.cap;
    *cap = HOSTS_FLOWS_MAX;
    hosts->senders = reserve(&hosts->reserved_bytes[0], sizeof *hosts->senders, cap);
    hosts->receivers = reserve(&hosts->reserved_bytes[1], sizeof *hosts->receivers, cap);
    hosts->flows.ids = reserve(&hosts->reserved_bytes[2], sizeof *hosts->flows.ids, cap);
    hosts->whole = hosts;
}

void hosts_flows_free(struct hosts *hosts)
{
    memory_release(hosts->senders, hosts->reserved_bytes[0]);
    memory_release(hosts->receivers, hosts->reserved_bytes[1]);
    memory_release(hosts->flows.ids, hosts->reserved_bytes[2]);
}

static void name_connection(struct hosts *hosts, struct sender *s)
{
    s->path = 0;
    s->path_due = false;
    s->dim->ops->name_connection(s, hosts->n_named[sender_id(s)->src]++);
    if (hosts->net->shards && hosts->net->shards->passage)
        passage_forget(hosts->net->shards->passage, s->flow);
}

static void choose_port(struct sender *s, const struct transport_path *path)
{
    struct network *net = sender_hosts(s)->net;
    struct sender_cold *cold = &s->cold;
    uint32_t local =
        path->n_ports > 0 ? path->ports[cold->path_turn % path->n_ports] : path->shared_port;
    s->port = node_port(net, sender_id(s)->src_node, local);
    s->nic = hosts_nic(sender_hosts(s), s->port, s->cls);
    cold->cut_off = path->cut_off;
}

#define NAMES_MOST 256 // of a part of a message, until its packets arrive where they should

// Each part of a message has a port of the receiver, as NICs of a rank have addresses of their own,
// which a rank has not here: its source port is one with which switches choose that way.
static void name_part(struct hosts *hosts, struct sender *s)
{
    const struct host_paths *paths = &hosts->paths;
    for (unsigned i = 0; i < NAMES_MOST && s->cold.stripe > 0 &&
                         !paths->arrives(paths->ctx, sender_id(s), s->port, s->entropy);
         i++)
        name_connection(hosts, s);
}

// Choose the port again, because failed links may have been repaired. Called with the
// retransmission timer off, before the packets lost on the failed link are retransmitted.
void hosts_try_other_port(struct hosts *hosts, struct sender *s, ps_t now)
{
    const struct host_paths *paths = &hosts->paths;
    const struct flow_id *id = sender_id(s);
    struct transport_path path =
        paths->path(paths->ctx, id->src, id->dst, id->dim, id->transport, s->cold.stripe);
    if (path.cut_off)
        return;
    if (s->place != SENDER_IDLE)
        nic_remove(s->nic, s);
    choose_port(s, &path);
    port_catch_up_before(sender_hosts(s)->net, s->port, now); // it has sent that without the sender
    s->time->paused_mark_ps = s->nic->paused_total_ps;
}

// True if a packet that leaves by the sender's port can reach the destination.
static bool port_leads(const struct sender *s, const struct transport_path *path)
{
    const struct network *net = sender_hosts(s)->net;
    uint32_t node = sender_id(s)->src_node;
    bool leads = path->n_ports == 0 && s->port == node_port(net, node, path->shared_port);
    for (uint32_t i = 0; i < path->n_ports; i++)
        leads |= s->port == node_port(net, node, path->ports[i]);
    return leads;
}

// Choose the port of a sender again after a change of routes. A sender that has left its own port
// may return to it even with packets in flight.
static void choose_again(struct hosts *hosts, struct sender *s, ps_t now)
{
    sender_catch_up(s, now);
    bool armed = s->rto_state != RTO_OFF;
    ps_t left = armed ? s->rto_due_ps - nic_active_ps(s->nic, now) : 0;
    sender_rto_stop(s);
    hosts_try_other_port(hosts, s, now);
    if (armed)
        sender_rto_restart(s, left > 0 ? left : 0, now);
    sender_wake(s, now);
}

static void reroute(struct hosts *hosts, struct sender *s, ps_t now)
{
    const struct host_paths *paths = &hosts->paths;
    const struct flow_id *id = sender_id(s);
    struct transport_path path =
        paths->path(paths->ctx, id->src, id->dst, id->dim, id->transport, 0);
    s->cold.rechoose = true;
    if (path.cut_off || s->failed)
        return;
    if (port_leads(s, &path)) {
        if (s->cold.moved)
            choose_again(hosts, s, now);
        return;
    }
    hosts->counters.moved++;
    s->cold.moved = true;
    sender_catch_up(s, now);
    sender_rto_stop(s);
    hosts_try_other_port(hosts, s, now);
    sender_begin(s);
    if (s->oldest != MESSAGE_NIL && s->una < s->max) {
        if (s->dim->ops->on_path_lost)
            s->dim->ops->on_path_lost(s, now);
        else
            s->dim->ops->on_timeout(s, now);
    }
    sender_end(s, now);
}

void hosts_reroute(struct hosts *hosts, ps_t now)
{
    for (uint32_t flow = hosts->flows.first; flow < hosts->flows.n; flow++)
        reroute(hosts, hosts->senders[flow], now);
    if (hosts->quiet.rerouted)
        hosts->quiet.rerouted(hosts->quiet.ctx, now);
}

struct cc_env transport_path_env(const struct hosts *hosts, const struct transport_dim *dim,
                                 const struct transport_path *path)
{
    return (struct cc_env){.line_bps = path->line_bps,
                           .base_rtt_ps = path->base_rtt_ps,
                           .global_rtt_ps = dim->global_rtt_ps,
                           .mtu_bytes = dim->mtu_bytes,
                           .full_wire_bytes = dim->full.wire,
                           .ack_packets = dim->packets_per_ack,
                           .hops = path->hops,
                           .initial_window_bytes = dim->initial_window_bytes,
                           .trims = dim->trimmed,
                           .helpers = &cc_helpers,
                           .watch = hosts->cc_watch};
}

// Flows with equal descriptions of their paths share one copy.
static const struct cc_env *env_of(const struct hosts *hosts, const struct transport_dim *dim,
                                   const struct transport_path *path)
{
    const struct cc_env env = transport_path_env(hosts, dim, path);
    return cc_envs_keep(hosts->envs, &env);
}

struct sender *hosts_new_sender(struct hosts *hosts, uint32_t d, uint32_t transport)
{
    struct transport_dim *dim = hosts_dim(hosts, d, transport);
    uint32_t flow = new_flow(hosts);
    struct sender *s = hosts->senders[flow] = slab_alloc(&dim->senders, sender_bytes(dim));
    s->flow = flow;
    s->dim = dim;
    s->time = hosts->no_time;
    s->cc = (struct cc *)(void *)((char *)s + cc_offset(dim));
    s->sending = s->oldest = s->cold.newest = MESSAGE_NIL;
    return s;
}

// Open a flow. Its number and its description are in tables that all shards share.
static struct sender *open_flow(struct hosts *hosts, const struct transfer_request *request,
                                uint32_t d, ps_t now)
{
    engine_lock(hosts->net->engine);
    struct transport_dim *dim = hosts_dim(hosts, d, request->transport);
    const struct host_paths *paths = &hosts->paths;
    struct transport_path path =
        paths->path(paths->ctx, request->src, request->dst, d, request->transport, request->stripe);
    struct sender *s = hosts_new_sender(hosts, d, request->transport);
    uint32_t flow = s->flow;
    s->dst_node = path.dst_node;
    uint64_t cls = dim->spec.cls != PARAM_AUTO ? dim->spec.cls : request->cls;
    s->cls = (request->control ? NET_CLASS_CONTROL : (unsigned)cls) & 7;
    s->until_ackreq = dim->packets_per_ack;
    s->cold = (struct sender_cold){.channel = request->channel,
                                   .newest = MESSAGE_NIL,
                                   .stripe = (uint8_t)request->stripe,
                                   .next_idle = FLOW_NIL,
                                   .cap_bytes = CC_UNLIMITED,
                                   .pace_cap_bps = UINT64_MAX};
    hosts->flows.ids[flow] = (struct flow_id){.frames = dim->ops->frames,
                                              .src = request->src,
                                              .dst = request->dst,
                                              .src_node = path.src_node,
                                              .dst_node = path.dst_node,
                                              .number = hosts->n_opened[request->src]++,
                                              .job = (uint16_t)request->job,
                                              .channel = request->channel,
                                              .joined = request->joined,
                                              .immediate = request->immediate,
                                              .dim = (uint16_t)d,
                                              .transport = (uint8_t)request->transport,
                                              .cls = (uint8_t)s->cls,
                                              .int_bytes = (uint16_t)dim->spec.int_bytes};
    sender_init_timers(s);
    s->cc->env = env_of(hosts, dim, &path);
    dim->ops->open_sender(s, &path);
    name_connection(hosts, s);
    s->cold.path_turn = s->entropy;
    choose_port(s, &path);
    name_part(hosts, s);
    sender_restart(s, now);
    engine_unlock(hosts->net->engine);
    return s;
}

struct receiver *hosts_open_receiver(struct hosts *hosts, uint32_t flow)
{
    const struct flow_id *id = &hosts->flows.ids[flow];
    struct transport_dim *dim = hosts_dim(hosts, id->dim, id->transport);
    struct receiver *r = slab_alloc(&dim->receivers, dim->ops->receiver_bytes);
    r->dim = dim;
    r->flow = flow;
    dim->ops->open_receiver(r);
    return hosts->receivers[flow] = r;
}

// Open a fresh connection on the memory of an idle one of the pair. Sequence numbers continue, so
// that late packets of the old connection are recognised as old.
static struct sender *reopen(struct hosts *hosts, struct pair *pair, ps_t now)
{
    struct sender *s = hosts->senders[pair->flow];
    pair->flow = s->cold.next_idle;
    engine_lock(hosts->net->engine);
    if (hosts->net->tap.seen) // captured packets that are still to be computed need the old name
        network_catch_up_before(hosts->net, now);
    name_connection(hosts, s);
    name_part(hosts, s);
    sender_restart(s, now);
    engine_unlock(hosts->net->engine);
    return s;
}

struct sender *hosts_connection_for(struct hosts *hosts, const struct transfer_request *r, ps_t now)
{
    uint32_t d = hosts->paths.joining_dim(hosts->paths.ctx, r);
    SIM_ASSERT(hosts->net->engine, r->src, d != UINT32_MAX); // config has checked every pair
    const struct transport_dim *dim = hosts_dim(hosts, d, r->transport);
    if (r->own_connection)
        return open_flow(hosts, r, d, now);
    uint64_t channel = pair_channel(r->channel, d);
    struct pair *pair = pairs_get(hosts->pairs, r->src, r->dst, r->job, channel);
    if (dim->fresh_connections)
        return pair->flow == FLOW_NIL ? open_flow(hosts, r, d, now) : reopen(hosts, pair, now);
    uint32_t turn = pair->turn++ % dim->connections_per_pair;
    if (turn > 0)
        pair = pairs_get(hosts->pairs, r->src, r->dst, r->job, channel | turn);
    if (pair->flow != FLOW_NIL)
        return hosts->senders[pair->flow];
    struct sender *s = open_flow(hosts, r, d, now);
    pair->flow = s->flow;
    return s;
}

struct sender *hosts_opposite(struct hosts *hosts, uint32_t flow)
{
    const struct flow_id *id = &hosts->flows.ids[flow];
    const struct transfer_request request = {.src = id->dst,
                                             .dst = id->src,
                                             .job = id->job,
                                             .channel = id->channel,
                                             .cls = id->cls,
                                             .transport = id->transport,
                                             .joined = id->joined,
                                             .control = id->cls == NET_CLASS_CONTROL};
    hosts_begin_call(hosts); // of the pairs
    struct pair *pair = pairs_get(hosts->pairs, request.src, request.dst, request.job,
                                  pair_channel(request.channel, id->dim));
    if (pair->flow == FLOW_NIL) {
        struct sender *s = open_flow(hosts, &request, id->dim, hosts->net->engine->now_ps);
        pair->flow = s->flow;
    }
    struct sender *s = hosts->senders[pair->flow];
    hosts_end_call(hosts);
    return s;
}

const struct sender *hosts_only_connection(const struct hosts *hosts,
                                           const struct transfer_request *r)
{
    uint32_t d = hosts->paths.joining_dim(hosts->paths.ctx, r);
    if (d == UINT32_MAX)
        return NULL;
    const struct transport_dim *dim = hosts_dim(hosts, d, r->transport);
    if (r->own_connection || dim->fresh_connections || dim->connections_per_pair > 1)
        return NULL;
    const struct pair *pair =
        pairs_find(hosts->pairs, r->src, r->dst, r->job, pair_channel(r->channel, d));
    return pair && pair->flow != FLOW_NIL ? hosts->senders[pair->flow] : NULL;
}

void hosts_connection_idle(struct hosts *hosts, struct sender *s)
{
    if (!s->dim->fresh_connections)
        return;
    sender_stop_policy(s);
    const struct flow_id *id = sender_id(s);
    hosts_begin_call(hosts); // of the pairs
    struct pair *pair =
        pairs_get(hosts->pairs, id->src, id->dst, id->job, pair_channel(s->cold.channel, id->dim));
    s->cold.next_idle = pair->flow;
    pair->flow = s->flow;
    hosts_end_call(hosts);
}
