// SPDX-License-Identifier: MIT
// Messages in packets, and how quiet messages become some.
#include <string.h>

#include "engine/base/memory.h"
#include "sim/hybrid/quiet.h"

/* ---- packets ---- */

// A connection has begun (1) or ceased (-1) to have messages in packets.
static void use_ports(struct hybrid *h, const struct quiet_connection *c, int by)
{
    for (uint32_t i = 0; i < c->out.n; i++)
        h->ports[c->out.ports[i]].n_packet += (uint32_t)by;
}

// Every quiet connection that has one of these ports becomes packets.
static void wake_owners(struct hybrid *h, uint32_t flow, const struct quiet_connection *c,
                        uint64_t bytes, ps_t now)
{
    const struct newcomer by = {c, bytes};
    for (uint32_t i = 0; i < c->out.n; i++) {
        const struct port_use *use = &h->ports[c->out.ports[i]];
        if (port_has_other(use, flow, now))
            connection_wake(h, use->owner, &by, now);
        // Where packets of several connections meet, ACKs wait among them, and end messages later.
        for (uint32_t k = 0; k < ACK_STREAMS && i > 0 && use->n_packet > 1; k++)
            if (use->acks[k].until_ps > now && use->acks[k].flow != flow)
                connection_wake(h, use->acks[k].flow, &by, now);
    }
}

// Packets may take any port of a dimension: nothing there is quiet.
static void wake_all(struct hybrid *h, uint32_t dim, ps_t now)
{
    for (uint32_t flow = 0; flow < h->cap; flow++) {
        const struct quiet_connection *c = h->connections[flow];
        const struct newcomer self = {c, 0};
        if (c && c->oldest && sender_id(hybrid_hosts(h)->senders[flow])->dim == dim)
            connection_wake(h, flow, &self, now);
    }
}

// The first message of a connection in packets has been posted: what is quiet on the ports that
// they may take becomes packets too. `bytes`: its payload.
static void packets_begin(struct hybrid *h, const struct sender *s,
                          const struct quiet_connection *c, uint64_t bytes, ps_t now)
{
    uint32_t dim = sender_id(s)->dim;
    if (!c->never) {
        use_ports(h, c, 1);
        wake_owners(h, s->flow, c, bytes, now);
    } else if (h->n_never[dim]++ == 0) {
        wake_all(h, dim, now);
    }
}

void packets_end(struct hybrid *h, uint32_t dim, const struct quiet_connection *c)
{
    if (c->never)
        h->n_never[dim]--;
    else
        use_ports(h, c, -1);
}

void hybrid_packets(struct hybrid *h, struct sender *s, const struct transfer_request *request,
                    enum not_quiet why, ps_t now)
{
    struct quiet_connection *c = hybrid_connection(h, s->flow);
    h->packet_bytes[why] += request->bytes;
    if (c->n_packet++ == 0)
        packets_begin(h, s, c, request->bytes, now);
    if (!c->never && c->in.n > 0) {
        double from = (double)now + (double)sender_env(s)->base_rtt_ps / 2;
        quiet_acks_pass(h, s, from, from + (double)request->bytes * c->slowest_ps, now);
    }
    sender_post(s, request, now);
    rest_look(h, s, c, request, why, now);
}

/* ---- quiet messages that become packets ---- */

// What the sender has sent, but a port has not, occupies the port. Returns false if packets wait
// there, whose departure is planned.
static bool occupy(struct hybrid *h, uint32_t port, ps_t until_ps, ps_t now)
{
    struct network *net = hybrid_net(h);
    struct port *p = &net->ports[port];
    port_catch_up_before(net, port, now);
    if (p->waiting == 0 && p->busy_until_ps < until_ps)
        p->busy_until_ps = until_ps;
    return p->busy_until_ps >= until_ps;
}

// When the first packet of a connection, sent at `from`, comes to a port; -1 if it never does.
static double comes_ps(const struct quiet_connection *c, uint32_t full_bytes, uint32_t port,
                       ps_t from)
{
    double at = (double)from;
    for (uint32_t i = 0; i < c->out.n; i++) {
        if (c->out.ports[i] == port)
            return at;
        at += train_forward_ps(&c->out.hops[i], full_bytes);
    }
    return -1;
}

static void drop_message(struct hybrid *h, struct quiet_message *m)
{
    h->observer.idle(h->observer.ctx, m->flow, m->path);
    sim_timer_end(hybrid_net(h)->engine, &m->there);
    hybrid_hosts(h)->counters.posted_bytes -= m->request.unrecorded ? 0 : m->request.bytes;
    quiet_give(h, m);
}

