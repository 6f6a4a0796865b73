// SPDX-License-Identifier: MIT
// The receiver of a connection: data in order and out of order, ECN marks, messages, close.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "transport/tcp/tcp.h"

#define QUICK_AFTER_MARK 2 // segments

static struct hosts *hosts_of(const struct tcp_receiver *r) { return r->base.dim->hosts; }

/* ---- life ---- */

// The connection is open before the run: set the state that a handshake would have left.
static void establish(struct tcp_receiver *r, const struct flow_id *id)
{
    const struct hosts *hosts = hosts_of(r);
    const struct host_paths *paths = &hosts->paths;
    r->open = true;
    r->connection = (uint8_t)id->src_conn;
    r->edge = r->expected + (id->window_bytes >> id->window_scale << id->window_scale);
    r->rtt_ps = paths->path(paths->ctx, id->src, id->dst, id->dim, id->transport, 0).base_rtt_ps;
    r->entropy = id->back_entropy;
    r->quick = (uint32_t)tcp_spec_const(&r->base.dim->spec)->quick_ack;
}

void tcp_open_receiver(struct receiver *base)
{
    struct tcp_receiver *r = (struct tcp_receiver *)base;
    const struct transport_dim *dim = base->dim;
    const struct flow_id *id = &hosts_of(r)->flows.ids[base->flow];
    r->src_node = id->src_node;
    r->cls = id->cls & 7u;
    r->exact_marks = dim->cc->needs & CC_NEEDS_CE_SHARE;
    tcp_receiver_timers_init(r);
    if (id->established)
        establish(r, id);
    if (id->duplex) {
        r->back = hosts_opposite(hosts_of(r), base->flow);
        tcp_of(r->back)->back = r;
    }
}

static void early_free(struct tcp_receiver *r)
{
    if (!r->early)
        return;
    ranges_free(&r->early->ranges);
    free(r->early->ends);
    free(r->early);
    r->early = NULL;
}

void tcp_close_receiver(struct receiver *r) { early_free((struct tcp_receiver *)r); }

uint64_t tcp_received_bytes(const struct receiver *base, const struct message *m)
{
    uint64_t byte = ((const struct tcp_receiver *)base)->expected, end = m->start_byte + m->bytes;
    if (byte <= m->start_byte)
        return 0;
    return (byte < end ? byte : end) - m->start_byte;
}

void tcp_hand_over_receiver(struct parcel *p, struct receiver *base)
{
    PARCEL(p, ((struct tcp_receiver *)base)->expected);
}

// A SYN: the start of a connection, or the repetition of a SYN whose answer was lost.
static void on_syn(struct tcp_receiver *r, const struct packet_meta *meta, ps_t now)
{
    const struct flow_id *id = &hosts_of(r)->flows.ids[r->base.flow];
    if (!r->open || r->connection != meta->connection) {
        early_free(r);
        sim_timer_stop(&r->timer);
        r->open = true;
        r->connection = meta->connection;
        r->expected = r->acked = seq_restore(meta->seq + 1, r->expected);
        r->edge = r->expected;
        r->unread = 0;
        r->rtt_ps = 0;
        r->entropy = id->back_entropy;
        r->quick = (uint32_t)tcp_spec_const(&r->base.dim->spec)->quick_ack;
        r->fin_tries = 0;
        r->closed = r->fin_received = r->fin_acked = r->ce = r->echoes = false;
        r->sack_acks = r->held = r->compressed = 0;
        r->owes = false;
        r->shows_hold = TCP_HOLD_HIDDEN;
        r->duplicate = (struct byte_range){0};
    }
    r->echo_ps = meta->sent_ps;
    r->syn_ack_ps = now;
    tcp_reply(r, TCP_SYN, now);
}

/* ---- packets without payload ---- */

static void on_control(struct tcp_receiver *r, const struct packet_meta *meta, ps_t now)
{
    uint64_t byte = seq_restore(meta->seq, r->expected);
    if (meta->tcp_control & TCP_RST) {
        early_free(r);
        sim_timer_stop(&r->timer);
        r->open = false;
        return;
    }
    if (meta->tcp_control & TCP_AFTER_FIN && !r->fin_acked) {
        r->fin_acked = true;
        sim_timer_stop(&r->timer);
    }
    if (r->rtt_ps == 0 && byte == r->expected)
        r->rtt_ps = now - r->syn_ack_ps;
    if (meta->tcp_control & TCP_FIN) {
        r->fin_received |= byte == r->expected;
        tcp_reply(r, 0, now);
    } else if (byte < r->expected) { // a probe of the window
        tcp_reply(r, 0, now);
    }
}

