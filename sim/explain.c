// SPDX-License-Identifier: MIT
// Makes sentences from counters: why there were no pauses, why the policy did not act, which link
// was the bottleneck, and which ranks and ports wait if a run cannot complete.
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "net/credits.h"
#include "sim/sim_internal.h"

void result_explain(struct result *r, double weight, char *sentence)
{
    size_t at = r->n_explain++;
    r->explain = memory_resize(r->explain, r->n_explain, sizeof *r->explain);
    r->explain_weights =
        memory_resize(r->explain_weights, r->n_explain, sizeof *r->explain_weights);
    for (; at > 0 && r->explain_weights[at - 1] < weight; at--) {
        r->explain[at] = r->explain[at - 1];
        r->explain_weights[at] = r->explain_weights[at - 1];
    }
    r->explain[at] = sentence;
    r->explain_weights[at] = weight;
}

void result_reason(struct result *r, enum reason_kind kind, double weight, ps_t saving_ps,
                   char *sentence)
{
    size_t at = r->n_reasons++;
    r->reasons = memory_resize(r->reasons, r->n_reasons, sizeof *r->reasons);
    for (; at > 0 && r->reasons[at - 1].weight < weight; at--)
        r->reasons[at] = r->reasons[at - 1];
    r->reasons[at] = (struct reason_result){(uint8_t)kind, weight, saving_ps, sentence};
    result_explain(r, weight, sentence);
}

static const struct switch_result *fullest(const struct result *r)
{
    const struct switch_result *best = NULL;
    for (size_t i = 0; i < r->n_switches; i++)
        if (!best || r->switches[i].max_ingress_bytes > best->max_ingress_bytes)
            best = &r->switches[i];
    return best;
}

static bool has_lossless(const struct sim *sim)
{
    for (uint32_t d = 0; d < sim->spec->n_dims; d++)
        if (sim_lossless(sim, d) != 0 && !sim_uses_credits(sim, d))
            return true;
    return false;
}

// The length at which an ingress of a switch is stopped, when `used` bytes of the shared buffer are
// used.
static uint64_t xoff_bytes(const struct sim *sim, const struct switch_result *sw, uint64_t used)
{
    const struct switch_spec *spec = &sim->spec->dims[sim->spec->n_dims - 1].sw;
    double alpha = sw->alpha > 0 ? sw->alpha : spec->pfc.alpha; // 0 if no ingress held a packet
    return (uint64_t)(alpha * (double)(sw->shared_bytes - used)) + spec->reserve_bytes;
}

static void explain_pauses(const struct sim *sim, struct result *r)
{
    const struct switch_result *sw = fullest(r);
    char a[UNIT_TEXT], b[UNIT_TEXT];
    if (!sw || !has_lossless(sim))
        return;
    if (r->pause_frames == 0) {
        result_explain(r, EXPLAIN_REASON,
                       text_format("no PFC: the fullest ingress held %s (%s), and PFC starts at %s",
                                   human_bytes(sw->max_ingress_bytes, a), sw->at,
                                   human_bytes(xoff_bytes(sim, sw, sw->max_buffer_bytes), b)));
        return;
    }
    result_explain(
        r, EXPLAIN_REASON,
        text_format("PFC: %llu XOFF frames, refreshes included; an ingress of %s held %s, "
                    "and the limit is %s when the switch is empty, less when it is not",
                    (unsigned long long)r->pause_frames, sw->at,
                    human_bytes(sw->max_ingress_bytes, a), human_bytes(xoff_bytes(sim, sw, 0), b)));
    if (r->drops[DROP_HEADROOM] == 0)
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("no lossless drop: headroom use peaked at %s of %s",
                                   human_bytes(sw->max_headroom_bytes, a),
                                   human_bytes(sw->headroom_limit_bytes, b)));
}