// The first `sent` packets of the message keep their times; the rest becomes a message of packets.
static struct transfer_request rest_of(struct hybrid *h, struct quiet_connection *c,
                                       const struct sender *s, const struct quiet_message *m,
                                       uint64_t sent)
{
    struct transfer_request rest = m->request;
    if (sent == 0)
        return rest;
    c->split_wire = m->wire;
    c->split_begin_ps = m->train.begin_ps;
    c->split_token = m->request.token;
    c->split_packets = (uint32_t)sent;
    c->split_bytes = sent * s->dim->mtu_bytes;
    rest.bytes -= c->split_bytes;
    h->quiet_bytes += c->split_bytes;
    hybrid_hosts(h)->counters.delivered_bytes += c->split_bytes;
    hybrid_hosts(h)->counters.posted_bytes += m->request.unrecorded ? 0 : c->split_bytes;
    return rest;
}

// What is on its way to the ports of a connection: in bytes, and when the ports will have sent it
// if nobody comes between; and when others come there, or its own next packet, which cannot pass
// it.
struct under_way {
    double bytes[HYBRID_HOPS], until_ps[HYBRID_HOPS], at_ps[HYBRID_HOPS];
    bool own[HYBRID_HOPS];
};

// Add what the hops will not have sent when others come, of the first `sent` packets of a message.
static void add_under_way(const struct quiet_connection *c, const struct quiet_message *m,
                          uint64_t sent, struct under_way *w)
{
    for (uint32_t i = 1; i < c->out.n; i++) {
        double begin = m->train.begin_ps, bytes = (double)train_bytes(&m->wire, sent),
               byte_ps = train_at_hop(c->out.hops, &m->wire, i, &begin);
        double until = begin + bytes * byte_ps, at = w->at_ps[i] > begin ? w->at_ps[i] : begin;
        if (until <= w->at_ps[i])
            continue;
        w->bytes[i] += (until - at) / byte_ps;
        if (until > w->until_ps[i])
            w->until_ps[i] = until;
    }
}

// What is under way when others come to a port occupies it from then on.
static void occupy_ports(struct hybrid *h, const struct quiet_connection *c, struct sender *s,
                         ps_t sender_free_ps, const struct under_way *w, ps_t now)
{
    if (!occupy(h, c->out.ports[0], sender_free_ps, now) && s->next_send_ps < sender_free_ps)
        s->next_send_ps = sender_free_ps;
    for (uint32_t i = 1; i < c->out.n; i++)
        if (w->bytes[i] > 0)
            occupy(h, c->out.ports[i],
                   (ps_t)((w->own[i] ? w->until_ps[i]
                                     : w->at_ps[i] + w->bytes[i] * c->out.hops[i].byte_ps) +
                          0.5),
                   now);
}

// The time for which packets of others that come to a port before the last packet under way delay
// it.
static double meets_ps(const struct quiet_connection *c, const struct newcomer *by,
                       const struct under_way *w, uint32_t full_bytes)
{
    double most = 0;
    for (uint32_t i = 1; i < c->out.n; i++) {
        bool shared = false;
        for (uint32_t k = 0; k < by->connection->out.n; k++)
            shared |= by->connection->out.ports[k] == c->out.ports[i];
        // Until the last packet comes: what comes with it waits behind it.
        double both = c->free_ps[i] - w->at_ps[i] - full_bytes * c->out.hops[i].byte_ps,
               theirs = (double)by->bytes * c->out.hops[i].byte_ps;
        double late = both < theirs ? both : theirs;
        if (shared && w->bytes[i] > 0 && late > most)
            most = late;
    }
    return most;
}

// The number of packets of a message that its sender has begun to send, and in *free_ps when it has
// sent them.
static uint64_t begun(const struct quiet_connection *c, const struct quiet_message *m, ps_t now,
                      ps_t *free_ps)
{
    double span = m->train.sent_ps - m->train.begin_ps,
           stretch = span > m->late_ps ? span / (span - m->late_ps) : 1,
           byte_ps = stretch * c->out.hops[0].byte_ps;
    uint64_t sent = train_started(&m->wire, m->train.begin_ps, byte_ps, (double)now);
    if (sent == m->wire.packets) // by rounding: the last one starts later
        sent--;
    if (sent > 0)
        *free_ps = (ps_t)(m->train.begin_ps + (double)train_bytes(&m->wire, sent) * byte_ps + 0.5);
    return sent;
}

// The wire bytes of the first packet of so much payload; 0 = of any.
static uint32_t first_bytes(const struct transport_dim *dim, uint64_t bytes)
{
    uint32_t headers = dim->full.wire - dim->mtu_bytes;
    return bytes > 0 && bytes < dim->mtu_bytes ? (uint32_t)bytes + headers : dim->full.wire;
}

