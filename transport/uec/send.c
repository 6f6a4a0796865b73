// SPDX-License-Identifier: MIT
// Choice and content of the next packet.
#include "transport/uec/uec.h"

/* ---- permission to send ---- */

// A packet needs room in the window, or an empty network; a credit; and a number in the range that
// the receiver keeps track of.
static bool may_send(const struct sender *s, uint32_t payload)
{
    const struct uec_sender *u = uec_of(s);
    bool fits = u->in_flight_bytes == 0 || u->in_flight_bytes + payload <= s->cwnd_bytes;
    return fits && uec_credits_open_gate(u);
}

static uint32_t payload_at(const struct sender *s, const struct message *m, uint64_t psn)
{
    uint32_t mtu = s->dim->mtu_bytes;
    uint64_t left = m->bytes - (psn - m->first_seq) * mtu;
    return left < mtu ? (uint32_t)left : mtu;
}

static struct message *message_of(const struct sender *s, uint64_t psn)
{
    const struct hosts *hosts = sender_hosts(s);
    uint32_t slot = s->oldest;
    while (message_end_seq(hosts_message(hosts, slot)) <= psn)
        slot = hosts_message(hosts, slot)->next;
    return hosts_message(hosts, slot);
}

uint32_t uec_payload_of(const struct sender *s, uint64_t psn)
{
    return payload_at(s, message_of(s, psn), psn);
}

void uec_update(struct sender *s)
{
    const struct uec_sender *u = uec_of(s);
    // Lost packets are sent again before new ones.
    bool lost = u->flight.lost.n > 0, fresh = !lost && s->nxt < s->tail;
    s->special_due = lost && may_send(s, s->dim->mtu_bytes);
    uint32_t payload =
        fresh ? payload_at(s, hosts_message(sender_hosts(s), s->sending), s->nxt) : 0;
    bool open = fresh && s->nxt - s->una < UEC_PSN_RANGE && may_send(s, payload);
    // struct sender compares bytes in flight with window_bytes. The rules above decide instead, so
    // here the window is either open or closed.
    s->window_bytes = open ? UINT64_MAX : 0;
}

void uec_on_window(struct sender *s, ps_t now)
{
    (void)now;
    uec_update(s);
}

void uec_on_post(struct sender *s, ps_t now)
{
    uec_update(s);
    uec_credits_count(s);
    // Without credit and with nothing in flight no data packet can carry a request for credits, so
    // a control packet requests them.
    if (uec_of(s)->credits.on && uec_of(s)->in_flight_bytes == 0 && s->window_bytes == 0 &&
        !s->special_due)
        uec_send_request(s, now);
}

/* ---- packets ---- */

// Values without room in the meta-data go into the first block of meta_sacks(): the pull target in
// quanta, and the bytes of the message, which only captures show.
static void fill_request(struct sender *s, struct packet_meta *meta, uint32_t slot, uint64_t bytes)
{
    struct meta_pool *pool = &sender_hosts(s)->net->meta;
    meta->n_sacks = 1;
    uint32_t length = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    uint32_t target = uec_of(s)->credits.on ? uec_pull_target(s) : 0;
    *meta_sacks(pool, slot) = (struct sack_block){target, length};
}

static bool carries_request(const struct sender *s)
{
    return uec_of(s)->credits.on || sender_hosts(s)->net->tap.seen;
}

static uint32_t next_entropy(struct uec_sender *u, ps_t now)
{
    return u->single_path ? 0 : spray_next(&u->spray, now);
}

// Returns the value that switches choose the path by.
static uint32_t path_of(const struct sender *s, uint32_t entropy)
{
    const struct uec_sender *u = uec_of(s);
    return s->dim->numbers_paths && !u->single_path
               ? entropy
               : path_entropy(u->addresses, u->port_base | entropy, 0);
}

// Write packet `psn` of message `m` to *p and return its payload.
static uint32_t fill_packet(struct sender *s, struct message *m, uint64_t psn, struct packet *p,
                            ps_t now)
{
    const struct transport_dim *dim = s->dim;
    struct uec_sender *u = uec_of(s);
    struct meta_pool *pool = &dim->hosts->net->meta;
    uint32_t payload = payload_at(s, m, psn), entropy = next_entropy(u, now);
    struct packet_sizes size =
        payload == dim->mtu_bytes ? dim->full : uec_data_sizes(&dim->spec, payload, false);
    *p = (struct packet){.flow = s->flow,
                         .dst = s->dst_node,
                         .entropy = path_of(s, entropy),
                         .meta = meta_alloc(pool),
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_DATA,
                         .cls = s->cls,
                         .flags = PACKET_ECT};
    *meta_at(pool, p->meta) = (struct packet_meta){.sent_ps = now,
                                                   .token = m->token,
                                                   .seq = (uint32_t)psn,
                                                   .place = (uint32_t)(psn - m->first_seq),
                                                   .payload_bytes = (uint16_t)payload,
                                                   .entropy = (uint16_t)entropy};
    if (psn == m->first_seq)
        p->flags |= PACKET_FIRST;
    if (psn + 1 == message_end_seq(m))
        p->flags |= PACKET_LAST;
    m->packets++;
    u->in_flight_bytes += payload;
    flight_sent(&u->flight, s->una, psn, entropy, now);
    if (u->credits.on)
        uec_credits_spend(s, p->wire_bytes);
    return payload;
}

