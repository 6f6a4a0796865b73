// SPDX-License-Identifier: MIT
// The life of a connection at the sender: names, handshake, close, failure (RFC 9293).
//
// A pooled connection is opened by its first message and stays open. With a connection per message
// both sides close when the message is complete: the receiver once it has all bytes, the sender
// once all are acknowledged, so their FINs usually cross. A connection that is established before
// the run has neither handshake nor close. The memory of a closed connection is used again when no
// packet of it can be left in the network.
#include "transport/tcp/tcp.h"

#include <stdio.h>

#include "engine/base/rng.h"
#include "net/wire/ip.h"

enum {
    FIRST_PORT = 32768, // Linux: net.ipv4.ip_local_port_range
    PORTS = 28232,
    SERVER_PORT = 5001,
};

static uint8_t window_scale(uint64_t bytes)
{
    uint8_t scale = 0;
    while (bytes >> scale > TCP_FIELD_MAX && scale < TCP_SCALE_MAX)
        scale++;
    return scale;
}

// The receive window: as configured, else enough for twice the bandwidth-delay product and at least
// 6 MB, Linux's limit of autotuning (net.ipv4.tcp_rmem).
static uint64_t receive_window(const struct transport_dim *dim, const struct cc_env *env)
{
    uint64_t bytes = tcp_spec_const(&dim->spec)->window_bytes, bdp = cc_bdp_bytes(env);
    if (bytes == PARAM_AUTO)
        bytes = 2 * bdp > TCP_WINDOW_AUTO ? 2 * bdp : TCP_WINDOW_AUTO;
    uint64_t max = (uint64_t)TCP_FIELD_MAX << TCP_SCALE_MAX;
    bytes = bytes < max ? bytes : max;
    uint64_t mss = dim->mtu_bytes; // full segments can fill it exactly, and one always fits
    bytes = bytes < mss ? mss : bytes - bytes % mss;
    uint8_t scale = window_scale(bytes);
    return bytes >> scale << scale;
}

uint64_t tcp_receive_window(const struct transport_dim *dim, const struct transport_path *path)
{
    const struct cc_env env = transport_path_env(dim->hosts, dim, path);
    return receive_window(dim, &env);
}

static void add_auto(struct transport_auto *out, size_t *n, const char *key, const char *text)
{
    out[*n].key = key;
    snprintf(out[(*n)++].text, sizeof out->text, "%s", text);
}

size_t tcp_autos(const struct transport_dim *dim, const struct transport_path *path,
                 struct transport_auto *out)
{
    const struct tcp_spec *spec = tcp_spec_const(&dim->spec);
    char bytes[UNIT_TEXT];
    size_t n = 0;
    if (spec->window_bytes == PARAM_AUTO)
        add_auto(out, &n, "receive_window", human_bytes(tcp_receive_window(dim, path), bytes));
    if (spec->send_buffer_bytes == PARAM_AUTO)
        add_auto(out, &n, "send_buffer", "twice the congestion window");
    if (spec->connections == TCP_CONNECTIONS_AUTO)
        add_auto(out, &n, "connections",
                 "established for collectives and programs, pooled for flows");
    if (spec->ecn == TCP_ECN_AUTO)
        add_auto(out, &n, "ecn", spec->ect ? "on" : "off");
    if (spec->read_stop_ps == PARAM_AUTO_TIME)
        add_auto(out, &n, "read_stop", "never");
    return n;
}

// Reset the TCP state for a new connection. Segment and byte numbers continue from the earlier
// connection that used this memory, so the receiver needs no notice of a new origin.
static void connection_reset(struct sender *s, uint32_t count)
{
    struct tcp_sender *t = tcp_of(s);
    const struct tcp_spec *spec = tcp_sender_spec(s);
    struct tcp_segments segs = t->segs;
    ps_t linger_ps = t->linger_ps, shortest_ps = t->shortest_timer_ps;
    bool writes = t->writes;
    segs = (struct tcp_segments){.ring = segs.ring, .mask = segs.mask, .retx_from = s->una};
    *t = (struct tcp_sender){
        .segs = segs,
        .connection = (uint8_t)count,
        .base_byte = s->una_bytes,
        .edge = s->una_bytes,
        .ssthresh = UINT32_MAX,
        .cwnd = 1,
        .entering = MESSAGE_NIL,
        .usage_end = s->una,
        .min_rtt_ps = PS_NEVER,
        .rto_ps = spec->rto_initial_ps,
        .reo_steps = 1,
        .burst = (uint32_t)(spec->offload_bytes / s->dim->mtu_bytes),
        .linger_ps = linger_ps,
        .shortest_timer_ps = shortest_ps,
        .writes = writes,
    };
    sender_progress(s);
}

