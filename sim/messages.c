// SPDX-License-Identifier: MIT
// The ledger of messages: what is known about each message from its post to its end, and statistics
// over finished messages. It is between the clients of the packet network and the hosts.
//
// The source writes an entry when it posts the message, and the destination writes it once, when
// the message is delivered; the source reads this at the message's end, at least one ACK's path
// later. The index of the entry is the token that the message's packets carry.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/admission_internal.h"
#include "sim/completions.h"
#include "sim/message_path.h"
#include "sim/parts.h"
#include "sim/skip.h"

struct entry {
    uint64_t token; // token of the client
    uint64_t bytes;
    uint32_t src, dst;
    uint32_t number; // index among the messages of src; of a free entry: the next free one
    uint16_t job;
    bool failed : 1, control : 1;
    uint8_t dim;
    ps_t posted_ps, delivered_ps; // PS_NEVER = not delivered
    ps_t timeout_ps; // waited for the retransmission timer since the last packet was first sent
    uint32_t posted; // critical path up to the post, until the last packet is sent
    uint32_t path;   // 0 = the last packet has not been sent
};
_Static_assert(sizeof(struct entry) == 64, "an entry is as large as a cache line");

struct ledger {
    struct sim *sim;
    struct entry *entries;
    size_t cap;
    uint32_t n, free_head;
    uint32_t watched;               // rank of whose deliveries sim/skip.h hears; UINT32_MAX = none
    struct message_origin *origins; // [entry]; NULL unless packets have notes
    uint32_t *n_posted;             // [rank or aggregator]
    uint64_t n_messages;
};

static uint32_t entry_alloc(struct ledger *l)
{
    if (l->free_head != UINT32_MAX) {
        uint32_t slot = l->free_head;
        l->free_head = l->entries[slot].number;
        return slot;
    }
    if (l->n == l->cap) {
        l->entries = memory_grow(l->entries, &l->cap, sizeof *l->entries);
        if (l->origins)
            l->origins = memory_resize(l->origins, l->cap, sizeof *l->origins);
    }
    return l->n++;
}

static void entry_free(struct ledger *l, uint32_t slot)
{
    l->entries[slot].number = l->free_head;
    l->free_head = slot;
}

// A count of a hint as the scenario's error makes it.
static uint32_t wrong_count(uint32_t count, double error, struct rng *rng)
{
    double wrong = count * (1 + error * (2 * rng_unit(rng) - 1)) + 0.5;
    return count == 0 ? 0 : wrong >= 1 ? (uint32_t)wrong : 1;
}

// The hint that the transport gets.
static struct cc_hint hint_of(const struct ledger *l, const struct transfer_request *request,
                              uint32_t dim, uint32_t number)
{
    const struct sim *sim = l->sim;
    const struct transport_spec *spec = &sim->spec->dims[dim].stacks[request->transport].transport;
    struct cc_hint hint = request->hint;
    if (!spec->hints)
        return (struct cc_hint){0};
    if (spec->hint_error > 0) {
        uint64_t message = (uint64_t)request->src << 32 | number;
        struct rng rng = rng_init(sim->spec->seed, RNG_HINT, (uint32_t)hash_mix(message));
        hint.at_source = wrong_count(hint.at_source, spec->hint_error, &rng);
        hint.at_destination = wrong_count(hint.at_destination, spec->hint_error, &rng);
    }
    return hint;
}

bool sim_message_is(const struct sim *sim, uint64_t slot, uint64_t token)
{
    return sim->ledger->entries[slot].token == token;
}

