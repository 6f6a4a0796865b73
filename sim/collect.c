// SPDX-License-Identifier: MIT
// From the state at the end of a run to its result.
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

static int by_id(const void *a, const void *b)
{
    const struct flow_record *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void collect_flows(struct sim *sim, struct result *r)
{
    for (uint32_t q = 0; q < sim->roce.qps.n; q++) // what is still running
        for (uint32_t m = qp_at(&sim->roce.qps, q)->snd.oldest; m != MESSAGE_NIL;
             m = sim->roce.messages.slots[m].next)
            sim_message_ended(sim, &sim->roce.messages.slots[m]);
    sim_analytical_running(sim);
    if (sim->n_flows > 0)
        qsort(sim->flows, sim->n_flows, sizeof *sim->flows, by_id);
    r->flows = sim->flows;
    r->n_flows = sim->n_flows;
    sim->flows = NULL;
    struct message_stats *s = &sim->stats;
    struct flows_summary *summary = &r->summary;
    summary->count = sim->roce.n_messages + sim->analytical.n_messages;
    r->flows_complete = summary->count <= sim->spec->report.flows_max;
    summary->failed = sim->failed;
    summary->running = sim->roce.n_running - sim_stripes_running(sim) + sim->analytical.n_running;
    summary->bytes = sim->roce.posted_bytes + sim->analytical.posted_bytes;
    summary->fct_ns = distribution_stats(&s->fct_ns);
    summary->slowdown = distribution_stats(&s->slowdown);
    if (s->goodput_square_sum > 0)
        summary->jain =
            s->goodput_sum * s->goodput_sum / ((double)s->fct_ns.n * s->goodput_square_sum);
}

static char *port_name(const struct sim *sim, uint32_t port)
{
    char name[2 * GRAPH_NAME];
    return memory_text(graph_port_name(&sim->graph, port, name));
}

static void collect_port(const struct sim *sim, struct result *r, uint32_t p)
{
    const struct port *port = &sim->net.ports[p];
    const struct switch_port *sp = &sim->switches.ports[p];
    struct port_result *out = &r->ports[p];
    double time = (double)r->sim_time_ps;
    *out = (struct port_result){.at = port_name(sim, p),
                                .from_switch = switch_of_port(&sim->switches, p) != NULL,
                                .bytes = port->tx_bytes,
                                .packets = port->tx_packets,
                                .max_queue_bytes = sim->net.ports[p].max_queued_bytes,
                                .marked = sp->marked,
                                .dropped_packets = sp->dropped_packets,
                                .dropped_bytes = sp->dropped_bytes};
    if (time > 0) {
        const struct byte_time *bt = &port_link(&sim->net, p)->byte_time;
        double ahead = (double)(port->busy_until_ps - r->sim_time_ps); // not sent yet
        double busy = (double)port->tx_bytes * (double)bt->num / (double)bt->den;
        out->utilization = (busy - (ahead > 0 ? ahead : 0)) / time;
        out->mean_queue_bytes = sim->net.ports[p].wait_byte_ps / time;
    }
    if (out->from_switch && out->max_queue_bytes > r->max_queue_bytes)
        r->max_queue_bytes = out->max_queue_bytes;
    r->marked_packets += sp->marked;
    r->dropped_packets += sp->dropped_packets;
    r->dropped_bytes += sp->dropped_bytes;
}

static void collect_fault(const struct sim *sim, struct result *r, uint32_t p)
{
    if (!sim->net.faults)
        return;
    const struct fault *f = &sim->net.faults[p];
    r->drops_loss += f->packets[FAULT_LOSS];
    r->drops_corruption += f->packets[FAULT_CORRUPTION];
    r->drops_down += f->packets[FAULT_DOWN];
    r->lost_pfc_frames += f->pfc_frames;
    for (unsigned reason = 0; reason < FAULT_REASONS; reason++) {
        r->ports[p].dropped_packets += f->packets[reason];
        r->ports[p].dropped_bytes += f->bytes[reason];
        r->dropped_packets += f->packets[reason];
        r->dropped_bytes += f->bytes[reason];
    }
}

static void collect_watchdog(const struct sim *sim, struct result *r, uint32_t p)
{
    if (!sim->switches.watchdogs)
        return;
    for (uint32_t i = 0; i < sim->net.n_data; i++) {
        const struct watchdog *w = &sim->switches.watchdogs[p * sim->net.n_data + i];
        r->watchdog_fired += w->fired;
        r->drops_watchdog += w->dropped_packets;
    }
}

static void collect_pfc(const struct sim *sim, struct result *r, uint32_t p)
{
    const struct port_pfc *pfc = &sim->net.pfc[p];
    r->pause_frames += pfc->tx_pause;
    r->resume_frames += pfc->tx_resume;
    for (unsigned cls = 0; cls < NET_CLASSES; cls++) {
        if (pfc->cls[cls].pauses == 0)
            continue;
        r->pfc_ports = memory_resize(r->pfc_ports, r->n_pfc_ports + 1, sizeof *r->pfc_ports);
        struct pfc_port_result *out = &r->pfc_ports[r->n_pfc_ports++];
        *out = (struct pfc_port_result){.at = port_name(sim, p),
                                        .cls = cls,
                                        .pauses = pfc->cls[cls].pauses,
                                        .paused_ps =
                                            port_paused_ps(&sim->net, p, cls, r->sim_time_ps)};
        r->paused_ps += out->paused_ps;
    }
}

static void collect_switch(const struct sim *sim, struct result *r, uint32_t index)
{
    const struct switch_node *s = &sim->switches.nodes[index];
    struct switch_result *out = &r->switches[r->n_switches++];
    char name[GRAPH_NAME];
    *out = (struct switch_result){.at = memory_text(sim_switch_name(sim, index, name)),
                                  .shared_bytes = s->mmu.shared_bytes};
    for (uint32_t i = 0; i < s->n_ports * s->mmu.n_classes; i++) {
        const struct mmu_ingress *in = &s->mmu.ingress[i];
        if (in->max_headroom_bytes > out->max_headroom_bytes)
            out->max_headroom_bytes = in->max_headroom_bytes;
        if ((s->lossless == 0 || in->headroom_limit > 0) &&
            in->max_bytes > out->max_ingress_bytes) {
            out->max_ingress_bytes = in->max_bytes;
            out->alpha = s->mmu.alpha[i % s->mmu.n_classes];
        }
        if (in->headroom_limit > out->headroom_limit_bytes)
            out->headroom_limit_bytes = in->headroom_limit;
    }
    out->max_buffer_bytes = s->mmu.max_shared_used;
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++) {
        if (r->ports[p].max_queue_bytes > out->max_queue_bytes)
            out->max_queue_bytes = r->ports[p].max_queue_bytes;
        out->mean_queue_bytes += r->ports[p].mean_queue_bytes;
    }
    r->markable_packets += s->markable;
    r->drops_headroom += s->drops_headroom;
    r->drops_lossy += s->drops_lossy;
    r->drops_unroutable += s->drops_unroutable;
}

