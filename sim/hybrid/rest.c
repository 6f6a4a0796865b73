// SPDX-License-Identifier: MIT
// Long messages that are quiet again when nobody meets them any more.
//
// While a long message is packets, a timer looks at its ways. When nobody else uses them, their
// queues are empty and the sender is at the rate of its port, the message is cut behind the next
// packet: its packets become a part, with a token of its own, whose end nobody else sees, and the
// rest is a quiet message behind it.
#include <string.h>

#include "engine/base/memory.h"
#include "sim/hybrid/quiet.h"

#define LONG_PACKETS 64 // of a message whose rest is worth a look
#define LOOKS 64        // over the least time of a message; but not more often than two RTTs
#define PART_TOKEN (UINT64_C(1) << 63) // and the number of the flow

/* ---- looks ---- */

// Queues of a port are those of one flow at the rate of the port.
static bool is_drained(struct hybrid *h, uint32_t port, uint32_t full_bytes, ps_t now)
{
    struct network *net = hybrid_net(h);
    port_catch_up_before(net, port, now);
    return net->ports[port].paused == 0 && net->ports[port].queued_bytes <= 2 * full_bytes;
}

// True if the message that its sender is sending may be quiet from its next but one packet on.
static bool may_return(struct hybrid *h, const struct quiet_connection *c, const struct sender *s,
                       const struct transfer_request *request, ps_t now)
{
    struct quiet_connection returned = *c;
    returned.returned = true;
    if (c->n_packet != 1 || c->oldest || !s->dim->ops->cut ||
        why_not_quiet(h, &returned, s, request, now) != IS_QUIET)
        return false;
    for (uint32_t i = 1; i < c->out.n; i++)
        if (!is_drained(h, c->out.ports[i], s->dim->full.wire, now))
            return false;
    return true;
}

// When the hops have sent the last packet of the part, which the port of its sender sends next.
static void follow_part(struct hybrid *h, struct quiet_connection *c, const struct sender *s,
                        ps_t now)
{
    const struct network *net = hybrid_net(h);
    double begin = (double)now;
    for (uint32_t i = 0; i < c->out.n; i++) {
        const struct port *port = &net->ports[c->out.ports[i]];
        const struct train_hop *hop = &c->out.hops[i];
        if ((double)port->busy_until_ps > begin)
            begin = (double)port->busy_until_ps;
        if (i > 0)
            begin += (double)port->queued_bytes * hop->byte_ps;
        c->free_ps[i] = begin + s->dim->full.wire * hop->byte_ps;
        begin += train_forward_ps(hop, s->dim->full.wire);
    }
}

static void cut(struct hybrid *h, struct quiet_connection *c, struct sender *s, ps_t now)
{
    struct long_message *l = c->long_message;
    struct transfer_request rest = l->request;
    rest.bytes = s->dim->ops->cut(s, PART_TOKEN | s->flow);
    if (rest.bytes == 0)
        return;
    l->cut = true;
    l->delivered = false;
    l->token = rest.token;
    if (c->split_packets > 0)
        split_end(h, c, s, &l->sum, false);
    h->packet_bytes[l->why] -= rest.bytes;
    hybrid_hosts(h)->counters.posted_bytes -= rest.unrecorded ? 0 : rest.bytes;
    c->returned = true;
    follow_part(h, c, s, now);
    quiet_post(h, s, &rest, now);
}

static void look_later(struct long_message *l, ps_t now)
{
    struct hybrid *h = l->hybrid;
    ps_t rtts_ps = 2 * sender_env(hybrid_hosts(h)->senders[l->flow])->base_rtt_ps,
         part_ps = (ps_t)((double)l->request.bytes * h->connections[l->flow]->slowest_ps / LOOKS);
    l->looking = true;
    h->fabric->housekeeping++;
    sim_timer_start(hybrid_net(h)->engine, &l->look, now + ps_longer(rtts_ps, part_ps));
}

static void stop_looking(struct long_message *l)
{
    if (!l->looking)
        return;
    l->looking = false;
    l->hybrid->fabric->housekeeping--;
    sim_timer_stop(&l->look);
}

static void on_look(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct long_message *l = timer->data;
    struct hybrid *h = l->hybrid;
    struct quiet_connection *c = h->connections[l->flow];
    struct sender *s = hybrid_hosts(h)->senders[l->flow];
    l->looking = false;
    h->fabric->housekeeping--;
    sender_catch_up(s, e->now_ps);
    bool other = l->cut && l->token != l->request.token; // whose rest has not ended
    if (!other && s->sending != MESSAGE_NIL &&
        hosts_message(hybrid_hosts(h), s->sending)->token == l->request.token &&
        may_return(h, c, s, &l->request, e->now_ps))
        cut(h, c, s, e->now_ps);
    if (!c->returned)
        look_later(l, e->now_ps);
}

void rest_look(struct hybrid *h, const struct sender *s, struct quiet_connection *c,
               const struct transfer_request *request, enum not_quiet why, ps_t now)
{
    if ((why != NOT_QUIET_MEETS && why != NOT_QUIET_RATE && why != NOT_QUIET_CHECKED) ||
        !s->dim->ops->cut || c->never ||
        request->bytes < (uint64_t)LONG_PACKETS * s->dim->mtu_bytes)
        return;
    struct long_message *l = c->long_message;
    if (!l) {
        l = c->long_message = memory_zeroed(1, sizeof *l);
        l->hybrid = h;
        l->flow = s->flow;
        sim_timer_init(hybrid_net(h)->engine, &l->look, request->src, on_look, l);
    }
    stop_looking(l);
    l->request = *request;
    l->why = why;
    look_later(l, now);
}