// An ACK is requested with the last packet, with the packet that uses up the credits or the window,
// and with every retransmission.
static bool requests_ack(const struct sender *s)
{
    const struct uec_sender *u = uec_of(s);
    return s->nxt == s->tail || (u->credits.on && u->credits.left <= 0) ||
           u->in_flight_bytes + s->dim->mtu_bytes >= s->cwnd_bytes ||
           s->nxt - s->una >= UEC_PSN_RANGE;
}

static void fill_new(struct sender *s, struct packet *p, ps_t now)
{
    struct message *m = hosts_message(sender_hosts(s), s->sending);
    uint32_t payload = fill_packet(s, m, s->nxt, p, now);
    if (p->flags & PACKET_LAST)
        s->sending = m->next;
    s->max = ++s->nxt;
    s->nxt_bytes += payload;
    if (requests_ack(s)) {
        p->flags |= PACKET_ACKREQ;
        uec_of(s)->asked_end = s->nxt;
    }
    if (carries_request(s))
        fill_request(s, meta_at(&sender_hosts(s)->net->meta, p->meta), p->meta, m->bytes);
}

static void fill_lost(struct sender *s, struct packet *p, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    uint64_t psn = psn_set_first(&u->flight.lost, s->una);
    struct message *m = message_of(s, psn);
    psn_set_remove(&u->flight.lost, psn);
    fill_packet(s, m, psn, p, now);
    p->flags |= PACKET_RETX | PACKET_ACKREQ;
    m->retransmitted++;
    sender_hosts(s)->counters.retransmitted++;
    uec_dim(s->dim)->counters.retransmitted++;
    if (carries_request(s))
        fill_request(s, meta_at(&sender_hosts(s)->net->meta, p->meta), p->meta, m->bytes);
}

void uec_fill(struct sender *s, struct packet *p, ps_t now)
{
    if (s->special_due)
        fill_lost(s, p, now);
    else
        fill_new(s, p, now);
    uec_update(s);
    uec_credits_count(s);
    if (s->rto_state == RTO_OFF)
        sender_rto_restart(s, uec_rto_ps(uec_of(s)), now);
}

static void send_control(struct sender *s, uint32_t entropy, ps_t now)
{
    const struct transport_dim *dim = s->dim;
    struct network *net = dim->hosts->net;
    struct uec_sender *u = uec_of(s);
    struct packet_sizes size = uec_control_sizes(&dim->spec);
    struct packet p =
        uec_control(s->flow, s->dst_node, path_of(s, entropy), meta_alloc(&net->meta), size, now);
    p.kind = PACKET_DATA;
    p.flags = PACKET_ACKREQ;
    struct packet_meta *meta = meta_at(&net->meta, p.meta);
    *meta = (struct packet_meta){
        .sent_ps = PS_NEVER, .seq = (uint32_t)s->nxt, .entropy = (uint16_t)entropy};
    fill_request(s, meta, p.meta, 0);
    if (s->rto_state == RTO_OFF)
        sender_rto_restart(s, uec_rto_ps(u), now);
    port_enqueue(net, s->port, &p, now);
}

void uec_send_request(struct sender *s, ps_t now)
{
    uec_dim(s->dim)->counters.requests++;
    send_control(s, next_entropy(uec_of(s), now), now);
}

void uec_probe(struct sender *s, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    ps_t every_ps = uec_spec_const(&s->dim->spec)->probe_every_ps;
    uint32_t entropy = u->single_path ? UINT32_MAX : spray_probe(&u->spray, every_ps, now);
    if (entropy == UINT32_MAX)
        return;
    uec_dim(s->dim)->counters.probes++;
    send_control(s, entropy, now);
}

void uec_ask_if_blocked(struct sender *s, ps_t now)
{
    struct uec_sender *u = uec_of(s);
    bool waits = s->nxt < s->tail || u->flight.lost.n > 0;
    if (!waits || s->window_bytes > 0 || s->special_due || u->in_flight_bytes == 0 ||
        u->asked_end == s->nxt || !uec_credits_open_gate(u))
        return;
    u->asked_end = s->nxt;
    uec_dim(s->dim)->counters.ack_requests++;
    send_control(s, next_entropy(u, now), now);
}