// The lowest Kmin among switch ports, or UINT64_MAX if no port marks.
static uint64_t lowest_kmin(const struct sim *sim)
{
    uint64_t kmin = UINT64_MAX;
    for (uint32_t p = 0; p < sim->net.n_ports * sim->net.n_data; p++) {
        const struct marking *m = &sim->switches.markings[p];
        if (m->enabled && m->kmin_bytes < kmin)
            kmin = m->kmin_bytes;
    }
    return kmin;
}

// For several policies in one network: the counters are sums over all flows.
static void explain_policies(const struct sim *sim, struct result *r)
{
    if (r->cc_cuts == 0 && r->marked_packets == 0)
        return;
    result_explain(r, EXPLAIN_DETAIL,
                   text_format("%s together lowered a rate or a window %llu times; %llu packets "
                               "were marked, %llu CNPs were sent, %llu marks were echoed by ACKs",
                               r->policy, (unsigned long long)r->cc_cuts,
                               (unsigned long long)r->marked_packets,
                               (unsigned long long)sim->hosts.counters.cnps_sent,
                               (unsigned long long)sim->hosts.counters.echoed_marks));
}

// Why a policy that uses marks did not act.
static void explain_no_marks(const struct sim *sim, struct result *r, const struct cc_ops *cc)
{
    char a[UNIT_TEXT], b[UNIT_TEXT];
    uint64_t kmin = lowest_kmin(sim);
    if (kmin == UINT64_MAX)
        result_explain(r, EXPLAIN_REASON,
                       text_format("%s never acted: ECN is off at every switch", cc->name));
    else
        result_explain(r, EXPLAIN_REASON,
                       text_format("%s never acted: the longest queue held %s, and marking starts "
                                   "at %s",
                                   cc->name, human_bytes(r->max_queue_bytes, a),
                                   human_bytes(kmin, b)));
}

static void explain_policy(const struct sim *sim, struct result *r)
{
    const struct dim_spec *dim = &sim->spec->dims[sim->spec->n_dims - 1];
    const struct cc_ops *cc = dim->cc;
    char queue[UNIT_TEXT];
    if (dim->n_stacks > 1) {
        explain_policies(sim, r);
        return;
    }
    bool by_marks = cc->needs & (CC_NEEDS_ECN | CC_NEEDS_CNP) ||
                    (r->marked_packets > 0 && dim->cc_preset->profile.ecn);
    if (!by_marks && r->marked_packets > 0)
        result_explain(r, EXPLAIN_REASON,
                       text_format("%llu packets were marked, but policy %s ignores ECN marks",
                                   (unsigned long long)r->marked_packets, cc->name));
    if (by_marks && r->marked_packets == 0)
        explain_no_marks(sim, r, cc);
    else if (by_marks)
        result_explain(
            r, EXPLAIN_DETAIL,
            text_format("%s got %llu notifications of %llu marked packets, and lowered a "
                        "rate or a window %llu times",
                        cc->name,
                        (unsigned long long)(cc->needs & CC_NEEDS_CNP
                                                 ? r->cnps
                                                 : sim->hosts.counters.echoed_marks),
                        (unsigned long long)r->marked_packets, (unsigned long long)r->cc_cuts));
    else if (cc->on_ack && r->cc_cuts == 0)
        result_explain(
            r, EXPLAIN_REASON,
            text_format(
                "%s never acted: it never lowered a rate or a window; the longest queue held %s",
                cc->name, human_bytes(r->max_queue_bytes, queue)));
}

// Headroom was exhausted because the sender did not stop in time: PAUSE frames were lost, a pause
// expired before its refresh, or the scenario sets too little headroom.
static void explain_headroom(const struct sim *sim, struct result *r)
{
    unsigned long long drops = r->drops[DROP_HEADROOM];
    if (drops == 0)
        return;
    if (r->lost_pfc_frames > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu packets of lossless classes were dropped: %llu PFC "
                                   "frames were lost on links, so senders were not stopped",
                                   drops, (unsigned long long)r->lost_pfc_frames));
    else if (sim_pauses_lapse(sim))
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu packets of lossless classes were dropped: pauses of "
                                   "switch.pfc.quanta end before they can be refreshed",
                                   drops));
    else if (r->watchdog_fired > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu packets of lossless classes were dropped: where the PFC "
                                   "watchdog has fired, a port ignores pauses for a time",
                                   drops));
    else
        result_explain(
            r, EXPLAIN_LOSS,
            text_format("%llu packets of lossless classes were dropped: headroom was too small",
                        drops));
}

