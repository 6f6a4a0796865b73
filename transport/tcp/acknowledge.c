// SPDX-License-Identifier: MIT
// ACKs of a receiver: their times and their content.
//
// In order: one ACK for delayed_ack.segments segments of any size, or after delayed_ack.timeout
// (RFC 9293, section 3.8.6.3), except for the first quick_ack segments of a connection. A segment
// that leaves data out of order, fills a gap or has arrived before is acknowledged at once (RFC
// 5681, section 4.2). With sack_compression the fourth and further ACKs for one gap wait up to that
// time, at most a twentieth of the RTT and 44 segments, plus the slack of the kernel's timer
// (Linux: tcp_comp_sack_* in ip-sysctl.rst).
#include "transport/tcp/tcp.h"

#define GAP_ACKS 3                             // sent at once
#define COMPRESSED_MAX 44                      // tcp_comp_sack_nr
#define COMPRESSION_SHARE 20                   // of the RTT
#define COMPRESSION_SLACK_PS (100 * PS_PER_US) // tcp_comp_sack_slack_ns
#define FIN_RTO_PS (200 * PS_PER_MS)

static const struct tcp_spec *spec_of(const struct tcp_receiver *r)
{
    return tcp_spec_const(&r->base.dim->spec);
}

static struct engine *engine_of(const struct tcp_receiver *r)
{
    return r->base.dim->hosts->net->engine;
}

/* ---- content ---- */

// Returns the window to advertise. Its end never retreats, and less than one segment of room counts
// as none (RFC 9293, section 3.8.6.2.2).
__attribute__((always_inline)) static inline uint64_t window(struct tcp_receiver *r)
{
    const struct transport_dim *dim = r->base.dim;
    uint64_t size = dim->hosts->flows.ids[r->base.flow].window_bytes;
    uint64_t room = size > r->unread ? size - r->unread : 0;
    uint8_t scale = dim->hosts->flows.ids[r->base.flow].window_scale;
    room = room < dim->mtu_bytes ? 0 : room >> scale << scale;
    if (r->expected + room > r->edge)
        r->edge = r->expected + room;
    return (r->edge - r->expected) >> scale << scale;
}

// Write the SACK blocks: a duplicate first (RFC 2883), then the most recent ranges.
static unsigned write_sacks(struct tcp_receiver *r, struct sack_block *blocks, unsigned room)
{
    unsigned n = 0;
    if (r->duplicate.end > r->duplicate.start)
        blocks[n++] = (struct sack_block){(uint32_t)r->duplicate.start, (uint32_t)r->duplicate.end};
    r->duplicate = (struct byte_range){0};
    for (uint32_t i = 0; r->early && i < r->early->n_recent && n < room; i++)
        blocks[n++] = (struct sack_block){(uint32_t)r->early->recent[i].start,
                                          (uint32_t)r->early->recent[i].end};
    return n;
}

// Blocks that an ACK has room for: in the header, and in the packet's meta-data.
static unsigned sack_room(const struct tcp_receiver *r)
{
    unsigned room = tcp_sack_room(spec_of(r)), most = META_SACKS - (r->back ? TCP_OWN_NUMBER : 0);
    return room < most ? room : most;
}

static bool has_sacks(const struct tcp_receiver *r)
{
    return spec_of(r)->sack &&
           (r->duplicate.end > r->duplicate.start || (r->early && r->early->n_recent > 0));
}

static uint8_t echo(struct tcp_receiver *r)
{
    bool marked = r->exact_marks ? r->ce : r->echoes;
    r->base.dim->hosts->counters.echoed_marks += marked;
    return marked ? PACKET_ECHO_CE : 0;
}

static struct packet_sizes size_of(const struct tcp_receiver *r, uint8_t control, unsigned n_sacks)
{
    const struct transport_dim *dim = r->base.dim;
    if (control & TCP_SYN)
        return tcp_syn_sizes(&dim->spec);
    return n_sacks > 0 ? tcp_ack_sizes(&dim->spec, n_sacks) : dim->ack;
}

