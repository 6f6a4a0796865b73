// SPDX-License-Identifier: MIT
// The ledger of messages: an entry for each message from its post to its end, and statistics over
// finished messages. It is between the clients of the packet network and the hosts.
//
// The source writes an entry when it posts the message, and the destination writes it once, when
// the message is delivered; the source reads this at the message's end, at least one ACK's path
// later. The index of the entry is the token that the message's packets carry.
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "sim/delivery/clear_to_send_internal.h"
#include "sim/delivery/completions.h"
#include "sim/delivery/ledger_entries.h"
#include "sim/delivery/message_path.h"
#include "sim/hybrid/hybrid.h"

// A flow count of a hint, off by a uniform random share of up to `error` in both directions; 0,
// which means unknown, stays 0, and others remain at least 1.
static uint32_t wrong_count(uint32_t count, double error, struct rng *rng)
{
    double wrong = count * (1 + error * (2 * rng_unit(rng) - 1)) + 0.5;
    return count == 0 ? 0 : wrong >= 1 ? (uint32_t)wrong : 1;
}

// Returns the hint that is passed to the transport.
static struct cc_hint hint_of(const struct ledger *l, const struct transfer_request *request,
                              uint32_t dim, uint32_t number)
{
    const struct delivery *delivery = l->delivery;
    const struct transport_spec *spec =
        &delivery->fabric->spec->dims[dim].stacks[request->transport].transport;
    struct cc_hint hint = request->hint;
    if (!spec->hints)
        return (struct cc_hint){0};
    // The draws belong to the message, so they do not depend on the order of posts.
    if (spec->hint_error > 0) {
        uint64_t message = (uint64_t)request->src << 32 | number;
        struct rng rng =
            rng_init(delivery->fabric->spec->seed, RNG_HINT, (uint32_t)hash_mix(message));
        hint.at_source = wrong_count(hint.at_source, spec->hint_error, &rng);
        hint.at_destination = wrong_count(hint.at_destination, spec->hint_error, &rng);
    }
    return hint;
}

bool ledger_is(const struct delivery *delivery, uint64_t slot, uint64_t token)
{
    return delivery->ledger->entries[slot].token == token;
}

ps_t ledger_least_ps(const struct delivery *delivery, const struct transfer_request *r)
{
    ps_t delivered_ps;
    uint32_t dim = fabric_request_dim(delivery->fabric, r);
    const struct transport_spec *spec =
        &hosts_dim(&delivery->fabric->hosts, dim, r->transport)->spec;
    uint64_t bytes = r->bytes;
    if (spec->admission != ADMISSION_NONE && bytes > spec->slot_bytes)
        bytes = spec->slot_bytes; // its pieces may take several ports
    ideal_message_ps(delivery->ideals, r->src, r->dst, dim, r->transport, bytes, &delivered_ps);
    return delivered_ps - delivered_ps / 64; // margin for rounding
}

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct ledger *l = net;
    uint32_t slot = ledger_entry_take(l, request->src);
    // The stripes and pieces of a message share one number.
    bool own = request->control || request->unrecorded, counts = !request->piece_of && !own;
    ledger_part(l, request->src)->n_messages += counts;
    l->n_posted[request->src] += counts;
    uint32_t number = request->piece_of ? request->piece_of : l->n_posted[request->src];
    uint32_t dim = fabric_request_dim(l->delivery->fabric, request);
    SIM_ASSERT(&l->delivery->fabric->engine, request->src, dim < l->delivery->fabric->spec->n_dims);
    l->entries[slot] = (struct ledger_entry){.token = request->token,
                                             .bytes = request->bytes,
                                             .job = (uint16_t)request->job,
                                             .src = request->src,
                                             .dst = request->dst,
                                             .number = number - 1,
                                             .control = own,
                                             .dim = (uint8_t)dim,
                                             .posted_ps = now,
                                             .posted = path_take(&l->delivery->path_book, now),
                                             .delivered_ps = PS_NEVER};
    if (l->origins)
        l->origins[slot] = request->origin;
    struct transfer_request below = *request;
    below.token = slot;
    below.hint = hint_of(l, request, dim, number);
    const struct delivery_watch *watch = &l->delivery->watch;
    if (watch->posted)
        watch->posted(watch->ctx, request, now);
    l->delivery->hosts.post(l->delivery->hosts.net, &below, now);
}

static void note(void *ctx, uint64_t slot, struct packet_note *note)
{
    const struct ledger *l = ctx;
    if (l->entries[slot].control)
        return;
    note->message = l->entries[slot].number;
    note->origin = l->origins[slot];
    note->set |= NOTE_MESSAGE;
}

/* ---- critical paths ---- */