ps_t sim_least_ps(const struct sim *sim, const struct transfer_request *r)
{
    ps_t delivered_ps;
    sim_ideal_ps(sim, r->src, r->dst, sim_request_dim(sim, r), r->transport, r->bytes,
                 &delivered_ps);
    return delivered_ps - delivered_ps / 64; // for what is rounded
}

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct ledger *l = net;
    uint32_t slot = entry_alloc(l);
    // The parts and pieces of a message share one number.
    bool counts = !request->piece_of && !request->control;
    l->n_messages += counts;
    l->n_posted[request->src] += counts;
    uint32_t number = request->piece_of ? request->piece_of : l->n_posted[request->src];
    l->entries[slot] = (struct entry){.token = request->token,
                                      .bytes = request->bytes,
                                      .job = (uint16_t)request->job,
                                      .src = request->src,
                                      .dst = request->dst,
                                      .number = number - 1,
                                      .control = request->control,
                                      .dim = (uint8_t)sim_request_dim(l->sim, request),
                                      .posted_ps = now,
                                      .posted = path_take(&l->sim->path_book, now),
                                      .delivered_ps = PS_NEVER};
    if (l->origins)
        l->origins[slot] = request->origin;
    struct transfer_request below = *request;
    below.token = slot;
    below.hint = hint_of(l, request, l->entries[slot].dim, number);
    if (l->sim->parts) {
        SIM_ASSERT(&l->sim->engine, request->src,
                   partition_is_current(l->sim->parts->partition, request->src));
        if (!request->control)
            sim_quiet_posted(l->sim, request, now);
    }
    if (l->sim->skip_posts)
        sim_skip_post(l->sim->skip, &below, now);
    else
        hosts_post(sim_hosts_of(l->sim, request->src), &below, now);
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
    return path_take(&((const struct ledger *)ctx)->sim->path_book, now);
}

static void idle(void *ctx, uint32_t flow, uint32_t path)
{
    (void)flow;
    path_drop(&((const struct ledger *)ctx)->sim->path_book, path);
}

static void last_packet(void *ctx, uint64_t slot, const struct sender_account *account, ps_t now)
{
    const struct ledger *l = ctx;
    struct path_book *book = &l->sim->path_book;
    struct entry *e = &l->entries[slot];
    uint32_t path = message_path(book, account, e->posted, e->posted_ps, now);
    e->posted = 0;
    e->path = path;
}

// Where all packets of a message have been sent, the wait for the retransmission timer began when
// the last packet was sent.
static void timed_out(void *ctx, const struct sender *s, ps_t now)
{
    const struct ledger *l = ctx;
    if (s->oldest == MESSAGE_NIL)
        return;
    struct entry *e = &l->entries[hosts_message(sender_hosts(s), s->oldest)->token];
    if (e->path != 0)
        e->timeout_ps = now - path_at(&l->sim->path_book, e->path)->end_ps;
}

// The packets carry it to the destination, which must not know of timeouts after they were sent.
static ps_t timeout_ps(void *ctx, uint64_t slot)
{
    return ((const struct ledger *)ctx)->entries[slot].timeout_ps;
}

static void spend(struct path *p, enum path_cause cause, ps_t ps, enum path_place_kind kind,
                  uint32_t place)
{
    path_add(p, cause, ps, kind, place);
    p->life[cause] += ps;
}

// Complete the path of a message that has been delivered, from the first transmission of its last
// packet on. What completed it may be a retransmission, or, where packets overtake each other, an
// earlier packet, whose waits are not known: then the time beyond that of an empty network was
// spent in queues at unknown places.
static void arrive(const struct ledger *l, struct entry *e, ps_t now)
{
    const struct hosts *hosts = sim_hosts_of(l->sim, e->dst);
    struct path *p = path_at(&l->sim->path_book, e->path);
    const struct arriving *by = &hosts->arriving;
    uint32_t flow = p->flow;
    if (by->timed && by->sent_ps > p->end_ps) {
        ps_t again = by->sent_ps - p->end_ps;
        ps_t timeout = by->waits.timeout_ps < again ? by->waits.timeout_ps : again;
        spend(p, PATH_TIMEOUT, timeout, PLACE_FLOW, flow);
        spend(p, PATH_RESENDING, again - timeout, PLACE_FLOW, flow);
        p->end_ps = by->sent_ps;
    }
    ps_t left = now - p->end_ps;
    if (by->timed) {
        const struct meta_waits *waits = &by->waits;
        for (uint32_t i = 0; i < waits->n; i++) {
            ps_t wait = waits->wait_ps[i] < left ? waits->wait_ps[i] : left;
            spend(p, waits->port[i] & META_WAIT_NIC ? PATH_HOST : PATH_QUEUED, wait, PLACE_PORT,
                  waits->port[i] & ~META_WAIT_NIC);
            left -= wait;
        }
        spend(p, PATH_NETWORK, left, PLACE_NONE, 0);
    } else {
        ps_t transit = p->transit_ps < left ? p->transit_ps : left;
        spend(p, PATH_NETWORK, transit, PLACE_NONE, 0);
        spend(p, PATH_QUEUED, left - transit, PLACE_NONE, 0);
    }
    p->end_ps = now;
}