/* ---- ECN ---- */

// The receiver of DCTCP acknowledges at once when CE changes, so that the echo of an ACK holds for
// all bytes that it covers (RFC 8257, section 3.2). Otherwise ECE is set from a CE mark until the
// sender answers with CWR (RFC 3168, section 6.1.3); as in Linux the segments around these changes
// are acknowledged one by one, since the sender's window may be small. Returns true if the segment
// must be acknowledged at once.
static bool note_mark(struct tcp_receiver *r, const struct packet *p, uint8_t control, ps_t now)
{
    bool ce = p->flags & PACKET_CE;
    if (r->exact_marks) {
        if (ce != r->ce && r->expected > r->acked)
            tcp_reply(r, 0, now);
        r->ce = ce;
        return false;
    }
    if (control & TCP_CWR)
        r->echoes = false;
    if (ce && !r->echoes && r->quick < QUICK_AFTER_MARK)
        r->quick = QUICK_AFTER_MARK;
    r->echoes |= ce;
    return control & TCP_CWR;
}

/* ---- data out of order ---- */

static void note_end(struct tcp_early *early, uint64_t byte, uint64_t token)
{
    if (early->n_ends == early->cap_ends)
        early->ends = memory_grow(early->ends, &early->cap_ends, sizeof *early->ends);
    size_t at = early->n_ends++;
    for (; at > 0 && early->ends[at - 1].byte > byte; at--)
        early->ends[at] = early->ends[at - 1];
    early->ends[at] = (struct tcp_end){byte, token};
}

// Insert the range at the front of the list of SACK blocks, and remove the blocks that it touches.
static void note_recent(struct tcp_early *early, struct byte_range range)
{
    uint32_t n = 0;
    struct byte_range kept[TCP_SACK_BLOCKS] = {0};
    for (uint32_t i = 0; i < early->n_recent && n < TCP_SACK_BLOCKS - 1; i++) {
        const struct byte_range *old = &early->recent[i];
        if (old->end < range.start || old->start > range.end)
            kept[n++] = *old;
    }
    early->recent[0] = range;
    memcpy(&early->recent[1], kept, n * sizeof *kept);
    early->n_recent = n + 1;
}

// An ACK has room for only a few blocks. Before the third or a later block, or a new range after
// two or more, moves to the front, an ACK that is held back is sent, because later ACKs may omit
// the blocks behind it (Linux: tcp_sack_compress_send_ack(), TCP_SACK_BLOCKS_EXPECTED).
#define BLOCKS_EXPECTED 2
static void report_blocks(struct tcp_receiver *r, struct byte_range range, ps_t now)
{
    uint32_t at = 0;
    while (at < r->early->n_recent &&
           (r->early->recent[at].end < range.start || r->early->recent[at].start > range.end))
        at++;
    if (at >= BLOCKS_EXPECTED && r->compressed > 0)
        tcp_reply(r, 0, now);
}

// Returns false if the data had arrived before.
static bool keep_early(struct tcp_receiver *r, const struct packet *p, struct byte_range range,
                       uint64_t token, ps_t now)
{
    if (!r->early)
        r->early = memory_zeroed(1, sizeof *r->early);
    report_blocks(r, range, now);
    int added;
    struct byte_range all = ranges_add(&r->early->ranges, range, &added);
    note_recent(r->early, all);
    if (added && p->flags & PACKET_LAST)
        note_end(r->early, range.end, token);
    return added;
}

// Remove the SACK blocks of data that is now in order.
static void drop_recent(struct tcp_early *early, uint64_t expected)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < early->n_recent; i++)
        if (early->recent[i].start > expected)
            early->recent[n++] = early->recent[i];
    early->n_recent = n;
}

/* ---- data in order ---- */

static void deliver(const struct tcp_receiver *r, uint64_t token, ps_t now)
{
    hosts_deliver(hosts_of(r), token, now);
}

// Deliver the messages that data out of order had completed before. The callbacks may post
// messages, but never to this receiver.
static void deliver_early(struct tcp_receiver *r, ps_t now)
{
    struct tcp_early *early = r->early;
    size_t n = 0;
    while (n < early->n_ends && early->ends[n].byte <= r->expected)
        deliver(r, early->ends[n++].token, now);
    early->n_ends -= n;
    if (n > 0)
        memmove(early->ends, early->ends + n, early->n_ends * sizeof *early->ends);
}

