// SPDX-License-Identifier: MIT
// Two exchanges: each process names to the others those of its flows whose messages have not ended,
// since only the process of the destination has the receiver; then all send what they have to
// process 0: the network, flows and series, and the last packets of captures.
#include "sim/gather.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/handover.h"
#include "switch/handover.h"
#include "transport/handover.h"
#include "transport/nic/adapter.h"

/* ---- nodes ---- */

// True if what belongs to a node goes into the parcel. A process that reads takes the decision of
// the writer from the parcel.
static bool has_node(struct parcel *p, const struct sim *sim, uint32_t node)
{
    bool owned = !p->reads && shards_owns(sim->fabric.shards, node);
    PARCEL(p, owned);
    return owned;
}

static void hand_over_ports(struct parcel *p, struct sim *sim)
{
    struct network *net = &sim->fabric.net;
    struct hosts *hosts = &sim->fabric.hosts;
    uint32_t of_ranks = net->first_port[net->n_ranks];
    for (uint32_t i = 0; i < net->n_ports; i++) {
        if (has_node(p, sim, net->ports[i].node)) {
            port_hand_over(p, network_of_port(net, i), i);
            if (i < of_ranks)
                nic_port_hand_over(p, hosts, i);
        }
        if (has_node(p, sim, net->ports[i].peer_node))
            port_hand_over_lost(p, net, i);
    }
}

static void hand_over_switches(struct parcel *p, struct sim *sim)
{
    struct switches *sw = &sim->fabric.switches;
    for (uint32_t i = 0; i < sw->n_switches + sw->n_routers; i++)
        if (has_node(p, sim, sw->net->ports[sw->nodes[i].first_port].node))
            switch_hand_over(p, sw, i);
}

static void hand_over_ranks(struct parcel *p, struct sim *sim)
{
    struct hosts *hosts = &sim->fabric.hosts;
    for (uint32_t rank = 0; rank < sim->fabric.net.n_ranks; rank++)
        if (has_node(p, sim, rank))
            rank_hand_over(p, hosts, rank);
    for (uint32_t i = 0; hosts->adapters && i < hosts->adapters->n; i++)
        if (has_node(p, sim, hosts->adapters->list[i].node))
            adapter_hand_over(p, hosts, i);
}

void gather_network(struct parcel *p, struct sim *sim)
{
    network_hand_over(p, &sim->fabric.net);
    hosts_hand_over(p, &sim->fabric.hosts);
    hand_over_ports(p, sim);
    hand_over_switches(p, sim);
    hand_over_ranks(p, sim);
}

/* ---- flows ---- */

static struct hosts *hosts_of(void *ctx, uint32_t rank) { return fabric_hosts_of(ctx, rank); }

// Moves the receivers that this process has of another process's flows to the new handles of the
// flows. These are free, since the flows of a process move to lower handles or stay.
static void move_receivers(struct hosts *hosts, const struct flow_range *range)
{
    for (uint32_t i = 0; i < range->n && range->first != range->at; i++) {
        struct receiver *r = hosts->receivers[range->first + i];
        hosts->receivers[range->first + i] = NULL;
        hosts->receivers[range->at + i] = r;
        if (r)
            r->flow = range->at + i;
    }
}

void gather_flows(struct parcel *p, struct sim *sim, struct flow_range *range)
{
    struct hosts *hosts = &sim->fabric.hosts;
    const struct hosts_of of = {hosts_of, &sim->fabric};
    *range = (struct flow_range){.first = hosts->flows.first, .at = hosts->flows.n};
    range->n = hosts->flows.n - hosts->flows.first;
    PARCEL(p, range->first);
    PARCEL(p, range->n);
    if (p->reads)
        move_receivers(hosts, range);
    for (uint32_t i = 0; i < range->n && !p->torn; i++)
        flow_hand_over(p, &of, range->first + i);
    sampler_hand_over(p, sim->sampler, range->at);
}

/* ---- the handles afterwards ---- */

static uint32_t number_of(const void *ctx, uint32_t flow)
{
    const struct flow_ranges *ranges = ctx;
    for (uint32_t q = 0; q < ranges->n; q++) {
        const struct flow_range *r = &ranges->list[q];
        if (flow >= r->first && flow - r->first < r->n)
            return r->at + (flow - r->first);
    }
    return flow;
}

void gather_renumber(struct sim *sim, const struct flow_ranges *ranges)
{
    const struct flow_numbers numbers = {number_of, ranges};
    delivery_renumber(&sim->delivery, &numbers);
    recorder_renumber(&sim->workload.recorder, &numbers);
}

/* ---- receivers ---- */

void gather_write_receivers(struct parcel *p, struct sim *sim, const uint32_t *flows, size_t n)
{
    const struct hosts_of of = {hosts_of, &sim->fabric};
    struct receiver **receivers = sim->fabric.hosts.receivers;
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++)
        count += receivers[flows[i]] != NULL;
    parcel_number(p, count);
    for (size_t i = 0; i < n; i++)
        if (receivers[flows[i]])
            receiver_hand_over(p, &of, parcel_number(p, flows[i]));
}

void gather_read_receivers(struct parcel *p, struct sim *sim, const struct flow_ranges *ranges)
{
    const struct hosts_of of = {hosts_of, &sim->fabric};
    for (uint32_t left = parcel_number(p, 0); left > 0 && !p->torn; left--)
        receiver_hand_over(p, &of, number_of(ranges, parcel_number(p, 0)));
}

