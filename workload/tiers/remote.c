// SPDX-License-Identifier: MIT
// Copies from and to remote tiers: messages between a rank and the hosts of the tier's memory.
//
// A tier's bytes are striped over its hosts in turn; a rank goes on at the host behind its last
// stripe, and begins at host `rank` modulo their number. A read sends one request to each host that
// has a part of it; the host reads its part stripe by stripe and sends each as a message. A write
// sends a message for each stripe; a host answers once, when it has written its part. The memory of
// a host serves all parts that are open in turn, one stripe at a time, reads and writes together or
// beside each other as the tier says; a part may be served `latency` after its message has arrived.
// The local end of a copy is read (written) by the stripe, in the order in which stripes are sent
// (arrive), so memories and network overlap.
//
// Not modelled: replicas and parity, and jobs that share the memory of a host.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/critical_path.h"
#include "workload/tiers/copies_internal.h"

enum message_kind { MESSAGE_REQUEST, MESSAGE_READ, MESSAGE_WRITE, MESSAGE_ANSWER };

struct tier_message {
    struct copy_share *share;
    uint64_t bytes;
    uint8_t kind; // enum message_kind
};

// One direction of a host's memory, or both.
struct tier_server {
    struct tier_host *host;
    struct sim_timer timer;
    struct copy_share *first, *last; // parts with bytes that are ready, in turn
    struct copy_share *served;       // NULL = idle
    uint64_t piece;                  // bytes of it that are being read or written
    bool writes;                     // the piece
};

struct tier_arrival {
    struct copy_share *share;
    uint64_t bytes;
    ps_t ready_ps;
};

struct tier_host {
    struct copies *owner;
    const struct tier *tier;
    uint32_t rank;                 // of the network
    struct tier_server servers[2]; // [writes], if reads and writes have bandwidths of their own
    struct sim_timer timer;        // of the first arrival that is not ready yet
    struct tier_arrival *arrivals; // [first, n)
    size_t first, n, cap;
};

struct tier_hosts {
    struct tier_host *items; // [n_hosts]
};

/* ---- messages ---- */

static void message_post(struct copy_share *share, enum message_kind kind, uint64_t bytes, ps_t now)
{
    struct copies *c = share->copy->owner;
    const struct tier_host *h = share->host;
    bool to_host = kind == MESSAGE_REQUEST || kind == MESSAGE_WRITE;
    uint32_t rank = copies_node(c, share->copy->rank);
    uint32_t number = slots_take(&c->numbers, c->messages);
    c->messages[number] = (struct tier_message){share, bytes, (uint8_t)kind};
    struct transfer_request request = {
        .src = to_host ? rank : h->rank,
        .dst = to_host ? h->rank : rank,
        .bytes = bytes,
        .job = c->env.job,
        .channel = (uint32_t)(h->tier - c->env.tiers->items), // a connection for each tier
        .cls = h->tier->p.cls != PARAM_AUTO ? (uint32_t)h->tier->p.cls : c->env.cls,
        .transport = c->env.transport,
        .joined = true,
        .token = c->env.token | number,
        .origin = {.op = "copy", .name = h->tier->name}};
    tally_add(c->env.messages, 1);
    c->env.transfer->post(c->env.transfer->net, &request, now);
}

void copies_sent(struct copies *c, uint64_t token) { slots_give(&c->numbers, (uint32_t)token); }

/* ---- the memory of a host ---- */

static void server_next(struct tier_server *s, ps_t now)
{
    struct copy_share *share = s->first;
    const struct tier *t = s->host->tier;
    if (s->served != NULL || share == NULL)
        return;
    s->first = share->next;
    s->last = s->first == NULL ? NULL : s->last;
    share->queued = false;
    s->served = share;
    s->writes = copy_writes(share->copy);
    s->piece = share->ready < t->p.stripe_bytes ? share->ready : t->p.stripe_bytes;
    uint64_t rate = tier_rate(t, s->writes);
    ps_t takes_ps = rate == PARAM_AUTO ? 0 : serialization_ps(s->piece, rate);
    copies_timer_start(s->host->owner, &s->timer, now + takes_ps);
}

static void server_queue(struct tier_server *s, struct copy_share *share)
{
    if (share->queued || share->ready == 0 || s->served == share)
        return;
    share->queued = true;
    share->next = NULL;
    if (s->last != NULL)
        s->last->next = share;
    else
        s->first = share;
    s->last = share;
}

