// SPDX-License-Identifier: MIT
// Makes sentences from counters: why there were no pauses, why the policy did not act, which link
// was the bottleneck, and which ranks and ports wait if a run cannot complete.
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

void result_explain(struct result *r, char *sentence)
{
    r->explain = memory_resize(r->explain, r->n_explain + 1, sizeof *r->explain);
    r->explain[r->n_explain++] = sentence;
}

static const struct switch_result *fullest(const struct result *r)
{
    const struct switch_result *best = NULL;
    for (size_t i = 0; i < r->n_switches; i++)
        if (!best || r->switches[i].max_ingress_bytes > best->max_ingress_bytes)
            best = &r->switches[i];
    return best;
}

static const struct port_result *longest_queue(const struct result *r)
{
    const struct port_result *best = NULL;
    for (size_t i = 0; i < r->n_ports; i++)
        if (r->ports[i].from_switch &&
            (!best || r->ports[i].max_queue_bytes > best->max_queue_bytes))
            best = &r->ports[i];
    return best;
}

static void explain_pauses(const struct sim *sim, struct result *r)
{
    const struct dim_spec *dim = &sim->spec->dims[sim->spec->n_dims - 1];
    const struct switch_result *sw = fullest(r);
    const struct port_result *queue = longest_queue(r);
    char a[UNIT_TEXT], b[UNIT_TEXT], c[UNIT_TEXT];
    if (!sw)
        return;
    if (sim_lossless(sim, sim->spec->n_dims - 1) == 0) {
        result_explain(
            r, text_format("no pauses: %s; %llu packets were dropped",
                           dim->sw.pfc.enabled ? "no class in use is lossless" : "PFC is off",
                           (unsigned long long)r->dropped_packets));
        return;
    }
    // alpha is 0 if no ingress ever held a packet
    double alpha = sw->alpha > 0 ? sw->alpha : dim->sw.pfc.alpha;
    uint64_t empty = (uint64_t)(alpha * (double)sw->shared_bytes) + dim->sw.reserve_bytes;
    uint64_t full = (uint64_t)(alpha * (double)(sw->shared_bytes - sw->max_buffer_bytes)) +
                    dim->sw.reserve_bytes;
    if (r->pause_frames == 0) {
        result_explain(
            r, text_format("no pauses: max queue %s (%s); the fullest ingress held %s, and XOFF "
                           "never fell below %s",
                           human_bytes(r->max_queue_bytes, a), queue->at,
                           human_bytes(sw->max_ingress_bytes, b), human_bytes(full, c)));
        return;
    }
    result_explain(r,
                   text_format("PFC paused: %llu XOFF frames (refreshes included); an ingress of "
                               "%s reached %s; XOFF is at %s when the switch is empty",
                               (unsigned long long)r->pause_frames, sw->at,
                               human_bytes(sw->max_ingress_bytes, a), human_bytes(empty, b)));
    if (r->drops[DROP_HEADROOM] == 0)
        result_explain(r, text_format("no lossless drop: headroom use peaked at %s of %s",
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

// For a policy that uses delay or telemetry.
static void explain_by_ack(struct result *r, const char *name)
{
    char queue[UNIT_TEXT];
    if (r->cc_cuts == 0)
        result_explain(r, text_format("%s never acted: it never lowered a rate or a window; max "
                                      "queue %s",
                                      name, human_bytes(r->max_queue_bytes, queue)));
    else
        result_explain(r, text_format("%s lowered a rate or a window %llu times", name,
                                      (unsigned long long)r->cc_cuts));
}

// For several policies in one network: the counters are sums over all flows.
static void explain_policies(const struct sim *sim, struct result *r)
{
    result_explain(r,
                   text_format("%s together lowered a rate or a window %llu times; %llu packets "
                               "were marked, %llu CNPs were sent, %llu marks were echoed by ACKs",
                               r->policy, (unsigned long long)r->cc_cuts,
                               (unsigned long long)r->marked_packets,
                               (unsigned long long)sim->hosts.counters.cnps_sent,
                               (unsigned long long)sim->hosts.counters.echoed_marks));
}

static void explain_policy(const struct sim *sim, struct result *r)
{
    const struct dim_spec *dim = &sim->spec->dims[sim->spec->n_dims - 1];
    const struct cc_ops *cc = dim->cc;
    uint64_t kmin = lowest_kmin(sim);
    char a[UNIT_TEXT], b[UNIT_TEXT];
    if (dim->n_stacks > 1) {
        explain_policies(sim, r);
        return;
    }
    bool marks_act = r->marked_packets > 0 && dim->cc_preset->profile.ecn;
    if (!(cc->needs & (CC_NEEDS_ECN | CC_NEEDS_CNP)) && !marks_act) {
        if (r->marked_packets > 0)
            result_explain(r, text_format("%llu packets were marked, but %s does not listen to ECN",
                                          (unsigned long long)r->marked_packets, cc->name));
        if (cc->on_ack)
            explain_by_ack(r, cc->name);
        return;
    }
    if (kmin == UINT64_MAX)
        result_explain(r, text_format("%s never acted: ECN is off at every switch", cc->name));
    else if (r->marked_packets == 0)
        result_explain(r, text_format("%s never acted: 0 marks, 0 CNPs: max queue %s never passed "
                                      "Kmin %s",
                                      cc->name, human_bytes(r->max_queue_bytes, a),
                                      human_bytes(kmin, b)));
    else
        result_explain(r,
                       text_format("%s acted on %llu marks, %llu notifications: it lowered a rate "
                                   "or a window %llu times",
                                   cc->name, (unsigned long long)r->marked_packets,
                                   (unsigned long long)(cc->needs & CC_NEEDS_CNP
                                                            ? r->cnps
                                                            : sim->hosts.counters.echoed_marks),
                                   (unsigned long long)r->cc_cuts));
}

// Headroom was exhausted because the sender did not stop in time: PAUSE frames were lost, a pause
// expired before its refresh, or the scenario sets too little headroom.
static void explain_headroom(const struct sim *sim, struct result *r)
{
    unsigned long long drops = r->drops[DROP_HEADROOM];
    if (drops == 0)
        return;
    if (r->lost_pfc_frames > 0)
        result_explain(r, text_format("%llu packets of lossless classes were dropped: %llu PFC "
                                      "frames were lost on links, so senders were not stopped",
                                      drops, (unsigned long long)r->lost_pfc_frames));
    else if (sim_pauses_lapse(sim))
        result_explain(r, text_format("%llu packets of lossless classes were dropped: pauses of "
                                      "switch.pfc.quanta end before they can be refreshed",
                                      drops));
    else
        result_explain(
            r, text_format("%llu packets of lossless classes were dropped: headroom was too small",
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
                r, text_format("%llu %s", (unsigned long long)r->drops[reason], sentences[reason]));
    if (r->watchdog_fired > 0)
        result_explain(r, text_format("the PFC watchdog acted %llu times and dropped %llu packets",
                                      (unsigned long long)r->watchdog_fired,
                                      (unsigned long long)r->drops[DROP_WATCHDOG]));
    uint64_t links =
        r->drops[DROP_LINK_LOSS] + r->drops[DROP_LINK_CORRUPTION] + r->drops[DROP_LINK_DOWN];
    if (links > 0)
        result_explain(r, text_format("links took %llu packets: %llu lost, %llu corrupted, %llu by "
                                      "links that were down",
                                      (unsigned long long)links,
                                      (unsigned long long)r->drops[DROP_LINK_LOSS],
                                      (unsigned long long)r->drops[DROP_LINK_CORRUPTION],
                                      (unsigned long long)r->drops[DROP_LINK_DOWN]));
    if (r->timeouts > r->tcp->timeouts) // those of TCP are explained with its retransmissions
        result_explain(r, text_format("%llu retransmission timeouts",
                                      (unsigned long long)(r->timeouts - r->tcp->timeouts)));
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
    result_explain(r, text_close(out, &cycle));
}

void sim_explain(const struct sim *sim, struct result *r)
{
    if (sim_is_analytical(sim)) {
        result_explain(r,
                       text_format("analytical network: closed forms know no contention, so every "
                                   "message took the time that it takes alone; there were no "
                                   "queues, pauses, marks or losses for a policy to act on"));
        sim_explain_collectives(sim, r);
        return;
    }
    explain_deadlock(r);
    explain_pauses(sim, r);
    explain_policy(sim, r);
    explain_drops(sim, r);
    sim_explain_tcp(sim, r);
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
        return "its NIC is paused";
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
        result_wait(r, text_format("flow %llu rank%u -> rank%u: %llu of %llu bytes delivered, %s",
                                   (unsigned long long)f->id, f->src, f->dst,
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
            r, text_format(
                   "%s is paused by %s for %s (class %u)", graph_port_name(&sim->graph, p, a),
                   graph_node_name(&sim->graph, sim->graph.ports[sim->graph.ports[p].peer].node, b),
                   human_time(r->sim_time_ps - since, t), cls));
    }
}