/* ---- ends ---- */

// The message of a part; NULL = the token is not that of a part.
static struct long_message *part_of(const struct hybrid *h, uint64_t token)
{
    return token & PART_TOKEN ? h->connections[token & ~PART_TOKEN]->long_message : NULL;
}

static void add(struct message_end *to, const struct message_end *part)
{
    to->message.bytes += part->message.bytes;
    to->message.packets += part->message.packets;
    to->message.retransmitted += part->message.retransmitted;
    to->message.cnps += part->message.cnps;
    to->message.timeouts += part->message.timeouts;
    to->delivered_bytes += part->delivered_bytes;
}

void rest_add(struct hybrid *h, struct quiet_connection *c, struct message_end *end)
{
    struct long_message *l = c->long_message;
    if (c->split_packets > 0 && c->split_token == end->message.token)
        split_end(h, c, hybrid_hosts(h)->senders[end->flow], end,
                  end->message.status == MESSAGE_RUNNING);
    if (!l || !l->cut || l->token != end->message.token)
        return;
    add(end, &l->sum);
    l->sum = (struct message_end){0};
    l->cut = false;
}

// What the hosts say of messages in packets, but for parts.

static void on_delivered(void *ctx, uint64_t token, ps_t now)
{
    const struct hybrid *h = ctx;
    struct long_message *l = part_of(h, token);
    if (l)
        l->delivered = true;
    else
        h->client.delivered(h->client.ctx, token, now);
}

static void on_entered(void *ctx, uint64_t token, ps_t now)
{
    const struct hybrid *h = ctx;
    h->client.entered(h->client.ctx, token, now);
}

static void on_sent(void *ctx, uint64_t token, ps_t now)
{
    const struct hybrid *h = ctx;
    if (!part_of(h, token))
        h->client.sent(h->client.ctx, token, now);
}

// The rest of a message whose packets have failed is posted to the same sender, and fails.
static void on_failed(void *ctx, uint64_t token, ps_t now)
{
    struct hybrid *h = ctx;
    const struct long_message *l = part_of(h, token);
    if (!l) {
        h->client.failed(h->client.ctx, token, now);
        return;
    }
    const struct newcomer self = {h->connections[l->flow], 0};
    if (self.connection->oldest)
        connection_wake(h, l->flow, &self, now);
}

static uint32_t on_busy(void *ctx, uint32_t flow, ps_t now)
{
    const struct hybrid *h = ctx;
    return h->observer.busy(h->observer.ctx, flow, now);
}

static void on_last_packet(void *ctx, uint64_t token, const struct sender_account *account,
                           ps_t now)
{
    const struct hybrid *h = ctx;
    struct long_message *l = part_of(h, token);
    if (l)
        l->account = *account;
    else
        h->observer.last_packet(h->observer.ctx, token, account, now);
}

static void on_idle(void *ctx, uint32_t flow, uint32_t path)
{
    const struct hybrid *h = ctx;
    h->observer.idle(h->observer.ctx, flow, path);
}

static void on_note(void *ctx, uint64_t token, struct packet_note *note)
{
    const struct hybrid *h = ctx;
    const struct long_message *l = part_of(h, token);
    h->observer.note(h->observer.ctx, l ? l->token : token, note);
}

static void on_timed_out(void *ctx, const struct sender *s, ps_t now)
{
    const struct hybrid *h = ctx;
    h->observer.timed_out(h->observer.ctx, s, now);
}

static ps_t on_timeout(void *ctx, uint64_t token)
{
    const struct hybrid *h = ctx;
    return part_of(h, token) ? 0 : h->observer.timeout_ps(h->observer.ctx, token);
}

static void on_ended(void *ctx, const struct message_end *end, ps_t now)
{
    struct hybrid *h = ctx;
    struct quiet_connection *c = hybrid_connection(h, end->flow);
    struct long_message *part = part_of(h, end->message.token);
    bool ends = end->message.status != MESSAGE_RUNNING;
    struct message_end whole = *end;
    if (part)
        add(&part->sum, end);
    else
        rest_add(h, c, &whole);
    if (c->long_message && ends && c->long_message->request.token == end->message.token)
        stop_looking(c->long_message);
    if (ends && --c->n_packet == 0) {
        packets_end(h, end->dim, c);
        c->returned = false;
    }
    if (!part)
        h->observer.message_ended(h->observer.ctx, &whole, now);
}

void rest_attach(struct hybrid *h)
{
    struct hosts *hosts = hybrid_hosts(h);
    hosts->client = (struct host_client){.delivered = on_delivered,
                                         .entered = h->client.entered ? on_entered : NULL,
                                         .sent = on_sent,
                                         .failed = on_failed,
                                         .ctx = h};
    hosts->observer = (struct host_observer){.busy = on_busy,
                                             .last_packet = on_last_packet,
                                             .idle = on_idle,
                                             .note = on_note,
                                             .timed_out = on_timed_out,
                                             .timeout_ps = on_timeout,
                                             .message_ended = on_ended,
                                             .ctx = h};
}