static void collect_fabric(const struct sim *sim, struct result *r)
{
    r->n_ports = sim->graph.n_ports;
    r->ports = memory_zeroed(r->n_ports, sizeof *r->ports);
    uint32_t switches = sim->switches.n_switches + sim->switches.n_routers;
    r->switches = memory_zeroed(switches, sizeof *r->switches);
    for (uint32_t p = 0; p < sim->graph.n_ports; p++) {
        collect_port(sim, r, p);
        collect_fault(sim, r, p);
        collect_watchdog(sim, r, p);
        collect_pfc(sim, r, p);
    }
    for (uint32_t i = 0; i < switches; i++)
        collect_switch(sim, r, i);
    bool per_ack = sim->roce.dims[0].spec.cnp == CNP_PER_ACK;
    r->cnps = per_ack ? sim->roce.echoed_marks : sim->roce.cnps_sent;
    r->changes = sim->changes;
    r->n_changes = sim->n_changes;
    r->cc_cuts = sim->roce.cc_cuts;
    r->naks = sim->roce.naks;
    r->timeouts = sim->roce.timeouts;
    r->retransmitted = sim->roce.retransmitted;
}

static void collect_machine(const struct sim *sim, struct result *r)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    r->wall_s = sim->wall_s;
    r->cpu_s = sim->cpu_s;
    r->events = sim->engine.events;
    r->packet_hops = sim->net.packet_hops;
    r->peak_rss_bytes = (uint64_t)usage.ru_maxrss * 1024;
    r->n_captures = sim->spec->n_captures;
    r->captures = memory_zeroed(r->n_captures, sizeof *r->captures);
    for (size_t c = 0; c < r->n_captures; c++)
        r->captures[c] = (struct capture_result){
            sim->spec->captures[c].file, sim_capture_failed(sim, c) ? 0 : sim->capture_packets[c]};
}