static void explain_drops(const struct sim *sim, struct result *r)
{
#define SENTENCE(constant, key, help, sentence) sentence,
    static const char *const sentences[] = {DROP_LIST(SENTENCE)};
#undef SENTENCE
    explain_headroom(sim, r);
    for (unsigned reason = 0; reason < DROP_REASONS; reason++)
        if (r->drops[reason] > 0 && sentences[reason])
            result_explain(
                r, EXPLAIN_LOSS,
                text_format("%llu %s", (unsigned long long)r->drops[reason], sentences[reason]));
    if (r->watchdog_fired > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("the PFC watchdog acted %llu times and dropped %llu packets",
                                   (unsigned long long)r->watchdog_fired,
                                   (unsigned long long)r->drops[DROP_WATCHDOG]));
    static const struct {
        enum drop_reason reason;
        const char *sentence;
    } links[] = {{DROP_LINK_LOSS, "packets were lost on links (`faults`)"},
                 {DROP_LINK_CORRUPTION, "packets were corrupted on links (`faults`)"},
                 {DROP_LINK_DOWN, "packets were lost on links that were down"}};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++)
        if (r->drops[links[i].reason] > 0)
            result_explain(r, EXPLAIN_LOSS,
                           text_format("%llu %s", (unsigned long long)r->drops[links[i].reason],
                                       links[i].sentence));
    uint64_t moved = sim->hosts.counters.moved;
    if (moved > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu connection%s took another port when routes changed, since "
                                   "their own led nowhere, and sent again what was in flight",
                                   (unsigned long long)moved, moved > 1 ? "s" : ""));
    // those of TCP and UEC are explained with their retransmissions
    uint64_t explained = r->tcp->timeouts + r->uec->timeouts;
    if (r->timeouts > explained)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu retransmission timeouts",
                                   (unsigned long long)(r->timeouts - explained)));
}

static void explain_deadlock(struct result *r)
{
    struct text cycle;
    if (r->n_deadlock == 0)
        return;
    FILE *out = text_open(&cycle);
    fprintf(out, "deadlock: ");
    for (size_t i = 0; i < r->n_deadlock; i++)
        fprintf(out, "%s waits for ", r->deadlock[i]);
    fprintf(out, "%s", r->deadlock[0]);
    result_explain(r, EXPLAIN_END, text_close(out, &cycle));
}

static bool in_lockstep(const struct spec *spec)
{
    const struct noise_spec *noise = &spec->noise;
    bool quiet = noise->start_ps == 0 && noise->step.mean_ps == 0 && noise->clock_ppm <= 0 &&
                 noise->link_delay_ps == 0;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        for (uint32_t t = 0; t < spec->dims[d].n_stacks; t++)
            quiet &= spec->dims[d].stacks[t].transport.start_jitter_ps == 0 &&
                     spec->dims[d].stacks[t].transport.clock_ppm <= 0;
    return quiet && sim_has_noise(spec);
}

// Which packets are lost or marked depends on the order of arrivals at the same instant, which only
// a simulation has.
static void explain_lockstep(const struct sim *sim, struct result *r)
{
    bool loses = r->dropped_packets > 0;
    if ((!loses && r->marked_packets == 0) || !in_lockstep(sim->spec))
        return;
    result_explain(
        r, EXPLAIN_TIME - 0.001,
        text_format(
            "all ranks move in lockstep, and packets are %s in perfect symmetry, as on no real "
            "cluster: with noise.preset cluster, and several seeds, times may differ",
            loses ? "lost" : "marked"));
}