/* ---- the exchanges ---- */

struct gathering {
    struct sim *sim;
    const struct collwire_processes *processes;
    struct parcel *parcels;          // [process] to it
    struct collwire_bytes *out, *in; // [process]
    // Flows that start in other processes and have an unfinished message to a rank of this process.
    uint32_t *asked;
    size_t n_asked, cap_asked;
};

static uint32_t process_of(const struct gathering *g, uint32_t node)
{
    const struct shards *p = g->sim->fabric.shards;
    return shards_process_of_shard(p, p->shard_of[node]);
}

static void ask(struct gathering *g, uint32_t flow)
{
    if (g->n_asked == g->cap_asked)
        g->asked = memory_grow(g->asked, &g->cap_asked, sizeof *g->asked);
    g->asked[g->n_asked++] = flow;
}

// Name the flows whose messages have not ended to the processes of their destinations.
static void name_flows(struct gathering *g)
{
    const struct hosts *hosts = &g->sim->fabric.hosts;
    for (uint32_t flow = hosts->flows.first; flow < hosts->flows.n; flow++) {
        // Without a message the state of the receiver is not needed.
        if (hosts->senders[flow]->oldest == MESSAGE_NIL)
            continue;
        uint32_t to = process_of(g, hosts->flows.ids[flow].dst);
        // The receiver is in this process, which hands it over with its own.
        if (to == g->processes->rank)
            ask(g, flow);
        else
            parcel_number(&g->parcels[to], flow);
    }
}

static uint32_t exchange(struct gathering *g)
{
    for (uint32_t q = 0; q < g->processes->n; q++)
        g->out[q] = (struct collwire_bytes){g->parcels[q].bytes, g->parcels[q].n};
    uint32_t lost = g->processes->exchange(g->processes->ctx, g->out, g->in);
    for (uint32_t q = 0; q < g->processes->n; q++)
        parcel_free(&g->parcels[q]);
    return lost;
}

static void read_names(struct gathering *g)
{
    for (uint32_t q = 0; q < g->processes->n; q++) {
        if (q == g->processes->rank)
            continue;
        struct parcel p = parcel_read(g->in[q].data, g->in[q].n);
        while (p.at < p.end)
            ask(g, parcel_number(&p, 0));
    }
}

// Hands over how much has arrived of messages that have failed, which only the process of the
// destination has counted. All processes have the same records in the same order.
static void hand_over_failed(struct parcel *p, struct sim *sim)
{
    struct records *records = &sim->delivery.records;
    for (size_t i = 0; i < records->n_flows; i++) {
        struct flow_record *record = &records->flows[i];
        if (record->status == MESSAGE_FAILED && has_node(p, sim, record->dst))
            PARCEL(p, record->delivered_bytes);
    }
}

static void write_all(struct gathering *g)
{
    struct parcel *to = &g->parcels[0];
    struct flow_range range;
    gather_network(to, g->sim);
    hand_over_failed(to, g->sim);
    gather_flows(to, g->sim, &range);
    captures_hand_over(to, g->sim->captures, g->sim->fabric.engine.now_ps);
    gather_write_receivers(to, g->sim, g->asked, g->n_asked);
}

// All flows are read before the receivers, which may be of any process's flows.
static void read_all(struct gathering *g)
{
    uint32_t n = g->processes->n, own = g->sim->fabric.hosts.flows.n;
    struct flow_ranges ranges = {memory_zeroed(n, sizeof *ranges.list), n};
    struct parcel *from = memory_zeroed(n, sizeof *from);
    ranges.list[0].n = own;
    for (uint32_t q = 1; q < n; q++) {
        from[q] = parcel_read(g->in[q].data, g->in[q].n);
        gather_network(&from[q], g->sim);
        hand_over_failed(&from[q], g->sim);
        gather_flows(&from[q], g->sim, &ranges.list[q]);
        captures_hand_over(&from[q], g->sim->captures, g->sim->fabric.engine.now_ps);
    }
    gather_renumber(g->sim, &ranges);
    for (uint32_t q = 1; q < n; q++) {
        gather_read_receivers(&from[q], g->sim, &ranges);
        SIM_ASSERT(&g->sim->fabric.engine, -1, parcel_is_read(&from[q]));
    }
    free(from);
    free(ranges.list);
}

// True if other processes have simulated parts of the network.
static bool is_divided(const struct sim *sim)
{
    const struct shards *p = sim->fabric.shards;
    return sim->parallel.processes && p && p->n_own < p->n;
}

uint32_t sim_gather(struct sim *sim)
{
    if (!is_divided(sim))
        return 0;
    const struct collwire_processes *processes = sim->parallel.processes;
    uint32_t n = processes->n;
    struct gathering g = {.sim = sim,
                          .processes = processes,
                          .parcels = memory_zeroed(n, sizeof *g.parcels),
                          .out = memory_zeroed(n, sizeof *g.out),
                          .in = memory_zeroed(n, sizeof *g.in)};
    name_flows(&g);
    uint32_t lost = exchange(&g);
    if (lost == 0) {
        read_names(&g);
        if (processes->rank != 0)
            write_all(&g);
        lost = exchange(&g);
    }
    if (lost == 0 && processes->rank == 0) {
        read_all(&g);
        passage_settle(sim->fabric.net.shards->passage);
    }
    free(g.parcels);
    free(g.out);
    free(g.in);
    free(g.asked);
    return lost;
}