static uint32_t busy(void *ctx, uint32_t flow, ps_t now)
{
    (void)flow;
    return path_take(&((const struct ledger *)ctx)->delivery->path_book, now);
}

static void idle(void *ctx, uint32_t flow, uint32_t path)
{
    (void)flow;
    path_drop(&((const struct ledger *)ctx)->delivery->path_book, path);
}

static void last_packet(void *ctx, uint64_t slot, const struct sender_account *account, ps_t now)
{
    const struct ledger *l = ctx;
    struct path_book *book = &l->delivery->path_book;
    struct ledger_entry *e = &l->entries[slot];
    uint32_t path = message_path(book, account, e->posted, e->posted_ps, now);
    e->posted = 0;
    e->path = path;
}

// A retransmission timer has expired. If all packets of the message have been sent, the wait for
// the timer began when the last packet was sent.
static void timed_out(void *ctx, const struct sender *s, ps_t now)
{
    const struct ledger *l = ctx;
    if (s->oldest == MESSAGE_NIL)
        return;
    struct ledger_entry *e = &l->entries[hosts_message(sender_hosts(s), s->oldest)->token];
    if (e->path == 0)
        return;
    // A packet that was sent before may be completing the message at its destination now; then the
    // time is not used.
    const struct path *path = path_at(&l->delivery->path_book, e->path);
    e->timeout_ps = now - __atomic_load_n(&path->end_ps, __ATOMIC_RELAXED);
}

// Packets carry this time to the destination, which must not use timeouts after their transmission.
static ps_t timeout_ps(void *ctx, uint64_t slot)
{
    return ((const struct ledger *)ctx)->entries[slot].timeout_ps;
}

static void spend(struct path_book *book, struct path *p, enum path_cause cause, ps_t ps,
                  enum path_place_kind kind, uint32_t place)
{
    path_add(book, p, cause, ps, kind, place);
    p->life[cause] += ps;
}

static enum path_cause cause_of_wait(uint32_t port)
{
    if (port & META_WAIT_STACK)
        return PATH_STACK;
    return port & META_WAIT_NIC ? PATH_HOST : PATH_QUEUED;
}

// Complete the path of a delivered message, from the first transmission of its last packet on. The
// packet that completed it may be a retransmission, or, if packets overtake each other, an earlier
// packet, whose waits are not recorded: then the time beyond that of an empty network counts as
// time in queues at unknown places.
static void arrive(const struct ledger *l, struct ledger_entry *e, ps_t now)
{
    const struct hosts *hosts = fabric_hosts_of(l->delivery->fabric, e->dst);
    struct path_book *book = &l->delivery->path_book;
    struct path *p = path_at(book, e->path);
    const struct arriving *by = &hosts->arriving;
    uint32_t flow = p->flow;
    ps_t left = now - p->end_ps;
    // The packet that completed the message was sent after the first transmission of the last
    // packet, so it is a retransmission.
    if (by->timed && by->sent_ps > p->end_ps) {
        ps_t again = by->sent_ps - p->end_ps;
        ps_t timeout = by->waits.timeout_ps < again ? by->waits.timeout_ps : again;
        spend(book, p, PATH_TIMEOUT, timeout, PLACE_FLOW, flow);
        spend(book, p, PATH_RESENDING, again - timeout, PLACE_FLOW, flow);
        left = now - by->sent_ps;
    }
    if (by->timed) {
        const struct meta_waits *waits = &by->waits;
        for (uint32_t i = 0; i < waits->n; i++) {
            ps_t wait = waits->wait_ps[i] < left ? waits->wait_ps[i] : left;
            spend(book, p, cause_of_wait(waits->port[i]), wait, PLACE_PORT,
                  META_WAIT_PORT(waits->port[i]));
            left -= wait;
        }
        spend(book, p, PATH_NETWORK, left, PLACE_NONE, 0);
    } else {
        ps_t transit = p->transit_ps < left ? p->transit_ps : left;
        spend(book, p, PATH_NETWORK, transit, PLACE_NONE, 0);
        spend(book, p, PATH_QUEUED, left - transit, PLACE_NONE, 0);
    }
    __atomic_store_n(&p->end_ps, now, __ATOMIC_RELAXED); // timed_out() may read it
}

/* ---- callbacks of the hosts ---- */

// Returns for how long the receiver has held back the ACK that ends a message after its delivery;
// neither program observes this time.
static ps_t held_ps(const struct delivery *delivery, const struct ledger_entry *e)
{
    const struct meta_held *held = &fabric_hosts_of(delivery->fabric, e->src)->acking;
    bool waited = held->made_ps > 0 && e->delivered_ps != PS_NEVER;
    return waited && e->delivered_ps >= held->owed_ps ? held->made_ps - e->delivered_ps : 0;
}

