// SPDX-License-Identifier: MIT
// The account of a sender's time.
#include "transport/sender/sender_time.h"

#include "transport/host.h"
#include "transport/nic/adapter.h"

static ps_t bytes_ps(const struct byte_time *bt, uint64_t bytes)
{
    return bt->den == 1 ? (ps_t)(bytes * bt->num) : byte_time_span(bt, bytes);
}

// Time that `bytes` take on the link of the sender's port.
static ps_t link_ps(const struct sender *s, uint64_t bytes)
{
    return bytes_ps(&port_link(sender_hosts(s)->net, s->port)->byte_time, bytes);
}

// End of the sender's last transmission, or the time until which waits are counted if that is
// later.
static ps_t uncounted_since(const struct sender *s)
{
    ps_t free_ps = s->last_start_ps + link_ps(s, s->last_wire_bytes);
    return free_ps > s->time->counted_ps ? free_ps : s->time->counted_ps;
}

// Returns how long, since the busy period began, the NIC itself has held up the sender's port and
// doorbells have held up the sender.
static ps_t host_ps(const struct sender *s, ps_t now)
{
    const struct sender_time_mark *mark = &sender_rare(s)->mark;
    ps_t held = adapter_held_ps(sender_hosts(s), s->port, now) - mark->held_before_ps;
    return mark->doorbell_ps + (held > 0 ? held : 0); // negative after a change of the port
}

void sender_time_begin(struct sender *s, ps_t now)
{
    const struct host_observer *observer = &sender_hosts(s)->observer;
    ps_t held_ps = adapter_held_ps(sender_hosts(s), s->port, now);
    if (s->time == sender_hosts(s)->no_time)
        s->time = slab_alloc(&sender_hosts(s)->times, sizeof *s->time);
    *s->time = (struct sender_time){
        .begin_ps = now, .counted_ps = now, .paused_mark_ps = s->nic->paused_total_ps};
    s->cold.marked = false;
    s->cold.resent_bytes = 0;
    if (s->cold.rare || held_ps > 0)
        sender_rare_make(s)->mark = (struct sender_time_mark){.held_before_ps = held_ps};
    s->cold.time_path = observer->busy ? observer->busy(observer->ctx, s->flow, now) : 0;
}

void sender_time_end(struct sender *s)
{
    struct hosts *hosts = sender_hosts(s);
    if (s->time == hosts->no_time)
        return;
    slab_give(&hosts->times, s->time);
    s->time = hosts->no_time;
}

static void count_wait(struct sender *s, ps_t *sum, ps_t now)
{
    struct sender_time *t = s->time;
    ps_t since = uncounted_since(s);
    if (since < now)
        *sum += now - since;
    if (t->counted_ps < now)
        t->counted_ps = now;
    t->paused_mark_ps = s->nic->paused_total_ps;
}

void sender_time_woken(struct sender *s, ps_t now) { count_wait(s, &s->time->window_ps, now); }

void sender_time_ack_held(struct sender *s, ps_t held_ps, ps_t now)
{
    ps_t wait_ps = now - uncounted_since(s);
    if (s->place != SENDER_IDLE || !sender_may_send(s) || wait_ps <= 0)
        return;
    ps_t part_ps = held_ps < wait_ps ? held_ps : wait_ps;
    sender_rare_make(s)->mark.ack_delay_ps += part_ps;
    s->time->window_ps -= part_ps; // count_wait() adds all of it
    count_wait(s, &s->time->window_ps, now);
}

void sender_time_written(struct sender *s, ps_t now)
{
    if (s->place == SENDER_IDLE && !sender_may_send(s))
        count_wait(s, &sender_rare_make(s)->mark.stack_ps, now);
}

void sender_time_timeout(struct sender *s, ps_t now)
{
    if (s->place == SENDER_IDLE)
        count_wait(s, &s->time->timeout_ps, now);
}

void sender_time_gap(struct sender *s, ps_t now)
{
    struct sender_time *t = s->time;
    ps_t since = uncounted_since(s), paced = s->next_send_ps < now ? s->next_send_ps : now;
    ps_t ready_ps = sender_ready_ps(s), ready = ready_ps < now ? ready_ps : now;
    if (ready > since) {
        s->cold.rare->mark.doorbell_ps += ready - since;
        since = ready;
    }
    if (paced > since) {
        t->pace_ps += paced - since;
        since = paced;
    }
    ps_t paused = s->nic->paused_total_ps - t->paused_mark_ps;
    t->paused_mark_ps = s->nic->paused_total_ps;
    if (since < now)
        t->paused_ps += paused < now - since ? paused : now - since;
}