static void collect_status(const struct sim *sim, struct result *r)
{
    const struct limits_spec *limits = &sim->spec->limits;
    char buf[UNIT_TEXT];
    r->status = RUN_INCOMPLETE;
    if (sim->end == LOOP_INTERRUPTED)
        r->status = RUN_INTERRUPTED;
    else if (sim->end == LOOP_WALL_LIMIT)
        r->reason = text_format("wall clock limit of %g s reached", limits->wall_s);
    else if (sim->end == LOOP_EVENT_LIMIT)
        r->reason = text_format("limit of %llu events reached", (unsigned long long)limits->events);
    else if (sim->end == LOOP_MEMORY_LIMIT)
        r->reason = text_format("out of memory: see limits.memory");
    else if (sim->capture_failure)
        r->reason = text_format("%s", sim->capture_failure);
    else if (r->n_deadlock > 0)
        r->reason = text_format("deadlock: %zu paused ports wait for each other, first %s",
                                r->n_deadlock, r->deadlock[0]);
    else if (sim->failed > 0)
        r->reason = text_format("%llu message%s failed: retry limit exceeded",
                                (unsigned long long)sim->failed, sim->failed > 1 ? "s" : "");
    else if (workload_done(&sim->workload))
        r->status = RUN_COMPLETED;
    else if (sim->stalled)
        r->reason = text_format("stalled: no payload byte delivered for %s",
                                human_time(limits->stall_ps, buf));
    else if (sim->spec->duration_ps <= limits->sim_time_ps && !sim->idle &&
             sim->engine.now_ps == sim->spec->duration_ps)
        r->status = RUN_COMPLETED; // the planned horizon
    else if (sim->engine.now_ps == limits->sim_time_ps)
        r->reason =
            text_format("simulated time limit of %s reached", human_time(limits->sim_time_ps, buf));
    else if (sim->engine.now_ps == SIM_LONGEST_PS)
        r->reason =
            text_format("the longest simulated time, %s, reached", human_time(SIM_LONGEST_PS, buf));
    else
        r->reason = text_format("stalled: nothing is left to happen, but the work is not done");
}

struct result *sim_result(struct sim *sim)
{
    struct result *r = memory_zeroed(1, sizeof *r);
    r->name = sim->spec->name;
    r->policy = sim->spec->dims[sim->spec->n_dims - 1].cc->name;
    r->seed = sim->spec->seed;
    r->sim_time_ps = sim->engine.now_ps;
    collect_flows(sim, r);
    sim_collect_collectives(sim, r);
    sim_collect_trainings(sim, r);
    sim_collect_timeline(sim, r);
    collect_fabric(sim, r);
    if (!workload_done(&sim->workload))
        sim_find_deadlock(sim, r);
    collect_status(sim, r);
    collect_machine(sim, r);
    if (r->status != RUN_COMPLETED)
        sim_waiting(sim, r);
    sim_explain(sim, r);
    r->series = sim->sampler ? &sim->sampler->series : NULL;
    return r;
}