// Returns when the sender's program is notified of the end of its message: at the earliest when the
// receiver's program is notified, plus the time that the ACK took.
static ps_t sender_knows_ps(const struct delivery *delivery, const struct ledger_entry *e, ps_t now)
{
    ps_t due_ps = completion_due_ps(delivery, e->src, e->dim, now);
    if (e->delivered_ps == PS_NEVER)
        return due_ps;
    ps_t there_ps = completion_due_ps(delivery, e->dst, e->dim, e->delivered_ps);
    ps_t after_ps = there_ps + (now - e->delivered_ps);
    return due_ps > after_ps ? due_ps : after_ps;
}

static void delivered(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct ledger_entry *e = &l->entries[slot];
    if (e->failed) // the sender has reported failure already
        return;
    e->delivered_ps = now;
    arrive(l, e, now);
    struct completion c = {.token = e->token,
                           .bytes = e->bytes,
                           .path = path_hold(&l->delivery->path_book, e->path),
                           .late = PATH_OTHERS,
                           .due_ps = completion_due_ps(l->delivery, e->dst, e->dim, now),
                           .kind = COMPLETION_DELIVERED};
    completions_add(l->delivery, e->dst, e->dim, c, now);
}

// A message has entered the send buffer, so the program of the sender may go on. If the buffer was
// full, the program has waited for acknowledgements.
static void entered(void *ctx, uint64_t slot, ps_t now)
{
    const struct ledger *l = ctx;
    const struct ledger_entry *e = &l->entries[slot];
    if (!e->control)
        completions_entered(l->delivery, e->token, path_hold(&l->delivery->path_book, e->posted),
                            now);
}

// The time from delivery to the last ACK, less the time for which the receiver held the ACK, counts
// as network time, unless the ACK was lost.
static void sent(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct path_book *book = &l->delivery->path_book;
    const struct ledger_entry e = l->entries[slot]; // a copy, since the client may post
    const struct path *p = path_at(book, e.path);
    ps_t ended_ps = now - held_ps(l->delivery, &e);
    enum path_cause late = ended_ps - p->end_ps > 2 * p->transit_ps ? PATH_WINDOW : PATH_NETWORK;
    ledger_entry_give(l, slot);
    struct completion c = {.token = e.token,
                           .path = e.path,
                           .late = late,
                           .held_ps = now - ended_ps,
                           .due_ps = sender_knows_ps(l->delivery, &e, now),
                           .kind = COMPLETION_SENT};
    completions_add(l->delivery, e.src, e.dim, c, now);
}

// An entry that has failed is kept if the message may still be delivered.
static void failed(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct ledger_entry *e = &l->entries[slot];
    const struct completion c = {.token = e->token,
                                 .due_ps = sender_knows_ps(l->delivery, e, now),
                                 .kind = COMPLETION_FAILED};
    uint32_t src = e->src, dim = e->dim;
    e->failed = true;
    const struct delivery_watch *watch = &l->delivery->watch;
    if (watch->failed)
        watch->failed(watch->ctx);
    path_drop(&l->delivery->path_book, e->path);
    path_drop(&l->delivery->path_book, e->posted);
    e->path = e->posted = 0;
    if (e->delivered_ps != PS_NEVER)
        ledger_entry_give(l, slot);
    completions_add(l->delivery, src, dim, c, now);
}

// Extend the times of a record up to the notification of the ranks' programs.
static void add_completion(const struct delivery *delivery, const struct ledger_entry *e,
                           struct flow_record *record, ps_t now)
{
    if (record->fct_ps >= 0)
        record->fct_ps += sender_knows_ps(delivery, e, now) - now;
    if (record->delivered_ps < 0)
        return;
    ps_t at_ps = e->delivered_ps;
    ps_t wait_ps = completion_due_ps(delivery, e->dst, e->dim, at_ps) - at_ps;
    record->delivered_ps += wait_ps;
    record->life_ps[PATH_HOST] += wait_ps;
}

