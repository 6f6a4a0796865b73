// SPDX-License-Identifier: MIT
// Makes the result from the state at the end of a run.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/credit_balance.h"
#include "sim/collect/collect_internal.h"
#include "sim/explain/explain.h"
#include "sim/hybrid/hybrid.h"
#include "transport/nic/adapter.h"

/* ---- nics ---- */

// Results of NICs that are not ideal.

static void collect_nics(const struct fabric *fabric, struct result *r)
{
    const struct adapters *all = fabric->hosts.adapters;
    double time = (double)r->sim_time_ps;
    char name[GRAPH_NAME];
    // The network has adapters only where the scenario limits a NIC (`nic`).
    if (!all)
        return;
    r->n_nics = all->n;
    r->nics = memory_zeroed(all->n, sizeof *r->nics);
    for (uint32_t i = 0; i < all->n; i++) {
        const struct adapter *a = &all->list[i];
        struct nic_result *out = &r->nics[i];
        *out =
            (struct nic_result){.at = memory_text(graph_node_name(&fabric->graph, a->node, name)),
                                .dim = a->dim,
                                .max_held_bytes = a->counters.max_held_bytes,
                                .pauses = a->counters.pauses,
                                .dropped_packets = a->counters.dropped.packets};
        for (unsigned d = 0; d < ADAPTER_DIRECTIONS && time > 0; d++) {
            // The counter gets a packet's whole time when the packet enters the pipeline, so what
            // lies beyond the end of the run is subtracted; otherwise a share could exceed 1.
            ps_t ahead = a->free_ps[d] > r->sim_time_ps ? a->free_ps[d] - r->sim_time_ps : 0;
            ps_t busy = a->counters.busy_ps[d] > ahead ? a->counters.busy_ps[d] - ahead : 0;
            out->busy_share[d] = (double)busy / time;
            // The last transfer on the bus is counted whole too, although it may end after the run.
            out->bus_share[d] = (double)a->counters.bus_busy_ps[d] / time;
            out->bus_share[d] = out->bus_share[d] < 1 ? out->bus_share[d] : 1;
            out->missed_share[d] = (double)a->counters.missed_ps[d] / time;
            out->qp_lookups[d] = a->counters.lookups[d];
            out->qp_misses[d] = a->counters.misses[d];
        }
    }
}

/* ---- collect ---- */

