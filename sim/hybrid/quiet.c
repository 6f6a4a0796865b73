// SPDX-License-Identifier: MIT
// Messages in closed form: their ends, and their share of the counters.
#include "sim/hybrid/quiet.h"

#include <stdlib.h>

#include "engine/base/memory.h"

static const struct sender *sender_of(const struct quiet_message *m)
{
    return hybrid_hosts(m->hybrid)->senders[m->flow];
}

/* ---- counters ---- */

static void count(const struct hybrid *h, uint32_t port, uint64_t packets, uint64_t bytes)
{
    hybrid_net(h)->ports[port].tx_packets += packets;
    hybrid_net(h)->ports[port].tx_bytes += bytes;
}

void quiet_count_data(struct hybrid *h, const struct quiet_connection *c,
                      const struct ideal_wire *w, uint64_t packets)
{
    for (uint32_t i = 0; i < c->out.n; i++)
        count(h, c->out.ports[i], packets, train_bytes(w, packets));
}

void quiet_count_acks(struct hybrid *h, const struct quiet_connection *c, const struct sender *s,
                      const struct ideal_wire *w, uint64_t packets)
{
    uint32_t each = s->dim->packets_per_ack;
    uint64_t acks = packets == w->packets ? (packets + each - 1) / each : packets / each;
    for (uint32_t i = 0; i < c->in.n; i++)
        count(h, c->in.ports[i], acks, acks * s->dim->ack.wire);
}

// The number of packets that a hop has sent completely, of those of a train that began at begin_ps.
static uint64_t sent_by(const struct quiet_connection *c, const struct ideal_wire *w,
                        double begin_ps, uint32_t hop, double now_ps)
{
    double byte_ps = train_at_hop(c->out.hops, w, hop, &begin_ps);
    uint64_t n = train_started(w, begin_ps, byte_ps, now_ps);
    return n > 0 && begin_ps + (double)train_bytes(w, n) * byte_ps > now_ps ? n - 1 : n;
}

void quiet_count_running(struct hybrid *h, const struct quiet_connection *c,
                         const struct ideal_wire *w, double begin_ps, uint64_t most)
{
    double now = (double)hybrid_net(h)->engine->now_ps;
    for (uint32_t i = 0; i < c->out.n; i++) {
        uint64_t packets = sent_by(c, w, begin_ps, i, now);
        packets = packets < most ? packets : most;
        count(h, c->out.ports[i], packets, train_bytes(w, packets));
    }
}

/* ---- critical paths ---- */

// The account of a sender at the start of a message's last packet (sender_time.h).
static struct sender_account account_of(const struct quiet_message *m)
{
    const struct sender *s = sender_of(m);
    const struct network *net = hybrid_net(m->hybrid);
    uint32_t last = m->wire.packets > 1 ? m->wire.last : m->wire.first;
    struct sender_account a = {.path = m->path,
                               .flow = m->flow,
                               .marked = m->mark_ps > 0,
                               .byte_time = port_link(net, s->port)->byte_time,
                               .transit_ps = sender_env(s)->base_rtt_ps / 2};
    a.now.at_ps = m->begin_ps;
    a.now.sent_bytes = m->before_bytes + m->wire.total - last;
    a.mark.at_ps = m->mark_ps;
    a.mark.sent_bytes = m->before_bytes;
    if (m->is_rest) { // with the waits of its packets
        uint64_t sent = a.now.sent_bytes;
        a = m->hybrid->connections[m->flow]->long_message->account;
        a.path = m->path;
        a.now.sent_bytes = sent;
    }
    return a;
}

/* ---- ends ---- */

void quiet_give(struct hybrid *h, struct quiet_message *m)
{
    m->next = h->free;
    h->free = m;
    h->n_quiet--;
    hybrid_hosts(h)->n_running--;
}

static void end_oldest(struct hybrid *h, struct quiet_connection *c)
{
    struct quiet_message *m = c->oldest;
    c->oldest = m->next;
    if (!c->oldest)
        c->newest = NULL;
    quiet_give(h, m);
}

struct message_end quiet_end(const struct quiet_message *m, bool done)
{
    const struct flow_id *id = sender_id(sender_of(m));
    return (struct message_end){.message = {.bytes = m->request.bytes,
                                            .token = m->request.token,
                                            .packets = (uint32_t)m->wire.packets,
                                            .status = done ? MESSAGE_DONE : MESSAGE_RUNNING},
                                .delivered_bytes = m->delivered ? m->request.bytes : 0,
                                .flow = m->flow,
                                .dim = id->dim,
                                .transport = id->transport};
}