static void message_ended(void *ctx, const struct message_end *end, ps_t now)
{
    struct delivery *delivery = ((struct ledger *)ctx)->delivery;
    const struct message *m = &end->message;
    const struct ledger_entry *e = &delivery->ledger->entries[m->token];
    if (e->control)
        return;
    bool is_delivered = e->delivered_ps != PS_NEVER;
    struct flow_record record = {
        .id = e->number,
        .bytes = m->bytes,
        .delivered_bytes = is_delivered ? m->bytes : end->delivered_bytes,
        .packets = m->packets,
        .retransmitted = m->retransmitted,
        .job = e->job,
        .qp = end->flow,
        .src = e->src,
        .dst = e->dst,
        .cnps = m->cnps,
        .timeouts = m->timeouts,
        .start_ps = e->posted_ps,
        .fct_ps = m->status == MESSAGE_DONE ? now - held_ps(delivery, e) - e->posted_ps : -1,
        .delivered_ps = is_delivered ? e->delivered_ps - e->posted_ps : -1,
        .status = m->status};
    if (is_delivered && e->path != 0)
        memcpy(record.life_ps, path_at(&delivery->path_book, e->path)->life, sizeof record.life_ps);
    add_completion(delivery, e, &record, now);
    uint64_t token = e->token;
    if (!stripes_record(delivery, &token, &record) ||
        !clear_to_send_record(delivery, token, &record))
        return;
    record.ideal_ps = ideal_message_ps(delivery->ideals, e->src, e->dst, end->dim, end->transport,
                                       record.bytes, NULL);
    completions_record(delivery, &record);
}

void ledger_running(struct delivery *delivery)
{
    const struct hosts *hosts = &delivery->fabric->hosts;
    ps_t now = delivery->fabric->engine.now_ps;
    for (uint32_t i = 0; i < hosts->flows.n; i++) {
        const struct sender *s = hosts->senders[delivery->fabric->flow_order[i]];
        const struct hosts *own = sender_hosts(s);
        for (uint32_t m = s->oldest; m != MESSAGE_NIL; m = hosts_message(own, m)->next) {
            const struct message_end end = sender_message_end(s, hosts_message(own, m));
            if (delivery->hybrid)
                hosts->observer.message_ended(hosts->observer.ctx, &end, now);
            else
                message_ended(delivery->ledger, &end, now);
        }
    }
    completions_running(delivery);
}

uint32_t ledger_count(struct delivery *delivery, uint32_t src)
{
    ledger_part(delivery->ledger, src)->n_messages++;
    return ++delivery->ledger->n_posted[src];
}

uint32_t ledger_posted_path(struct delivery *delivery, uint64_t token)
{
    return path_hold(&delivery->path_book, delivery->ledger->entries[token].posted);
}

bool ledger_is_delivered(const struct delivery *delivery, uint64_t token)
{
    return delivery->ledger->entries[token].delivered_ps != PS_NEVER;
}

struct ledger_message ledger_message(const struct delivery *delivery, uint64_t token)
{
    const struct ledger_entry *e = &delivery->ledger->entries[token];
    return (struct ledger_message){e->src, e->dst};
}

uint64_t ledger_messages(const struct delivery *delivery)
{
    uint64_t n = 0;
    for (uint32_t i = 0; delivery->ledger && i < delivery->ledger->n_parts; i++)
        n += delivery->ledger->parts[i].n_messages;
    return n;
}

/* ---- life ---- */

static void post_to_hosts(void *net, const struct transfer_request *request, ps_t now)
{
    hosts_post(fabric_hosts_of(net, request->src), request, now);
}

void ledger_init(struct delivery *delivery)
{
    struct ledger *l = delivery->ledger = memory_zeroed(1, sizeof *l);
    l->delivery = delivery;
    ledger_entries_init(l);
    l->n_posted = memory_zeroed(delivery->fabric->graph.n_ends, sizeof *l->n_posted);
    delivery->fabric->hosts.client = (struct host_client){
        .delivered = delivered, .entered = entered, .sent = sent, .failed = failed, .ctx = l};
    delivery->fabric->hosts.observer = (struct host_observer){.busy = busy,
                                                              .last_packet = last_packet,
                                                              .idle = idle,
                                                              .note = note,
                                                              .timed_out = timed_out,
                                                              .timeout_ps = timeout_ps,
                                                              .message_ended = message_ended,
                                                              .ctx = l};
    delivery->hosts = (struct transfer){.post = post_to_hosts, .net = delivery->fabric};
    delivery->transfer = (struct transfer){.post = post, .net = l};
}

bool ledger_keeps_origins(const struct delivery *delivery)
{
    return delivery->ledger->origins != NULL;
}

void ledger_keep_origins(struct delivery *delivery)
{
    struct ledger *l = delivery->ledger;
    if (!l || l->origins)
        return;
    l->cap_origins = l->cap > 0 ? l->cap : 1;
    l->origins = memory_zeroed(l->cap_origins, sizeof *l->origins);
}

void ledger_free(struct delivery *delivery)
{
    if (delivery->ledger) {
        ledger_entries_free(delivery->ledger);
        free(delivery->ledger->origins);
        free(delivery->ledger->n_posted);
    }
    free(delivery->ledger);
}