static void write_meta(struct tcp_receiver *r, uint32_t slot, uint8_t control, ps_t now)
{
    struct meta_pool *pool = &r->base.dim->hosts->net->meta;
    uint64_t window_bytes = window(r);
    if (control & TCP_SYN && window_bytes > TCP_FIELD_MAX) { // a SYN's window is not scaled
        window_bytes = TCP_FIELD_MAX;
    }
    *meta_at(pool, slot) = (struct packet_meta){
        .sent_ps = r->echo_ps,
        .window_bytes = window_bytes,
        .seq = (uint32_t)(r->expected + r->fin_received),
        .clock_ms = (uint32_t)(now / PS_PER_MS),
        .tcp_control = control | (r->closed ? TCP_AFTER_FIN : 0),
        .connection = r->connection,
    };
    struct packet_meta *meta = meta_at(pool, slot);
    if (r->back) {
        meta_sacks(pool, slot)[0] = (struct sack_block){(uint32_t)r->back->nxt_bytes, 0};
        meta->n_sacks = TCP_OWN_NUMBER;
    }
    if (!(control & TCP_SYN) && has_sacks(r))
        meta->n_sacks +=
            (uint8_t)write_sacks(r, meta_sacks(pool, slot) + meta->n_sacks, sack_room(r));
}

// Record that all data that has arrived is acknowledged now: no ACK is owed or delayed.
static void note_acked(struct tcp_receiver *r)
{
    r->owes = r->due = false;
    r->shows_hold = TCP_HOLD_HIDDEN;
    r->acked = r->expected;
    r->held = r->compressed = 0;
}

void tcp_reply(struct tcp_receiver *r, uint8_t control, ps_t now)
{
    struct network *net = r->base.dim->hosts->net;
    uint32_t slot = meta_alloc(&net->meta);
    write_meta(r, slot, control, now);
    meta_note_made(&net->meta, slot, now);
    unsigned sacks = meta_at(&net->meta, slot)->n_sacks - (r->back ? TCP_OWN_NUMBER : 0u);
    struct packet_sizes size = size_of(r, control, sacks);
    struct packet ack = {.flow = r->base.flow,
                         .dst = r->src_node,
                         .entropy = r->entropy,
                         .meta = slot,
                         .frame_bytes = (uint16_t)size.frame,
                         .wire_bytes = (uint16_t)size.wire,
                         .kind = PACKET_ACK,
                         .ingress = PACKET_OWN,
                         .cls = r->cls,
                         .flags = control & TCP_SYN ? 0 : echo(r),
                         .arrives_ps = now};
    if (r->owes && r->shows_hold && now > r->owed_ps) {
        bool timer = r->shows_hold == TCP_HOLD_TIMER;
        meta_keep_held(&net->meta, slot, (struct meta_held){r->owed_ps, now, timer});
        ack.flags |= PACKET_HELD;
    }
    note_acked(r);
    if (control & TCP_FIN) {
        ps_t rto_ps = FIN_RTO_PS + r->rtt_ps;
        sim_timer_start(engine_of(r), &r->timer, now + (rto_ps << (r->fin_tries & 7)));
    } else if (!r->closed && sim_timer_active(&r->timer)) {
        sim_timer_stop(&r->timer);
    }
    port_enqueue(net, r->port, &ack, now);
}

void tcp_carry_ack(struct tcp_receiver *r, struct packet *p, ps_t now)
{
    struct meta_pool *pool = &r->base.dim->hosts->net->meta;
    struct sack_block *blocks = meta_sacks(pool, p->meta);
    (void)now;
    blocks[0] = (struct sack_block){(uint32_t)r->expected, (uint32_t)window(r)};
    blocks[1] = (struct sack_block){(uint32_t)r->echo_ps, (uint32_t)((uint64_t)r->echo_ps >> 32)};
    unsigned n = TCP_CARRIED;
    if (has_sacks(r))
        n += write_sacks(r, blocks + n, META_SACKS - TCP_CARRIED);
    meta_at(pool, p->meta)->n_sacks = (uint8_t)n;
    p->flags |= echo(r);
    note_acked(r);
    if (sim_timer_active(&r->timer))
        sim_timer_stop(&r->timer);
}