static void on_back(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct quiet_message *m = timer->data;
    struct hybrid *h = m->hybrid;
    struct quiet_connection *c = h->connections[m->flow];
    if (c->oldest->is_rest && c->returned) { // packets before it have been lost
        sim_timer_start(e, timer, e->now_ps + sender_env(sender_of(m))->base_rtt_ps);
        return;
    }
    struct message_end end = quiet_end(m, true);
    uint64_t token = m->request.token;
    hybrid_hosts(h)->acking = (struct meta_held){0};
    SIM_ASSERT(e, m->request.src, c->oldest == m);
    sim_timer_end(e, &m->back);
    quiet_count_acks(h, c, sender_of(m), &m->wire, m->wire.packets);
    rest_add(h, c, &end);
    h->observer.message_ended(h->observer.ctx, &end, e->now_ps);
    end_oldest(h, c); // before the callback, which may post
    h->client.sent(h->client.ctx, token, e->now_ps);
}

// When the last ACK of a message that arrives now is back: behind that of the message before.
static ps_t back_ps(const struct hybrid *h, struct quiet_connection *c,
                    const struct quiet_message *m, ps_t now)
{
    double ack_ps = 0;
    for (uint32_t i = 0; i < c->in.n; i++)
        if (c->in.hops[i].byte_ps > ack_ps)
            ack_ps = c->in.hops[i].byte_ps;
    ack_ps *= hybrid_hosts(h)->senders[m->flow]->dim->ack.wire;
    c->back_ps = ps_longer(now + m->answered_ps, c->back_ps + (ps_t)ack_ps);
    return c->back_ps;
}

static void on_there(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct quiet_message *m = timer->data;
    struct hybrid *h = m->hybrid;
    struct hosts *hosts = hybrid_hosts(h);
    struct quiet_connection *c = h->connections[m->flow];
    ps_t due = (ps_t)(m->train.arrives_ps + 0.5);
    if (due <= e->now_ps && c->oldest->is_rest && !c->long_message->delivered)
        due = e->now_ps + sender_env(sender_of(m))->base_rtt_ps; // packets before it have been lost
    if (due > e->now_ps) { // else ACKs of others have delayed it
        sim_timer_start(e, timer, due);
        return;
    }
    const struct sender_account account = account_of(m);
    m->delivered = true;
    sim_timer_end(e, timer);
    quiet_count_data(h, c, &m->wire, m->wire.packets);
    h->quiet_bytes += m->request.bytes;
    hosts->counters.delivered_bytes += m->request.bytes;
    hosts->last_delivery_ps = e->now_ps;
    hosts->arriving.timed = false;
    sim_timer_init(e, &m->back, m->request.src, on_back, m);
    sim_timer_start(e, &m->back, back_ps(h, c, m, e->now_ps));
    h->observer.last_packet(h->observer.ctx, m->request.token, &account,
                            (ps_t)m->train.last_start_ps);
    h->observer.idle(h->observer.ctx, m->flow, m->path);
    h->client.delivered(h->client.ctx, m->request.token, e->now_ps);
}

/* ---- ACKs on ports of quiet data ---- */

// A connection has its ports until its quiet messages have left them.
static void own_ports(struct hybrid *h, uint32_t flow, const struct quiet_connection *c)
{
    for (uint32_t i = 0; i < c->out.n; i++) {
        h->ports[c->out.ports[i]].owner = flow;
        h->ports[c->out.ports[i]].free_ps = (ps_t)c->free_ps[i] + 1;
    }
}

// Let a message, and those behind it, end later.
static void delay(struct hybrid *h, struct quiet_connection *c, struct quiet_message *m,
                  double late)
{
    for (struct quiet_message *b = m; b; b = b->next) {
        if (b != m)
            b->train.begin_ps += late;
        b->train.last_start_ps += late;
        b->train.sent_ps += late;
        b->train.arrives_ps += late;
    }
    for (uint32_t i = 0; i < c->out.n; i++)
        c->free_ps[i] += late;
    own_ports(h, m->flow, c);
}

// ACKs of others take a share of a hop of a connection: its messages from `first` on end later. Of
// hops in a row the one with most of them counts.
static void share_hop(struct hybrid *h, struct quiet_connection *c, struct quiet_message *first,
                      uint32_t hop, const struct ack_stream *acks)
{
    double from_ps = (double)acks->from_ps, until_ps = (double)acks->until_ps,
           share = (double)acks->share;
    for (struct quiet_message *m = first; m; m = m->next) {
        double begin = from_ps > m->train.begin_ps ? from_ps : m->train.begin_ps,
               end = until_ps < m->train.sent_ps ? until_ps : m->train.sent_ps;
        if (m->delivered || end <= begin)
            continue;
        m->late_at[hop] += (float)(share * (end - begin));
        double more = (double)m->late_at[hop] - m->late_ps;
        if (more <= 0)
            continue;
        m->late_ps += more;
        delay(h, c, m, more);
    }
}

// Returns the entry for a connection's ACKs at a port: its own, else the one whose ACKs end first,
// which the caller overwrites.
static struct ack_stream *stream_of(struct port_use *use, uint32_t flow)
{
    struct ack_stream *first = &use->acks[0];
    for (uint32_t k = 0; k < ACK_STREAMS; k++) {
        if (use->acks[k].flow == flow)
            return &use->acks[k];
        if (use->acks[k].until_ps < first->until_ps)
            first = &use->acks[k];
    }
    return first;
}