static void piece_ended(struct tier_server *s, struct copy_share *share, ps_t now)
{
    uint64_t piece = s->piece;
    s->served = NULL;
    share->ready -= piece;
    share->left -= piece;
    server_queue(s, share);
    if (!s->writes)
        message_post(share, MESSAGE_READ, piece, now);
    else if (share->left == 0)
        message_post(share, MESSAGE_ANSWER, s->host->tier->p.request_bytes, now);
}

static void on_served(struct engine *e, struct sim_timer *timer, int revents)
{
    struct tier_server *s = timer->data;
    struct copies *c = s->host->owner;
    struct path_book *book = c->env.path_book;
    struct copy_share *share = s->served;
    ps_t now = e->now_ps;
    (void)revents;
    tally_add(c->env.pending, -1);
    uint32_t path = path_own(book, share->path);
    path_extend(book, path, PATH_MEMORY, now);
    share->path = share->left > s->piece ? path_hold(book, path) : 0;
    uint32_t before = path_enter(book, path);
    piece_ended(s, share, now);
    server_next(s, now);
    path_leave(book, before);
}

// Bytes of a part may be read or written from now on.
static void become_ready(struct tier_host *h, struct copy_share *share, uint64_t bytes, ps_t now)
{
    struct tier_server *s = &h->servers[copy_writes(share->copy) && !tier_is_joint(h->tier)];
    share->ready += bytes;
    server_queue(s, share);
    server_next(s, now);
}

static void on_ready(struct engine *e, struct sim_timer *timer, int revents)
{
    struct tier_host *h = timer->data;
    (void)revents;
    tally_add(h->owner->env.pending, -1);
    while (h->first < h->n && h->arrivals[h->first].ready_ps <= e->now_ps) {
        struct tier_arrival a = h->arrivals[h->first++];
        become_ready(h, a.share, a.bytes, e->now_ps);
    }
    if (h->first == h->n)
        h->first = h->n = 0;
    else
        copies_timer_start(h->owner, &h->timer, h->arrivals[h->first].ready_ps);
}

static void arrive(struct copy_share *share, uint64_t bytes, ps_t now)
{
    struct tier_host *h = share->host;
    struct path_book *book = h->owner->env.path_book;
    uint32_t earlier = share->path;
    share->path = path_take(book, now);
    path_drop(book, earlier);
    if (h->tier->p.latency_ps == 0) {
        become_ready(h, share, bytes, now);
        return;
    }
    if (h->n == h->cap)
        h->arrivals = memory_grow(h->arrivals, &h->cap, sizeof *h->arrivals);
    h->arrivals[h->n++] = (struct tier_arrival){share, bytes, now + h->tier->p.latency_ps};
    if (!sim_timer_active(&h->timer))
        copies_timer_start(h->owner, &h->timer, h->arrivals[h->first].ready_ps);
}

/* ---- the rank's end ---- */

// The local memory has read or written copy->moving bytes. Returns true if the copy has ended.
static bool moved(struct copy *copy, ps_t now)
{
    uint64_t bytes = copy->moving;
    copy->moving = 0;
    copy->waiting -= bytes;
    if (copy_writes(copy)) {
        message_post(&copy->shares[copy->place], MESSAGE_WRITE, bytes, now);
        copy->place = (copy->place + 1) % copy->remote->n_hosts;
        return false;
    }
    copy->left -= bytes;
    if (copy->left > 0)
        return false;
    copy_end(copy, now);
    return true;
}

// Write what has arrived, or read stripe after stripe, unless the local memory is at work.
static void move_on(struct copy *copy, ps_t now)
{
    uint64_t stripe = copy->remote->p.stripe_bytes;
    while (copy->moving == 0 && copy->waiting > 0) {
        copy->moving = copy_writes(copy) && copy->waiting > stripe ? stripe : copy->waiting;
        if (!copy_move(copy, copy->moving, now) && moved(copy, now))
            return;
    }
}

void remote_moved(struct copy *copy, ps_t now)
{
    if (!moved(copy, now))
        move_on(copy, now);
}