// The connection is open before the run, and no data has been sent: what the handshake would have
// left.
static void establish(struct sender *s, const struct flow_id *id)
{
    struct tcp_sender *t = tcp_of(s);
    uint32_t window = id->window_bytes < TCP_FIELD_MAX ? id->window_bytes : TCP_FIELD_MAX;
    t->phase = TCP_ESTABLISHED;
    t->edge = t->base_byte + window; // the window of a SYN is not scaled
    t->last_ack = (uint32_t)t->base_byte;
    t->last_window_bytes = window;
    tcp_rtt_sample(s, sender_env(s)->base_rtt_ps);
}

// Both directions of a duplex connection have the same name, which each end makes by itself: the
// rank with the smaller number has the ephemeral port.
static void name_ports(struct flow_id *id, uint32_t count)
{
    bool first = id->src < id->dst;
    if (id->duplex) {
        uint32_t low = first ? id->src : id->dst, high = first ? id->dst : id->src;
        count = (uint32_t)(address_hash(low, high) % PORTS) + 64u * id->job + id->channel;
    }
    uint16_t client = (uint16_t)(FIRST_PORT + count % PORTS),
             server = (uint16_t)(SERVER_PORT + count / PORTS);
    id->src_conn = id->dst_conn = count;
    id->src_port = id->duplex && !first ? server : client;
    id->dst_port = id->duplex && !first ? client : server;
}

void tcp_name_connection(struct sender *s, uint32_t count)
{
    const struct transport_dim *dim = s->dim;
    const struct tcp_spec *spec = tcp_sender_spec(s);
    struct flow_id *id = &dim->hosts->flows.ids[s->flow];
    id->established = spec->connections == TCP_CONNECTED ||
                      (spec->connections == TCP_CONNECTIONS_AUTO && id->joined);
    id->duplex = spec->duplex && id->established;
    name_ports(id, count);
    id->data_dscp = id->ack_dscp = id->cnp_dscp = dscp_of_class(id->cls);
    id->window_bytes = (uint32_t)receive_window(dim, sender_env(s));
    id->window_scale = window_scale(id->window_bytes);
    id->mss_bytes = (uint16_t)dim->mtu_bytes;
    id->sack = spec->sack;
    id->timestamps = spec->timestamps;
    id->ecn = spec->ect;
    uint32_t ports = (uint32_t)id->src_port << 16 | id->dst_port;
    id->entropy = s->entropy = header_entropy(id->src, id->dst, ports, 0);
    id->back_entropy = header_entropy(id->dst, id->src, ports << 16 | ports >> 16, 0);
    connection_reset(s, id->src_conn);
    if (id->established)
        establish(s, id);
    tcp_counters(s)->connections++;
}

void tcp_open_sender(struct sender *s, const struct transport_path *path)
{
    const struct cc_env *env = sender_env(s);
    tcp_of(s)->linger_ps = env->base_rtt_ps + path->queueing_ps;
    tcp_of(s)->shortest_timer_ps = s->dim->ops->shortest_timer_ps(&s->dim->spec, env->base_rtt_ps);
    s->ackreq_end = UINT64_MAX; // ACKs need no request
    tcp_writer_open(s);
}

void tcp_close_sender(struct sender *s) { segments_free(&tcp_of(s)->segs); }

/* ---- packets without payload ---- */

void tcp_send_control(struct sender *s, uint8_t control, uint64_t byte, ps_t now)
{
    const struct transport_dim *dim = s->dim;
    const struct tcp_sender *t = tcp_of(s);
    struct network *net = dim->hosts->net;
    struct packet_sizes size =
        control & TCP_SYN ? tcp_syn_sizes(&dim->spec) : tcp_ack_sizes(&dim->spec, 0);
    struct packet p = {.flow = s->flow,
                       .dst = s->dst_node,
                       .entropy = s->entropy,
                       .meta = meta_alloc(&net->meta),
                       .frame_bytes = (uint16_t)size.frame,
                       .wire_bytes = (uint16_t)size.wire,
                       .kind = PACKET_DATA,
                       .ingress = PACKET_OWN,
                       .cls = s->cls,
                       .arrives_ps = now};
    uint8_t after = t->peer_closed ? TCP_AFTER_FIN : 0;
    *meta_at(&net->meta, p.meta) = (struct packet_meta){.sent_ps = now,
                                                        .seq = (uint32_t)byte,
                                                        .clock_ms = t->peer_clock_ms,
                                                        .tcp_control = control | after,
                                                        .connection = t->connection};
    port_enqueue(net, s->port, &p, now);
}