// When others come to the ports of a connection, else its own next packet, of own_bytes, which its
// sender sends at free_ps.
static void find_arrivals(const struct quiet_connection *c, const struct newcomer *by,
                          const struct transport_dim *dim, uint32_t own_bytes, ps_t free_ps,
                          ps_t now, struct under_way *w)
{
    for (uint32_t i = 0; i < c->out.n; i++) {
        double theirs = comes_ps(by->connection, first_bytes(dim, by->bytes), c->out.ports[i], now);
        w->own[i] = theirs < 0 || by->connection == c;
        w->at_ps[i] = w->own[i] ? comes_ps(c, own_bytes, c->out.ports[i], free_ps) : theirs;
    }
}

void connection_wake(struct hybrid *h, uint32_t flow, const struct newcomer *by, ps_t now)
{
    struct quiet_connection *c = h->connections[flow];
    struct sender *s = hybrid_hosts(h)->senders[flow];
    struct under_way w = {0};
    struct quiet_message *kept = NULL, *m = c->oldest, *next;
    ps_t free_ps = now;
    c->returned = false;
    // Messages whose last packet has started keep their times of arrival.
    while (m && m->train.last_start_ps <= (double)now) {
        kept = m;
        m = m->next;
    }
    if (kept && kept->train.sent_ps > (double)now)
        free_ps = (ps_t)(kept->train.sent_ps + 0.5);
    uint64_t sent = m ? begun(c, m, now, &free_ps) : 0;
    uint64_t left = m                     ? m->request.bytes - sent * s->dim->mtu_bytes
                    : by->connection == c ? by->bytes
                                          : 0;
    find_arrivals(c, by, s->dim, first_bytes(s->dim, left), free_ps, now, &w);
    for (struct quiet_message *k = kept ? c->oldest : NULL; k && k != m; k = k->next)
        add_under_way(c, k, k->wire.packets, &w);
    if (sent > 0)
        add_under_way(c, m, sent, &w);
    if (kept)
        kept->next = NULL;
    else
        c->oldest = NULL;
    c->newest = kept;
    occupy_ports(h, c, s, free_ps, &w, now);
    if (kept && !kept->delivered && by->connection != c)
        kept->train.arrives_ps += meets_ps(c, by, &w, s->dim->full.wire);
    for (uint32_t i = 0; i < c->out.n; i++) {
        if (h->ports[c->out.ports[i]].owner == flow)
            h->ports[c->out.ports[i]].free_ps = now;
        c->free_ps[i] = (double)now;
    }
    for (; m; m = next, sent = 0) {
        next = m->next;
        struct transfer_request rest = rest_of(h, c, s, m, sent);
        drop_message(h, m);
        hybrid_packets(h, s, &rest, NOT_QUIET_MEETS, now);
    }
}

/* ---- other routes ---- */

static bool same_way(const struct way *a, const struct way *b)
{
    return a->n == b->n && memcmp(a->ports, b->ports, a->n * sizeof *a->ports) == 0;
}

// Let a connection take its new ways, if they are others.
static void take_new_ways(struct hybrid *h, uint32_t flow, ps_t now)
{
    struct quiet_connection *c = h->connections[flow];
    const struct sender *s = hybrid_hosts(h)->senders[flow];
    struct quiet_connection moved = *c;
    connection_walk(h, &moved, s);
    if (moved.never == c->never && same_way(&moved.out, &c->out) && same_way(&moved.in, &c->in))
        return;
    const struct newcomer self = {c, 0};
    if (c->oldest)
        connection_wake(h, flow, &self, now);
    if (c->n_packet > 0)
        packets_end(h, sender_id(s)->dim, c);
    connection_walk(h, c, s);
    if (c->n_packet > 0)
        packets_begin(h, s, c, 0, now);
}

void hybrid_rerouted(void *ctx, ps_t now)
{
    struct hybrid *h = ctx;
    for (uint32_t flow = 0; flow < h->cap; flow++)
        if (h->connections[flow] && h->connections[flow]->known)
            take_new_ways(h, flow, now);
}

/* ---- ends ---- */

void split_end(struct hybrid *h, struct quiet_connection *c, const struct sender *s,
               struct message_end *sum, bool running)
{
    sum->message.bytes += c->split_bytes;
    sum->message.packets += c->split_packets;
    sum->delivered_bytes += c->split_bytes;
    if (running) {
        quiet_count_running(h, c, &c->split_wire, c->split_begin_ps, c->split_packets);
    } else {
        quiet_count_data(h, c, &c->split_wire, c->split_packets);
        quiet_count_acks(h, c, s, &c->split_wire, c->split_packets);
    }
    c->split_packets = 0;
}