/* ---- callbacks of the hosts ---- */

// For how long the receiver has held back the ACK that ends a message, after the message was
// delivered: time of which neither program knows.
static ps_t held_ps(const struct sim *sim, const struct entry *e)
{
    const struct meta_held *held = &sim_hosts_of((struct sim *)(uintptr_t)sim, e->src)->acking;
    bool waited = held->made_ps > 0 && e->delivered_ps != PS_NEVER;
    return waited && e->delivered_ps >= held->owed_ps ? held->made_ps - e->delivered_ps : 0;
}

// When the sender's program learns that its message has ended: not before the receiver's does, but
// after it by the time that the ACK took.
static ps_t sender_knows_ps(const struct sim *sim, const struct entry *e, ps_t now)
{
    ps_t due_ps = sim_completion_due_ps(sim, e->src, e->dim, now);
    if (e->delivered_ps == PS_NEVER)
        return due_ps;
    ps_t there_ps = sim_completion_due_ps(sim, e->dst, e->dim, e->delivered_ps);
    ps_t after_ps = there_ps + (now - e->delivered_ps);
    return due_ps > after_ps ? due_ps : after_ps;
}

static void delivered(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct entry *e = &l->entries[slot];
    if (e->failed) // the sender has reported failure already
        return;
    if (e->dst == l->watched || l->watched == LEDGER_WATCHES_ALL)
        sim_skip_delivered(l->sim->skip, e->dst, e->src, e->bytes, now - e->posted_ps, now);
    e->delivered_ps = now;
    arrive(l, e, now);
    struct completion c = {.token = e->token,
                           .bytes = e->bytes,
                           .path = path_hold(&l->sim->path_book, e->path),
                           .late = PATH_OTHERS,
                           .due_ps = sim_completion_due_ps(l->sim, e->dst, e->dim, now),
                           .kind = COMPLETION_DELIVERED};
    sim_complete(l->sim, e->dst, e->dim, c, now);
}

// The program of the sender may go on. Where the buffer was full, it has waited for
// acknowledgements.
static void entered(void *ctx, uint64_t slot, ps_t now)
{
    const struct ledger *l = ctx;
    const struct entry *e = &l->entries[slot];
    if (!e->control)
        sim_complete_entered(l->sim, e->token, path_hold(&l->sim->path_book, e->posted), now);
}

// The time from delivery to the last ACK, without that for which the receiver held it, is that of
// the network, unless the ACK was lost.
static void sent(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct path_book *book = &l->sim->path_book;
    const struct entry e = l->entries[slot]; // a copy, since the client may post
    const struct path *p = path_at(book, e.path);
    ps_t ended_ps = now - held_ps(l->sim, &e);
    enum path_cause late = ended_ps - p->end_ps > 2 * p->transit_ps ? PATH_WINDOW : PATH_NETWORK;
    entry_free(l, (uint32_t)slot);
    struct completion c = {.token = e.token,
                           .path = e.path,
                           .late = late,
                           .held_ps = now - ended_ps,
                           .due_ps = sender_knows_ps(l->sim, &e, now),
                           .kind = COMPLETION_SENT};
    sim_complete(l->sim, e.src, e.dim, c, now);
}