/* ---- opening ---- */

static void send_syn(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    t->phase = TCP_SYN_SENT;
    t->control_ps = now;
    tcp_send_control(s, TCP_SYN, t->base_byte - 1, now);
    tcp_arm(s, TCP_TIMER_RTO, tcp_rto_ps(s), now);
}

void tcp_on_post(struct sender *s, ps_t now)
{
    if (tcp_of(s)->phase == TCP_CLOSED)
        send_syn(s, now);
    else if (tcp_of(s)->phase == TCP_ESTABLISHED)
        tcp_arm_for_window(s, now);
    tcp_buffer_post(s, now);
    tcp_update(s, now);
}

static void on_syn_ack(struct sender *s, const struct packet_meta *meta, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    t->peer_clock_ms = meta->clock_ms;
    t->last_ack = meta->seq;
    t->last_window_bytes = meta->window_bytes;
    if (t->phase == TCP_SYN_SENT) {
        t->phase = TCP_ESTABLISHED;
        t->edge = t->base_byte + meta->window_bytes;
        t->backoff = 0;
        sender_rto_stop(s);
        if (s->retries == 0) {
            t->min_rtt_ps = now - t->control_ps;
            tcp_rtt_sample(s, t->min_rtt_ps);
        }
        sender_progress(s);
        tcp_arm_for_window(s, now);
    }
    tcp_send_control(s, 0, s->nxt_bytes, now);
}

/* ---- closing ---- */

static void send_fin(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    tcp_send_control(s, TCP_FIN, s->una_bytes, now);
    t->phase = TCP_FIN_SENT;
    tcp_arm(s, TCP_TIMER_RTO, tcp_rto_ps(s), now);
}

void tcp_finish(struct sender *s, ps_t now)
{
    if (s->dim->fresh_connections)
        send_fin(s, now);
}

// Both FINs are acknowledged: keep the connection until its last packets have left the network.
static void wait_if_closed(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->phase != TCP_FIN_SENT || !t->fin_acked || !t->peer_closed)
        return;
    t->phase = TCP_TIME_WAIT;
    sender_rto_restart(s, t->linger_ps, now);
}

bool tcp_on_control(struct sender *s, const struct packet_meta *meta, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (meta->tcp_control & TCP_SYN) {
        on_syn_ack(s, meta, now);
        return false;
    }
    if (t->phase < TCP_FIN_SENT)
        return t->phase == TCP_ESTABLISHED;
    t->fin_acked |= meta->seq == (uint32_t)(s->una_bytes + 1);
    wait_if_closed(s, now);
    return false;
}

void tcp_on_peer_fin(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    t->peer_closed = true;
    tcp_send_control(s, 0, s->nxt_bytes + (t->phase != TCP_ESTABLISHED), now);
    wait_if_closed(s, now);
}

/* ---- timeouts and failure ---- */

static void end(struct sender *s)
{
    tcp_of(s)->phase = TCP_CLOSED;
    hosts_connection_idle(sender_hosts(s), s);
}

void tcp_connection_timeout(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    const struct tcp_spec *spec = tcp_sender_spec(s);
    if (t->phase == TCP_TIME_WAIT) {
        end(s);
        return;
    }
    sender_count_timeout(s);
    tcp_counters(s)->timeouts++;
    bool opening = t->phase == TCP_SYN_SENT;
    t->backoff++;
    if (sender_retry(s) < (opening ? spec->syn_retries : spec->retries)) {
        if (opening)
            send_syn(s, now);
        else
            send_fin(s, now);
    } else if (opening) {
        sender_fail(s, now);
    } else {
        end(s);
    }
}

void tcp_on_failed(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->phase == TCP_CLOSED)
        return;
    tcp_send_control(s, TCP_RST, s->nxt_bytes, now);
    tcp_counters(s)->resets++;
    t->phase = TCP_CLOSED;
    t->entering = MESSAGE_NIL;
    segments_free(&t->segs);
}