// A connection's hop that has this port; the connection must have one.
static uint32_t hop_of(const struct quiet_connection *c, uint32_t port)
{
    uint32_t i = 0;
    while (i + 1 < c->out.n && c->out.ports[i] != port)
        i++;
    return i;
}

void quiet_acks_pass(struct hybrid *h, const struct sender *s, double from, double until, ps_t now)
{
    const struct transport_dim *dim = s->dim;
    const struct quiet_connection *c = h->connections[s->flow];
    uint32_t flow = s->flow;
    double each = (double)dim->ack.wire / dim->packets_per_ack / dim->full.wire;
    for (uint32_t i = 0; i < c->in.n; i++) {
        struct port_use *use = &h->ports[c->in.ports[i]];
        double share = each * c->in.hops[i].byte_ps / c->slowest_ps;
        struct ack_stream *acks = stream_of(use, flow);
        struct ack_stream more = {(ps_t)from, (ps_t)until, (float)share, flow};
        bool goes_on = acks->flow == flow && acks->until_ps > now;
        if (goes_on && acks->until_ps > more.from_ps) // this part has been shared before
            more.from_ps = acks->until_ps;
        if (port_has_other(use, flow, now)) {
            struct quiet_connection *other = h->connections[use->owner];
            share_hop(h, other, other->oldest, hop_of(other, c->in.ports[i]), &more);
        }
        if (goes_on)
            more.from_ps = acks->from_ps;
        *acks = more;
        from += (double)c->in.hops[i].delay_ps;
        until += (double)c->in.hops[i].delay_ps;
    }
}

// The ACKs of a message pass ports of others, and those of others its own.
static void share_with_acks(struct hybrid *h, uint32_t flow, struct quiet_connection *c,
                            const struct quiet_message *m, ps_t now)
{
    double flight = m->train.arrives_ps - m->train.sent_ps;
    quiet_acks_pass(h, sender_of(m), m->train.begin_ps + flight, m->train.sent_ps + flight, now);
    for (uint32_t i = 0; i < c->out.n; i++) {
        const struct port_use *use = &h->ports[c->out.ports[i]];
        for (uint32_t k = 0; k < ACK_STREAMS; k++)
            if (use->acks[k].until_ps > now && use->acks[k].flow != flow)
                share_hop(h, c, c->newest, i, &use->acks[k]);
    }
}

/* ---- posts ---- */

static struct quiet_message *take(struct hybrid *h)
{
    struct quiet_message *m = h->free;
    if (m)
        h->free = m->next;
    else
        m = slab_alloc(&h->messages, sizeof *m);
    *m = (struct quiet_message){.hybrid = h};
    return m;
}

void quiet_post(struct hybrid *h, const struct sender *s, const struct transfer_request *request,
                ps_t now)
{
    struct engine *e = hybrid_net(h)->engine;
    struct quiet_connection *c = h->connections[s->flow];
    struct quiet_message *m = take(h);
    m->request = *request;
    m->flow = s->flow;
    m->wire = ideal_wire(s->dim, request->bytes, false);
    bool behind = c->newest && c->free_ps[0] > (double)now;
    double was_free = c->free_ps[0];
    m->train = train_of(c->out.hops, c->out.n, &m->wire, (double)now, c->free_ps);
    double before = s->dim->packets_per_ack == 1 ? m->train.before_ps : -1,
           answered =
               train_answered(c->in.hops, c->in.n, m->train.arrives_ps, before, s->dim->ack.wire);
    m->answered_ps = (ps_t)(answered - m->train.arrives_ps + 0.5);
    if (!behind) {
        c->busy_ps = now;
        c->busy_bytes = 0;
    }
    m->is_rest = c->returned && !c->newest;
    if (m->is_rest) { // the busy period of its packets goes on
        c->busy_ps = s->time->begin_ps;
        c->busy_bytes = s->time->sent_bytes + s->dim->full.wire;
    }
    m->path = behind       ? path_hold(h->path_book, c->newest->path)
              : m->is_rest ? path_hold(h->path_book, s->cold.time_path)
                           : h->observer.busy(h->observer.ctx, s->flow, now);
    m->begin_ps = c->busy_ps;
    m->mark_ps = behind ? (ps_t)was_free : 0;
    m->before_bytes = c->busy_bytes;
    c->busy_bytes += m->wire.total;
    if (c->newest)
        c->newest->next = m;
    else
        c->oldest = m;
    c->newest = m;
    h->n_quiet++;
    hybrid_hosts(h)->n_running++;
    hybrid_hosts(h)->counters.posted_bytes += request->unrecorded ? 0 : request->bytes;
    own_ports(h, s->flow, c);
    share_with_acks(h, s->flow, c, m, now);
    sim_timer_init(e, &m->there, request->dst, on_there, m);
    sim_timer_start(e, &m->there, (ps_t)(m->train.arrives_ps + 0.5));
}