// Order by time of posting, and at one time by source and number, so that the order of simultaneous
// events of different ranks does not matter.
static int by_post(const void *a, const void *b)
{
    const struct flow_record *x = a, *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps < y->start_ps ? -1 : 1;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

// A process that does not answer has not handed over its flows: leave out their messages.
static void drop_lost_flows(struct records *records, uint32_t n_flows)
{
    size_t kept = 0;
    for (size_t i = 0; i < records->n_flows; i++)
        if (records->flows[i].qp < n_flows)
            records->flows[kept++] = records->flows[i];
    records->n_flows = kept;
}

// Number all messages and flows of the results; in the run each source numbers only its own.
static void number_flows(struct sim *sim)
{
    uint32_t n = sim->fabric.hosts.flows.n, *number = memory_zeroed(n, sizeof *number);
    if (sim->lost_process > 0)
        drop_lost_flows(&sim->delivery.records, n);
    // Handles follow the order in which flows were opened, which differs with the number of
    // threads. The numbers in the results do not.
    for (uint32_t i = 0; i < n; i++)
        number[sim->fabric.flow_order[i]] = i;
    if (sim->delivery.records.n_flows > 0)
        qsort(sim->delivery.records.flows, sim->delivery.records.n_flows,
              sizeof *sim->delivery.records.flows, by_post);
    for (size_t i = 0; i < sim->delivery.records.n_flows; i++) {
        sim->delivery.records.flows[i].id = i;
        // In closed form there are no flows, so there is no handle to translate.
        if (n > 0)
            sim->delivery.records.flows[i].qp = number[sim->delivery.records.flows[i].qp];
    }
    free(number);
}

// A sum of floating-point numbers depends on the order of its terms. Each rank adds its own
// messages, and ranks are added by number, so that the result is the same for any number of
// threads.
static struct rank_sums add_ranks(const struct sim *sim)
{
    struct rank_sums all = {0};
    for (uint32_t r = 0; r < sim->fabric.graph.n_ends; r++) {
        const struct rank_sums *sums = &sim->delivery.records.stats.ranks[r];
        all.slowdown += sums->slowdown;
        all.goodput += sums->goodput;
        all.goodput_square += sums->goodput_square;
    }
    return all;
}

// The dimension that a message crosses; of several at once their number.
static uint16_t dimension_of(const struct graph *g, uint32_t src, uint32_t dst)
{
    uint32_t found = g->n_dims;
    for (uint32_t d = 0; d < g->n_dims; d++) {
        if (graph_coord(g, src, d) == graph_coord(g, dst, d))
            continue;
        if (found < g->n_dims)
            return (uint16_t)g->n_dims;
        found = d;
    }
    return (uint16_t)found;
}

static void collect_dimensions(const struct graph *g, struct result *r)
{
    for (size_t i = 0; i < r->n_flows; i++) {
        struct flow_record *f = &r->flows[i];
        f->dim = g->n_dims > 1 ? dimension_of(g, f->src, f->dst) : FLOW_DIM_NONE;
    }
}

static void collect_flows(struct sim *sim, struct result *r)
{
    // Messages that have not ended get records too: they explain why a run has not completed.
    delivery_running(&sim->delivery);
    number_flows(sim);
    r->flows = sim->delivery.records.flows;
    r->n_flows = sim->delivery.records.n_flows;
    // The result owns the records from here on.
    sim->delivery.records.flows = NULL;
    collect_dimensions(&sim->fabric.graph, r);
    struct message_stats *s = &sim->delivery.records.stats;
    struct flows_summary *summary = &r->summary;
    summary->count = ledger_messages(&sim->delivery) + sim->delivery.analytical.n_messages;
    r->flows_complete = summary->count <= sim->spec->report.flows_max;
    summary->failed = sim->delivery.records.failed;
    summary->running = sim->delivery.records.running;
    summary->bytes =
        sim->fabric.hosts.counters.posted_bytes + sim->delivery.analytical.posted_bytes;
    clear_to_send_collect(&sim->delivery, r);
    struct rank_sums sums = add_ranks(sim);
    // Times in ns are integers, whose sum does not depend on the order. The mean of the slowdowns,
    // which are fractions, is made from the sums of the ranks.
    summary->fct_ns = distribution_stats(&s->fct_ns);
    summary->slowdown = distribution_stats(&s->slowdown);
    summary->fct_ns_bins = distribution_histogram(&s->fct_ns);
    summary->slowdown_bins = distribution_histogram(&s->slowdown);
    if (s->slowdown.n > 0)
        summary->slowdown.mean = sums.slowdown / (double)s->slowdown.n;
    // Jain's fairness index of goodputs: (sum x)^2 / (n sum x^2).
    if (sums.goodput_square > 0)
        summary->jain = sums.goodput * sums.goodput / ((double)s->fct_ns.n * sums.goodput_square);
}

static char *port_name(const struct sim *sim, uint32_t port)
{
    char name[2 * GRAPH_NAME];
    return memory_text(graph_port_name(&sim->fabric.graph, port, name));
}

static void collect_port(const struct sim *sim, struct result *r, uint32_t p)
{
    const struct port_stats port = port_stats(&sim->fabric.net, p, r->sim_time_ps);
    const struct switch_port *sp = &sim->fabric.switches.ports[p];
    struct port_result *out = &r->ports[p];
    double time = (double)r->sim_time_ps;
    *out = (struct port_result){.at = port_name(sim, p),
                                .from_switch = switch_of_port(&sim->fabric.switches, p) != NULL,
                                .bytes = port.tx_bytes,
                                .packets = port.tx_packets,
                                .max_queue_bytes = port.max_queued_bytes,
                                .counters = sp->counters,
                                .dropped_packets = port.drops.packets,
                                .dropped_bytes = port.drops.bytes};
    // The array exists only where a switch may trim packets.
    if (sim->fabric.switches.trims) {
        const struct trim_port *trims = &sim->fabric.switches.trims[p];
        out->trimmed_packets = trims->trimmed.packets;
        out->trimmed_bytes = trims->trimmed.bytes;
        r->trimmed_last_hop += trims->last_hop;
    }
    if (sim->fabric.net.faults) {
        const struct link_retry *retry = &sim->fabric.net.faults[p].retry;
        out->retried_packets = retry->packets;
        out->retries = retry->attempts;
        out->retry_ps = retry->waited_ps;
    }
    r->retried_packets += out->retried_packets;
    r->retries += out->retries;
    r->retry_ps += out->retry_ps;
    r->trimmed_packets += out->trimmed_packets;
    r->trimmed_bytes += out->trimmed_bytes;
    // A run that ends at time 0 has no shares of time.
    if (time > 0) {
        // ACKs of packets pass quiet data of the hybrid network, which ends later for them; where
        // the run ends between the two, the port has sent more than it could.
        out->utilization = port.busy_ps < time || !sim->delivery.hybrid ? port.busy_ps / time : 1;
        out->mean_queue_bytes = port.queued_byte_ps / time;
    }
    // The queue of a NIC's port is the backlog of its own rank; the maximum is about switches,
    // where flows of several ranks meet.
    if (out->from_switch && out->max_queue_bytes > r->max_queue_bytes)
        r->max_queue_bytes = out->max_queue_bytes;
    r->marked_packets += sp->counters.marked;
    r->pause_frames += port.pause_frames;
    r->resume_frames += port.resume_frames;
}

static void collect_drops(const struct sim *sim, struct result *r)
{
    for (unsigned reason = 0; reason < DROP_REASONS; reason++) {
        r->drops[reason] = sim->fabric.net.drops[reason].packets;
        r->dropped_packets += sim->fabric.net.drops[reason].packets;
        r->dropped_bytes += sim->fabric.net.drops[reason].bytes;
    }
    for (uint32_t p = 0; sim->fabric.net.faults && p < sim->fabric.graph.n_ports; p++)
        r->lost_pfc_frames += sim->fabric.net.faults[p].pfc_frames;
    for (uint32_t i = 0;
         sim->fabric.switches.watchdogs && i < sim->fabric.net.n_ports * sim->fabric.net.n_data;
         i++)
        r->watchdog_fired += sim->fabric.switches.watchdogs[i].fired;
}

static struct pfc_port_result *add_pfc_port(struct pfc_port_result **list, size_t *n)
{
    *list = memory_resize(*list, *n + 1, sizeof **list);
    return &(*list)[(*n)++];
}

// Add a result for each class of a port that PFC or a lack of credit has stopped.
static void collect_pfc(const struct sim *sim, struct result *r, uint32_t p)
{
    const struct port_pfc *pfc = &sim->fabric.net.pfc[p];
    for (unsigned cls = 0; cls < NET_CLASSES; cls++) {
        if (pfc->cls[cls].pauses == 0)
            continue;
        // A lack of credit stops a class in the same way as a PFC pause and uses its counters. The
        // flow control of the port decides under which name the stops are reported.
        bool credit = port_has_credits(&sim->fabric.net, p, cls);
        struct pfc_port_result *out = credit ? add_pfc_port(&r->credit_ports, &r->n_credit_ports)
                                             : add_pfc_port(&r->pfc_ports, &r->n_pfc_ports);
        *out = (struct pfc_port_result){
            .at = port_name(sim, p),
            .cls = cls,
            .pauses = pfc->cls[cls].pauses,
            .paused_ps = port_paused_ps(&sim->fabric.net, p, cls, r->sim_time_ps)};
        *(credit ? &r->credit_waited_ps : &r->paused_ps) += out->paused_ps;
        r->credit_waits += credit ? out->pauses : 0;
    }
}

static void collect_switch(const struct sim *sim, struct result *r, uint32_t index)
{
    const struct switch_node *s = &sim->fabric.switches.nodes[index];
    struct switch_result *out = &r->switches[r->n_switches++];
    char name[GRAPH_NAME];
    *out = (struct switch_result){.at = memory_text(fabric_switch_name(&sim->fabric, index, name)),
                                  .shared_bytes = switch_fullest(s)->shared_bytes,
                                  .counters = s->counters};
    for (uint32_t i = 0; i < s->n_ports * s->mmu.n_classes; i++) {
        const struct mmu_ingress *in = &s->mmu.ingress[i];
        if (in->max_headroom_bytes > out->max_headroom_bytes)
            out->max_headroom_bytes = in->max_headroom_bytes;
        // Where the switch has lossless classes, the maximum is theirs alone: explanations compare
        // it with the limit at which an ingress sends XOFF, and lossy classes have no such limit.
        if ((s->lossless == 0 || in->headroom_limit > 0) &&
            in->max_bytes > out->max_ingress_bytes) {
            out->max_ingress_bytes = in->max_bytes;
            out->alpha = s->mmu.alpha[i % s->mmu.n_classes];
        }
        if (in->headroom_limit > out->headroom_limit_bytes)
            out->headroom_limit_bytes = in->headroom_limit;
    }
    out->max_buffer_bytes = switch_fullest(s)->max_shared_used;
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++) {
        if (r->ports[p].max_queue_bytes > out->max_queue_bytes)
            out->max_queue_bytes = r->ports[p].max_queue_bytes;
        out->mean_queue_bytes += r->ports[p].mean_queue_bytes;
    }
    r->markable_packets += s->counters.markable;
}