void sender_account_split(const struct sender_account *a, const struct sender_totals *from,
                          ps_t from_ps, ps_t parts[PATH_CAUSES], ps_t now)
{
    const struct sender_totals *t = &a->now;
    uint64_t resent = t->resent_bytes - from->resent_bytes;
    ps_t left = now - from_ps;
    const struct {
        enum path_cause cause;
        ps_t ps;
    } waits[] = {
        {PATH_WINDOW, t->window_ps - from->window_ps},
        {PATH_ACK_DELAY, t->ack_delay_ps - from->ack_delay_ps},
        {PATH_PACE, t->pace_ps - from->pace_ps},
        {a->needs_credit ? PATH_CREDIT : PATH_PAUSED, t->paused_ps - from->paused_ps},
        {PATH_TIMEOUT, t->timeout_ps - from->timeout_ps},
        {PATH_RESENDING, bytes_ps(&a->byte_time, resent)},
        {PATH_SENDING, bytes_ps(&a->byte_time, t->sent_bytes - from->sent_bytes - resent)},
        {PATH_HOST, t->host_ps - from->host_ps},
        {PATH_STACK, t->stack_ps - from->stack_ps},
    };
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        ps_t part = waits[i].ps < left ? waits[i].ps : left;
        part = part > 0 ? part : 0; // negative if the sender has changed its port
        parts[waits[i].cause] = part;
        left -= part;
    }
    parts[PATH_NIC] = left;
}

// Waits that few senders have.
struct rare_waits {
    ps_t host_ps, stack_ps, ack_delay_ps;
};

// The totals of a time, and rare waits beside it.
static struct sender_totals totals(const struct sender_time *t, uint64_t resent_bytes,
                                   const struct rare_waits *waits, ps_t at_ps)
{
    return (struct sender_totals){.at_ps = at_ps,
                                  .window_ps = t->window_ps,
                                  .pace_ps = t->pace_ps,
                                  .paused_ps = t->paused_ps,
                                  .timeout_ps = t->timeout_ps,
                                  .host_ps = waits->host_ps,
                                  .stack_ps = waits->stack_ps,
                                  .ack_delay_ps = waits->ack_delay_ps,
                                  .sent_bytes = t->sent_bytes,
                                  .resent_bytes = resent_bytes};
}

// The last packet of a message is pulled for the first time.
static void message_sent(struct sender *s, const struct packet *p, ps_t now)
{
    struct hosts *hosts = sender_hosts(s);
    uint64_t token = meta_at(&hosts->net->meta, p->meta)->token;
    const struct sender_time_mark *before = s->cold.marked ? &s->cold.rare->mark : NULL;
    const struct sender_time_mark *own = &sender_rare(s)->mark;
    const struct rare_waits waits = {host_ps(s, now), own->stack_ps, own->ack_delay_ps};
    struct sender_account account = {
        .path = s->cold.time_path,
        .flow = s->flow,
        .marked = s->cold.marked,
        .needs_credit = s->nic->needs_credit,
        .byte_time = port_link(hosts->net, s->port)->byte_time,
        .transit_ps = sender_env(s)->base_rtt_ps / 2,
        .now = totals(s->time, s->cold.resent_bytes, &waits, s->time->begin_ps)};
    account.now.sent_bytes -= p->wire_bytes; // this packet's transmission is part of its transit
    if (before) {
        const struct rare_waits then = {before->host_ps, before->stack_mark_ps,
                                        before->ack_delay_mark_ps};
        account.mark = totals(&before->time, before->resent_bytes, &then, before->at_ps);
    }
    if (s->nxt < s->tail) {
        struct sender_time_mark *mark = &sender_rare_make(s)->mark;
        mark->time = *s->time;
        mark->resent_bytes = s->cold.resent_bytes;
        mark->host_ps = waits.host_ps;
        mark->stack_mark_ps = waits.stack_ps;
        mark->ack_delay_mark_ps = waits.ack_delay_ps;
        mark->at_ps = now + link_ps(s, p->wire_bytes);
        s->cold.marked = true;
    }
    hosts->observer.last_packet(hosts->observer.ctx, token, &account, now);
}

static void resent(struct sender *s, const struct packet *p)
{
    const struct hosts *hosts = sender_hosts(s);
    const struct meta_pool *pool = &hosts->net->meta;
    s->cold.resent_bytes += p->wire_bytes;
    if (hosts->observer.timeout_ps)
        pool->waits[p->meta].timeout_ps =
            hosts->observer.timeout_ps(hosts->observer.ctx, meta_at(pool, p->meta)->token);
}

void sender_time_sent(struct sender *s, const struct packet *p, ps_t now)
{
    struct sender_cold *cold = &s->cold;
    meta_keep_waits(&sender_hosts(s)->net->meta, p->meta);
    if (p->flags & PACKET_RETX)
        resent(s, p);
    else if (cold->time_path != 0)
        message_sent(s, p, now);
    if (s->nxt == s->tail && cold->time_path != 0) {
        const struct host_observer *observer = &sender_hosts(s)->observer;
        observer->idle(observer->ctx, s->flow, cold->time_path);
        cold->time_path = 0;
    }
}