// The application does not read between read_stop and read_resume.
static void read_data(struct tcp_receiver *r, uint64_t bytes, ps_t now)
{
    const struct tcp_spec *spec = tcp_spec_const(&r->base.dim->spec);
    if (now < spec->read_stop_ps || now >= spec->read_resume_ps)
        return;
    r->unread += bytes;
    if (!sim_timer_active(&r->reader) && spec->read_resume_ps != PARAM_AUTO_TIME)
        sim_timer_start(hosts_of(r)->net->engine, &r->reader, spec->read_resume_ps);
}

// Returns true if the data fills a gap.
static bool advance(struct tcp_receiver *r, uint64_t end, ps_t now)
{
    uint64_t before = r->expected;
    r->expected = end;
    r->sack_acks = 0;
    bool fills = false;
    if (r->early) {
        r->expected = ranges_take(&r->early->ranges, end);
        drop_recent(r->early, r->expected);
        fills = r->expected > end;
    }
    read_data(r, r->expected - before, now);
    return fills;
}

static bool early_is_empty(const struct tcp_receiver *r)
{
    return !r->early || r->early->ranges.n == 0;
}

static void in_order(struct tcp_receiver *r, const struct packet *p, struct byte_range range,
                     bool at_once, uint64_t token, ps_t now)
{
    bool fills = advance(r, range.end, now), last = p->flags & PACKET_LAST;
    bool ends = last || (fills && r->early->n_ends > 0);
    if (ends && r->base.dim->fresh_connections && !r->closed) {
        r->closed = true; // the application closes when it has read the only message
        tcp_reply(r, TCP_FIN, now);
    } else if (!early_is_empty(r)) {
        tcp_acknowledge(r, TCP_ACK_GAP, now);
    } else {
        tcp_acknowledge(r, fills || at_once ? TCP_ACK_NOW : TCP_ACK_DELAYED, now);
    }
    if (ends && r->owes)
        r->shows_hold = TCP_HOLD_END;
    if (last)
        deliver(r, token, now);
    if (fills)
        deliver_early(r, now);
}

static void on_segment(struct tcp_receiver *r, struct packet *p, ps_t now)
{
    const struct packet_meta meta = *meta_at(&hosts_of(r)->net->meta, p->meta);
    uint64_t start = seq_restore(meta.seq, r->expected);
    struct byte_range range = {start, start + meta.payload_bytes};
    if (meta.tcp_control & TCP_SYN) {
        on_syn(r, &meta, now);
        return;
    }
    if (!r->open || meta.connection != r->connection)
        return;
    if (meta.payload_bytes == 0) {
        on_control(r, &meta, now);
        return;
    }
    bool at_once = note_mark(r, p, meta.tcp_control, now);
    if (start <= r->acked) // RFC 7323, section 4.3
        r->echo_ps = meta.sent_ps;
    bool fresh = start >= r->expected && range.end <= r->edge;
    if (fresh && start > r->expected)
        fresh = keep_early(r, p, range, meta.token, now);
    if (fresh)
        hosts_progress(hosts_of(r), meta.payload_bytes, now);
    if (!fresh) {
        if (range.end <= r->edge)
            r->duplicate = range;
        tcp_acknowledge(r, TCP_ACK_NOW, now);
    } else if (start == r->expected) {
        in_order(r, p, range, at_once, meta.token, now);
    } else {
        tcp_acknowledge(r, TCP_ACK_GAP, now);
    }
}

// On a duplex connection the order is that of Linux (tcp_rcv_established()): the ACK that the
// segment carries, its data, data that may be sent now, and an ACK if none of it has carried one.
__attribute__((noinline)) static void duplex_begin(struct tcp_receiver *r, const struct packet *p,
                                                   ps_t now)
{
    sender_catch_up(r->back, now);
    sender_begin(r->back);
    if (meta_at(&hosts_of(r)->net->meta, p->meta)->n_sacks > 0)
        tcp_on_carried(r->back, p, now);
    r->arriving = true;
}

__attribute__((noinline)) static void duplex_end(struct tcp_receiver *r, ps_t now)
{
    sender_end(r->back, now);
    tcp_flush_ack(r, now);
}

void tcp_on_data(struct receiver *base, uint32_t port, struct packet *p, ps_t now)
{
    struct tcp_receiver *r = (struct tcp_receiver *)base;
    r->port = port;
    if (r->back)
        duplex_begin(r, p, now);
    on_segment(r, p, now);
    if (r->back)
        duplex_end(r, now);
}