// Returns the sum over the dimensions of a kind of transport, and sets `n` to 1 if there are any.
static struct transport_counters *collect_transport(const struct sim *sim, size_t *n,
                                                    bool (*is)(const struct transport_dim *dim))
{
    struct transport_counters *sum = memory_zeroed(1, sizeof *sum);
    for (uint32_t i = 0; i < sim->fabric.hosts.n_dims; i++) {
        const struct transport_dim *dim = &sim->fabric.hosts.dims[i];
        if (!is(dim))
            continue;
        *n = 1;
        COUNTERS_ADD(sum, &dim->counters);
    }
    return sum;
}

// Returns true if all transports echo marks on ACKs, so that there are no CNPs.
static bool echoes_only(const struct sim *sim)
{
    bool echoes = true;
    for (uint32_t t = 0; t < sim->fabric.hosts.n_transports; t++)
        echoes &= hosts_dim(&sim->fabric.hosts, 0, t)->echoes_marks;
    return echoes;
}

void collect_network(const struct sim *sim, struct result *r)
{
    r->n_ports = sim->fabric.graph.n_ports;
    r->ports = memory_zeroed(r->n_ports, sizeof *r->ports);
    uint32_t switches = sim->fabric.switches.n_switches + sim->fabric.switches.n_routers;
    r->switches = memory_zeroed(switches, sizeof *r->switches);
    for (uint32_t p = 0; p < sim->fabric.graph.n_ports; p++) {
        collect_port(sim, r, p);
        collect_pfc(sim, r, p);
    }
    for (uint32_t i = 0; i < switches; i++)
        collect_switch(sim, r, i);
    collect_nics(&sim->fabric, r);
    fabric_reductions_collect(&sim->fabric, r);
    collect_drops(sim, r);
    const struct host_counters *counters = &sim->fabric.hosts.counters;
    // Transports that return marks on ACKs, as TCP does, send no CNPs; the metric then counts the
    // returned marks.
    r->cnps = echoes_only(sim) ? counters->echoed_marks : counters->cnps_sent;
    r->tcp = collect_transport(sim, &r->n_tcp, fabric_is_tcp);
    r->uec = collect_transport(sim, &r->n_uec, fabric_is_uec);
    r->changes = sim->fabric.changes;
    r->n_changes = sim->fabric.n_changes;
    r->cc_cuts = counters->cc_cuts;
    r->naks = counters->naks;
    r->timeouts = counters->timeouts;
    r->retransmitted = counters->retransmitted;
}