// An entry that has failed is kept if the message may still be delivered.
static void failed(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct entry *e = &l->entries[slot];
    const struct completion c = {
        .token = e->token, .due_ps = sender_knows_ps(l->sim, e, now), .kind = COMPLETION_FAILED};
    uint32_t src = e->src, dim = e->dim;
    e->failed = true;
    if (l->sim->parts)
        sim_quiet_failed(l->sim);
    path_drop(&l->sim->path_book, e->path);
    path_drop(&l->sim->path_book, e->posted);
    e->path = e->posted = 0;
    if (e->delivered_ps != PS_NEVER)
        entry_free(l, (uint32_t)slot);
    sim_complete(l->sim, src, dim, c, now);
}

/* ---- records ---- */

static void keep_stats(struct sim *sim, const struct flow_record *f)
{
    struct message_stats *s = &sim->stats;
    struct rank_sums *sums = &s->ranks[f->src];
    distribution_add(&s->fct_ns, (double)ns_of_ps(f->fct_ps));
    if (f->fct_ps == 0) // in closed form and without latency
        return;
    double goodput = (double)f->bytes / (double)f->fct_ps;
    if (f->ideal_ps > 0) {
        double slowdown = (double)f->fct_ps / (double)f->ideal_ps;
        distribution_add(&s->slowdown, slowdown);
        sums->slowdown += slowdown;
    }
    sums->goodput += goodput;
    sums->goodput_square += goodput * goodput;
}

static void keep_record(void *ctx, const void *note, ps_t now)
{
    struct sim *sim = ctx;
    const struct flow_record *record = note;
    (void)now;
    sim_jobs_record(sim, record);
    if (record->status == MESSAGE_DONE)
        keep_stats(sim, record);
    else if (record->status == MESSAGE_FAILED)
        sim->failed++;
    else
        sim->running++;
    if (sim->n_flows >= sim->spec->report.flows_max) {
        if (record->status == MESSAGE_DONE || sim->n_unlisted == SIM_WAITING_MAX)
            return;
        sim->n_unlisted++; // the message is counted, since the end of the run must be explained
    }
    if (sim->n_flows == sim->cap_flows)
        sim->flows = memory_grow(sim->flows, &sim->cap_flows, sizeof *sim->flows);
    sim->flows[sim->n_flows++] = *record;
}

// Records are kept in the order in which messages end.
void sim_keep_record(struct sim *sim, const struct flow_record *record)
{
    engine_defer(&sim->engine, keep_record, sim, record, sizeof *record);
}

// The times of a message end when the programs of its ranks know.
static void add_completion(const struct sim *sim, const struct entry *e, struct flow_record *record,
                           ps_t now)
{
    if (record->fct_ps >= 0)
        record->fct_ps += sender_knows_ps(sim, e, now) - now;
    if (record->delivered_ps < 0)
        return;
    ps_t at_ps = e->delivered_ps;
    ps_t wait_ps = sim_completion_due_ps(sim, e->dst, e->dim, at_ps) - at_ps;
    record->delivered_ps += wait_ps;
    record->life_ps[PATH_HOST] += wait_ps;
}