/* ---- time ---- */

static void hold(struct tcp_receiver *r, ps_t now)
{
    if (!r->owes)
        r->owed_ps = now;
    r->owes = true;
}

// Send an ACK now, or when the segment that is arriving has been handled.
static void reply(struct tcp_receiver *r, ps_t now)
{
    if (!r->arriving) {
        tcp_reply(r, 0, now);
        return;
    }
    hold(r, now);
    r->due = true;
}

void tcp_flush_ack(struct tcp_receiver *r, ps_t now)
{
    const struct tcp_spec *spec = spec_of(r);
    r->arriving = false;
    if (!r->due)
        return;
    r->due = false;
    if (r->back->place == SENDER_IDLE)
        tcp_reply(r, 0, now);
    else if (!sim_timer_active(&r->timer)) // in case the data that carries the ACK is not sent
        sim_timer_start(engine_of(r), &r->timer,
                        now + tcp_tick_delay(spec->tick_ps, spec->delack_ps, now));
}

static void compress(struct tcp_receiver *r, ps_t now)
{
    ps_t longest_ps = spec_of(r)->sack_compression_ps, share_ps = r->rtt_ps / COMPRESSION_SHARE;
    if (longest_ps == 0 || !spec_of(r)->sack || r->sack_acks < GAP_ACKS ||
        r->compressed >= COMPRESSED_MAX) {
        r->sack_acks++;
        reply(r, now);
        return;
    }
    r->compressed++;
    hold(r, now);
    if (!sim_timer_active(&r->timer))
        sim_timer_start(engine_of(r), &r->timer,
                        now + (share_ps < longest_ps ? share_ps : longest_ps) +
                            COMPRESSION_SLACK_PS);
}

static void delay(struct tcp_receiver *r, ps_t now)
{
    const struct tcp_spec *spec = spec_of(r);
    if (r->quick > 0 || ++r->held >= spec->delack_segments) {
        r->quick -= r->quick > 0;
        reply(r, now);
        return;
    }
    hold(r, now);
    if (!sim_timer_active(&r->timer))
        sim_timer_start(engine_of(r), &r->timer,
                        now + tcp_tick_delay(spec->tick_ps, spec->delack_ps, now));
}

void tcp_acknowledge(struct tcp_receiver *r, enum tcp_ack_kind kind, ps_t now)
{
    if (r->closed || kind == TCP_ACK_NOW)
        reply(r, now);
    else if (kind == TCP_ACK_GAP)
        compress(r, now);
    else
        delay(r, now);
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct tcp_receiver *r = timer->data;
    if (r->back) {
        sender_catch_up(r->back, e->now_ps); // data may have carried the ACK
        if (!r->owes)
            return;
    }
    if (!r->closed) {
        r->shows_hold = TCP_HOLD_TIMER;
        tcp_reply(r, 0, e->now_ps);
    } else if (!r->fin_acked && r->fin_tries < spec_of(r)->retries) {
        r->fin_tries++;
        tcp_reply(r, TCP_FIN, e->now_ps);
    }
}

// The application reads everything: advertise the window if it was smaller.
static void on_reader(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct tcp_receiver *r = timer->data;
    r->unread = 0;
    if (r->open)
        tcp_reply(r, 0, e->now_ps);
}

void tcp_receiver_timers_init(struct tcp_receiver *r)
{
    uint32_t rank = r->base.dim->hosts->flows.ids[r->base.flow].dst;
    sim_timer_init(engine_of(r), &r->timer, rank, on_timer, r);
    sim_timer_init(engine_of(r), &r->reader, rank, on_reader, r);
}