void sim_explain(const struct sim *sim, struct result *r)
{
    if (sim_is_analytical(sim)) {
        result_explain(r, EXPLAIN_REASON,
                       text_format("analytical network: closed forms know no contention, so every "
                                   "message took the time that it takes alone; there were no "
                                   "queues, pauses, marks or losses for a policy to act on"));
        sim_explain_time(sim, r);
        sim_explain_collectives(sim, r);
        sim_explain_closed_form(sim, r);
        return;
    }
    explain_deadlock(r);
    explain_lockstep(sim, r);
    sim_explain_time(sim, r);
    explain_pauses(sim, r);
    explain_policy(sim, r);
    sim_explain_marks_order(sim, r);
    explain_drops(sim, r);
    sim_explain_switches(sim, r);
    sim_explain_links(sim, r);
    sim_explain_nics(sim, r);
    sim_explain_tcp(sim, r);
    sim_explain_uec(r);
    sim_explain_admission(sim, r);
    sim_explain_circuits(sim, r);
    sim_explain_collectives(sim, r);
    sim_explain_fabric(sim, r);
}

void result_wait(struct result *r, char *sentence)
{
    r->waiting = memory_resize(r->waiting, r->n_waiting + 1, sizeof *r->waiting);
    r->waiting[r->n_waiting++] = sentence;
}

static const char *why_waiting(const struct sim *sim, const struct flow_record *f)
{
    if (sim_is_analytical(sim))
        return "it is on its way";
    const struct sender *s = sim->hosts.senders[sim->flow_order[f->qp]];
    if (s->failed)
        return "its retries are used up";
    if (s->nic->paused)
        return s->nic->needs_credit ? "its NIC waits for credit" : "its NIC is paused";
    if (s->una < s->nxt)
        return s->dim->retransmits || !(sim->stalled || sim->idle)
                   ? "it waits for an ACK"
                   : "a lost packet is not sent again without recovery";
    if (sender_may_send(s))
        return "it was sending";
    return s->nxt < s->tail && s->una == s->nxt ? "its window is closed, or its connection not open"
                                                : "it waits for earlier messages";
}

// List what blocks the run: every unfinished flow, and every port that PFC has paused.
void sim_waiting(const struct sim *sim, struct result *r)
{
    char a[2 * GRAPH_NAME], b[GRAPH_NAME], t[UNIT_TEXT];
    sim_waiting_collectives(sim, r);
    for (size_t i = 0, n = 0; i < r->n_flows && n < SIM_WAITING_MAX; i++) {
        const struct flow_record *f = &r->flows[i];
        if (f->status == MESSAGE_DONE)
            continue;
        n++;
        result_wait(r,
                    text_format("flow %llu %s -> %s: %llu of %llu bytes delivered, %s",
                                (unsigned long long)f->id, graph_node_name(&sim->graph, f->src, a),
                                graph_node_name(&sim->graph, f->dst, b),
                                (unsigned long long)f->delivered_bytes,
                                (unsigned long long)f->bytes, why_waiting(sim, f)));
    }
    size_t n = 0;
    for (uint32_t p = 0; p < sim->net.n_ports && n < SIM_WAITING_MAX; p++) {
        if (sim->net.ports[p].paused == 0)
            continue;
        n++;
        unsigned cls = sim->net.class_of_slot[__builtin_ctz(sim->net.ports[p].paused)];
        ps_t since = sim->net.pfc[p].cls[cls].since_ps;
        result_wait(
            r,
            text_format(
                "%s %s %s for %s (class %u)", graph_port_name(&sim->graph, p, a),
                port_has_credits(&sim->net, p, cls) ? "has waited for credit of" : "is paused by",
                graph_node_name(&sim->graph, sim->graph.ports[sim->graph.ports[p].peer].node, b),
                human_time(r->sim_time_ps - since, t), cls));
    }
}
