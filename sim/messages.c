// SPDX-License-Identifier: MIT
// The ledger of messages: what is known about each message from its post to its end, and statistics
// over finished messages. It is between the clients of the packet network and the hosts.
//
// The source writes an entry when it posts the message, and the destination writes it once, when
// the message is delivered; the source reads this at the message's end, at least one ACK's path
// later. The index of the entry is the token that the message's packets carry.
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

struct entry {
    uint64_t token; // token of the client
    uint64_t bytes;
    uint32_t job, src, dst, next_free;
    uint32_t number;              // index among the messages of src
    ps_t posted_ps, delivered_ps; // PS_NEVER = not delivered
    bool failed;
};

struct ledger {
    struct sim *sim;
    struct transfer_client client;
    struct entry *entries;
    size_t cap;
    uint32_t n, free_head;
    uint32_t *n_posted; // [rank]
    uint64_t n_messages;
};

static uint32_t entry_alloc(struct ledger *l)
{
    if (l->free_head != UINT32_MAX) {
        uint32_t slot = l->free_head;
        l->free_head = l->entries[slot].next_free;
        return slot;
    }
    if (l->n == l->cap)
        l->entries = memory_grow(l->entries, &l->cap, sizeof *l->entries);
    return l->n++;
}

static void entry_free(struct ledger *l, uint32_t slot)
{
    l->entries[slot].next_free = l->free_head;
    l->free_head = slot;
}

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct ledger *l = net;
    uint32_t slot = entry_alloc(l);
    bool counts = request->stripe <= 1; // the parts of a message share one number
    l->n_messages += counts;
    l->n_posted[request->src] += counts;
    l->entries[slot] = (struct entry){.token = request->token,
                                      .bytes = request->bytes,
                                      .job = request->job,
                                      .src = request->src,
                                      .dst = request->dst,
                                      .number = l->n_posted[request->src] - 1,
                                      .posted_ps = now,
                                      .delivered_ps = PS_NEVER};
    struct transfer_request below = *request;
    below.token = slot;
    hosts_post(&l->sim->hosts, &below, now);
}

static void delivered(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct entry *e = &l->entries[slot];
    if (e->failed) // the sender has reported failure already
        return;
    e->delivered_ps = now;
    l->client.delivered(l->client.ctx, e->token, e->bytes, now);
}

static void sent(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    uint64_t token = l->entries[slot].token;
    entry_free(l, (uint32_t)slot);
    l->client.sent(l->client.ctx, token, now);
}

// An entry that has failed is kept if the message may still be delivered.
static void failed(void *ctx, uint64_t slot, ps_t now)
{
    struct ledger *l = ctx;
    struct entry *e = &l->entries[slot];
    uint64_t token = e->token;
    e->failed = true;
    if (e->delivered_ps != PS_NEVER)
        entry_free(l, (uint32_t)slot);
    l->client.failed(l->client.ctx, token, now);
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

void sim_keep_record(struct sim *sim, const struct flow_record *record)
{
    if (record->status == MESSAGE_DONE)
        keep_stats(sim, record);
    else if (record->status == MESSAGE_FAILED)
        sim->failed++;
    if (sim->n_flows >= sim->spec->report.flows_max) {
        if (record->status == MESSAGE_DONE || sim->n_unlisted == SIM_WAITING_MAX)
            return;
        sim->n_unlisted++; // the message is counted, since the end of the run must be explained
    }
    if (sim->n_flows == sim->cap_flows)
        sim->flows = memory_grow(sim->flows, &sim->cap_flows, sizeof *sim->flows);
    sim->flows[sim->n_flows++] = *record;
}

static void message_ended(void *ctx, const struct sender *s, const struct message *m, ps_t now)
{
    struct sim *sim = ctx;
    const struct entry *e = &sim->ledger->entries[m->token];
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
        .fct_ps = m->status == MESSAGE_DONE ? now - e->posted_ps : -1,
        .delivered_ps = is_delivered ? e->delivered_ps - e->posted_ps : -1,
        .status = m->status};
    if (!sim_stripes_record(sim, e->token, &record))
        return;
    const struct flow_id *id = sender_id(s);
    record.ideal_ps = sim_ideal_ps(sim, e->src, e->dst, id->dim, id->transport, record.bytes, NULL);
    sim_keep_record(sim, &record);
}

void sim_ledger_running(struct sim *sim)
{
    const struct hosts *hosts = &sim->hosts;
    for (uint32_t i = 0; i < hosts->flows.n; i++) {
        const struct sender *s = hosts->senders[sim->flow_order[i]];
        for (uint32_t m = s->oldest; m != MESSAGE_NIL; m = hosts_message(hosts, m)->next)
            message_ended(sim, s, hosts_message(hosts, m), sim->engine.now_ps);
    }
}

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
    l->n_posted = memory_zeroed(sim->graph.n_ranks, sizeof *l->n_posted);
    sim->hosts.client = (struct host_client){delivered, sent, failed, l};
    sim->hosts.observer = (struct host_observer){message_ended, sim};
    sim->transfer = (struct transfer){.post = post, .net = l};
}

void sim_ledger_set_client(struct sim *sim, struct transfer_client client)
{
    sim->ledger->client = client;
}

void sim_ledger_free(struct sim *sim)
{
    if (sim->ledger) {
        free(sim->ledger->entries);
        free(sim->ledger->n_posted);
    }
    free(sim->ledger);
}