static void message_ended(void *ctx, const struct sender *s, const struct message *m, ps_t now)
{
    struct sim *sim = ((struct ledger *)ctx)->sim;
    const struct entry *e = &sim->ledger->entries[m->token];
    if (e->control)
        return;
    bool is_delivered = e->delivered_ps != PS_NEVER;
    struct flow_record record = {
        .id = e->number,
        .bytes = m->bytes,
        .delivered_bytes = is_delivered ? m->bytes : hosts_delivered_bytes(&sim->hosts, s, m),
        .packets = m->packets,
        .retransmitted = m->retransmitted,
        .job = e->job,
        .qp = s->flow,
        .src = e->src,
        .dst = e->dst,
        .cnps = m->cnps,
        .timeouts = m->timeouts,
        .start_ps = e->posted_ps,
        .fct_ps = m->status == MESSAGE_DONE ? now - held_ps(sim, e) - e->posted_ps : -1,
        .delivered_ps = is_delivered ? e->delivered_ps - e->posted_ps : -1,
        .status = m->status};
    if (is_delivered && e->path != 0)
        memcpy(record.life_ps, path_at(&sim->path_book, e->path)->life, sizeof record.life_ps);
    add_completion(sim, e, &record, now);
    uint64_t token = e->token;
    if (!sim_stripes_record(sim, &token, &record) || !sim_admission_record(sim, token, &record))
        return;
    const struct flow_id *id = sender_id(s);
    record.ideal_ps = sim_ideal_ps(sim, e->src, e->dst, id->dim, id->transport, record.bytes, NULL);
    sim_completions_record(sim, &record, now);
}

void sim_ledger_running(struct sim *sim)
{
    const struct hosts *hosts = &sim->hosts;
    for (uint32_t i = 0; i < hosts->flows.n; i++) {
        const struct sender *s = hosts->senders[sim->flow_order[i]];
        const struct hosts *own = sender_hosts(s);
        for (uint32_t m = s->oldest; m != MESSAGE_NIL; m = hosts_message(own, m)->next)
            message_ended(sim->ledger, s, hosts_message(own, m), sim->engine.now_ps);
    }
    sim_completions_running(sim);
}

uint32_t sim_ledger_count(struct sim *sim, uint32_t src)
{
    sim->ledger->n_messages++;
    return ++sim->ledger->n_posted[src];
}

void sim_ledger_watch(struct sim *sim, uint32_t rank) { sim->ledger->watched = rank; }

struct ledger_message sim_ledger_message(const struct sim *sim, uint64_t token)
{
    const struct entry *e = &sim->ledger->entries[token];
    return (struct ledger_message){e->src, e->dst, e->bytes, e->posted_ps};
}

uint32_t sim_ledger_entries(const struct sim *sim) { return sim->ledger->n; }

uint64_t sim_ledger_messages(const struct sim *sim)
{
    return sim->ledger ? sim->ledger->n_messages : 0;
}

/* ---- life ---- */

void sim_ledger_init(struct sim *sim)
{
    struct ledger *l = sim->ledger = memory_zeroed(1, sizeof *l);
    l->sim = sim;
    l->free_head = UINT32_MAX;
    l->watched = LEDGER_WATCHES_NONE;
    l->n_posted = memory_zeroed(sim->graph.n_ends, sizeof *l->n_posted);
    sim->hosts.client = (struct host_client){
        .delivered = delivered, .entered = entered, .sent = sent, .failed = failed, .ctx = l};
    sim->hosts.observer = (struct host_observer){.busy = busy,
                                                 .last_packet = last_packet,
                                                 .idle = idle,
                                                 .note = note,
                                                 .timed_out = timed_out,
                                                 .timeout_ps = timeout_ps,
                                                 .message_ended = message_ended,
                                                 .ctx = l};
    sim->transfer = (struct transfer){.post = post, .net = l};
}

void sim_ledger_set_client(struct sim *sim, struct transfer_client client)
{
    sim_completions_init(sim, client);
}

void sim_ledger_keep_origins(struct sim *sim)
{
    struct ledger *l = sim->ledger;
    if (l && !l->origins)
        l->origins = memory_zeroed(l->cap > 0 ? l->cap : 1, sizeof *l->origins);
}

void sim_ledger_free(struct sim *sim)
{
    if (sim->ledger) {
        free(sim->ledger->entries);
        free(sim->ledger->origins);
        free(sim->ledger->n_posted);
    }
    free(sim->ledger);
}