// Divide the bytes of a copy among the hosts, by the stripe.
static void divide(struct copy *copy)
{
    struct copies *c = copy->owner;
    const struct tier *t = copy->remote;
    uint32_t tier = (uint32_t)(t - c->env.tiers->items), n = t->n_hosts;
    uint32_t *place = &c->places[tier][copy->rank];
    uint64_t stripe = t->p.stripe_bytes, stripes = (copy->step.bytes + stripe - 1) / stripe;
    if (copy->cap_shares < n)
        copy->shares = memory_resize(copy->shares, copy->cap_shares = n, sizeof *copy->shares);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t host = (*place + i) % n;
        uint64_t part = (stripes / n + (i < stripes % n)) * stripe;
        if (stripes > 0 && i == (stripes - 1) % n)
            part -= stripes * stripe - copy->step.bytes;
        copy->shares[host] =
            (struct copy_share){.copy = copy, .host = &c->remotes[tier].items[host], .left = part};
    }
    copy->place = *place;
    *place = (uint32_t)((*place + stripes) % n);
}

void remote_begin(struct copy *copy, ps_t now)
{
    const struct tier *t = copy->remote;
    bool writes = copy_writes(copy);
    divide(copy);
    copy->left = writes ? 0 : copy->step.bytes;
    copy->waiting = writes ? copy->step.bytes : 0;
    copy->moving = 0;
    for (uint32_t i = 0; i < t->n_hosts; i++) {
        struct copy_share *share = &copy->shares[(copy->place + i) % t->n_hosts];
        if (share->left == 0)
            continue;
        if (writes)
            copy->left++;
        else
            message_post(share, MESSAGE_REQUEST, t->p.request_bytes, now);
    }
    move_on(copy, now);
}

void copies_delivered(struct copies *c, uint64_t token, ps_t now)
{
    struct tier_message m = c->messages[(uint32_t)token];
    struct copy *copy = m.share->copy;
    switch ((enum message_kind)m.kind) {
    case MESSAGE_REQUEST:
        arrive(m.share, m.share->left, now);
        return;
    case MESSAGE_WRITE:
        arrive(m.share, m.bytes, now);
        return;
    case MESSAGE_READ:
        copy->waiting += m.bytes;
        move_on(copy, now);
        return;
    case MESSAGE_ANSWER:
        if (--copy->left == 0)
            copy_end(copy, now);
    }
}

/* ---- all hosts ---- */

static void host_init(struct tier_host *h)
{
    struct engine *e = h->owner->env.engine;
    for (unsigned i = 0; i < 2; i++) {
        h->servers[i].host = h;
        sim_timer_init_locked(e, &h->servers[i].timer, h->rank, on_served, &h->servers[i]);
    }
    sim_timer_init_locked(e, &h->timer, h->rank, on_ready, h);
}

void remotes_new(struct copies *c)
{
    const struct tier_set *tiers = c->env.tiers;
    c->remotes = memory_zeroed(tiers->n, sizeof *c->remotes);
    c->places = memory_zeroed(tiers->n, sizeof *c->places);
    for (uint32_t t = 0; t < tiers->n; t++) {
        const struct tier *tier = &tiers->items[t];
        if (tier->hosts == NULL)
            continue;
        c->remotes[t].items = memory_zeroed(tier->n_hosts, sizeof(struct tier_host));
        for (uint32_t i = 0; i < tier->n_hosts; i++) {
            c->remotes[t].items[i] =
                (struct tier_host){.owner = c, .tier = tier, .rank = tier->hosts[i]};
            host_init(&c->remotes[t].items[i]);
        }
        c->places[t] = memory_zeroed(c->env.n_ranks, sizeof **c->places);
        for (uint32_t r = 0; r < c->env.n_ranks; r++)
            c->places[t][r] = r % tier->n_hosts;
    }
}

void remotes_free(struct copies *c)
{
    for (uint32_t t = 0; t < c->env.tiers->n; t++) {
        for (uint32_t i = 0; i < c->env.tiers->items[t].n_hosts && c->remotes[t].items; i++) {
            struct tier_host *h = &c->remotes[t].items[i];
            sim_timer_end(c->env.engine, &h->servers[0].timer);
            sim_timer_end(c->env.engine, &h->servers[1].timer);
            sim_timer_end(c->env.engine, &h->timer);
            free(h->arrivals);
        }
        free(c->remotes[t].items);
        free(c->places[t]);
    }
    free(c->remotes);
    free(c->places);
    free(c->messages);
    slots_free(&c->numbers);
}