static struct capture_result capture_result(const struct sim *sim, size_t c)
{
    struct capture_count count = captures_count(sim->captures, c);
    return (struct capture_result){.file = sim->spec->captures[c].file,
                                   .packets = count.packets,
                                   .trigger_ps =
                                       count.trigger_ps == PS_NEVER ? -1 : count.trigger_ps};
}

static void collect_machine(const struct sim *sim, struct result *r)
{
    r->wall_s = sim->wall_s;
    r->cpu_s = sim->cpu_s;
    r->threads = parallel_result(&sim->parallel);
    r->events = sim->fabric.engine.events;
    r->packet_hops = sim->fabric.net.packet_hops;
    r->n_captures = sim->spec->n_captures;
    r->captures = memory_zeroed(r->n_captures, sizeof *r->captures);
    for (size_t c = 0; c < r->n_captures; c++)
        r->captures[c] = capture_result(sim, c);
}

// Returns the end of the run. Events after the end of the last message, such as an ACK that the
// receiver has held back, do not count.
static ps_t end_ps(const struct sim *sim)
{
    return workload_done(&sim->workload) ? latest_of(&sim->workload.over)
                                         : sim->fabric.engine.now_ps;
}

struct result *collect(struct sim *sim)
{
    struct result *r = memory_zeroed(1, sizeof *r);
    r->name = sim->spec->name;
    spec_policy_names(sim->spec, r->policy, sizeof r->policy);
    r->seed = sim->spec->seed;
    r->sim_time_ps = end_ps(sim);
    if (sim_has_no_result(sim)) {
        collect_status(sim, r);
        return r;
    }
    sim->fabric.flow_order = hosts_flows_in_order(&sim->fabric.hosts);
    collect_flows(sim, r);
    collect_measured(sim, r);
    collect_collectives(sim, r);
    collect_trainings(sim, r);
    collect_programs(sim, r);
    collect_measured_collectives(sim, r);
    collect_memory(sim, r);
    collect_slowest(sim, r);
    collect_jobs(sim, r);
    collect_timeline(sim, r);
    collect_network(sim, r);
    hybrid_collect(sim->delivery.hybrid, r);
    // In a completed run every message has arrived, so no ports can be waiting for each other.
    if (!workload_done(&sim->workload))
        find_deadlock(&sim->fabric, r);
    collect_status(sim, r);
    collect_machine(sim, r);
    const struct explain_facts facts = {&sim->fabric, &sim->workload, &sim->ideals,
                                        sim->stalled || sim->idle};
    if (r->status != RUN_COMPLETED)
        explain_waiting(&facts, r);
    explain(&facts, r);
    r->series = sampler_series(sim->sampler);
    return r;
}
