// SPDX-License-Identifier: MIT
// Makes sentences from counters: why there were no pauses, why the policy did not act, which link
// was the bottleneck, and which ranks and ports wait if a run cannot complete.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/credit_balance.h"
#include "sim/explain/explain_internal.h"

static const struct switch_result *fullest(const struct result *r)
{
    const struct switch_result *best = NULL;
    for (size_t i = 0; i < r->n_switches; i++)
        if (!best || r->switches[i].max_ingress_bytes > best->max_ingress_bytes)
            best = &r->switches[i];
    return best;
}

static bool has_lossless(const struct fabric *fabric)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        if (fabric_lossless(fabric, d) != 0 && !fabric_uses_credits(fabric, d))
            return true;
    return false;
}

// Returns the length at which an ingress of a switch goes to XOFF while `used` bytes of the shared
// buffer are occupied.
static uint64_t xoff_bytes(const struct fabric *fabric, const struct switch_result *sw,
                           uint64_t used)
{
    const struct switch_spec *spec = &fabric->spec->dims[fabric->spec->n_dims - 1].sw;
    double alpha = sw->alpha > 0 ? sw->alpha : spec->pfc.alpha; // 0 if no ingress held a packet
    return (uint64_t)(alpha * (double)(sw->shared_bytes - used)) + spec->reserve_bytes;
}

static void explain_pauses(const struct fabric *fabric, struct result *r)
{
    const struct switch_result *sw = fullest(r);
    char a[UNIT_TEXT], b[UNIT_TEXT];
    if (!sw || !has_lossless(fabric))
        return;
    if (r->pause_frames == 0) {
        result_explain(r, EXPLAIN_REASON,
                       text_format("no PFC: the fullest ingress held %s (%s), and PFC starts at %s",
                                   human_bytes(sw->max_ingress_bytes, a), sw->at,
                                   human_bytes(xoff_bytes(fabric, sw, sw->max_buffer_bytes), b)));
        return;
    }
    result_explain(
        r, EXPLAIN_REASON,
        text_format("PFC: %llu XOFF frames, refreshes included; an ingress of %s held %s, and "
                    "the limit is %s when the switch is empty, less when it is not",
                    (unsigned long long)r->pause_frames, sw->at,
                    human_bytes(sw->max_ingress_bytes, a),
                    human_bytes(xoff_bytes(fabric, sw, 0), b)));
    if (r->drops[DROP_HEADROOM] == 0)
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("no lossless drop: headroom use peaked at %s of %s",
                                   human_bytes(sw->max_headroom_bytes, a),
                                   human_bytes(sw->headroom_limit_bytes, b)));
}

// The lowest Kmin among switch ports, or UINT64_MAX if no port marks.
static uint64_t lowest_kmin(const struct fabric *fabric)
{
    uint64_t kmin = UINT64_MAX;
    for (uint32_t p = 0; p < fabric->net.n_ports * fabric->net.n_data; p++) {
        const struct marking *m = &fabric->switches.markings[p];
        if (m->enabled && m->kmin_bytes < kmin)
            kmin = m->kmin_bytes;
    }
    return kmin;
}

// Explain several policies of one network together: the counters are sums over all flows.
static void explain_policies(const struct fabric *fabric, struct result *r)
{
    if (r->cc_cuts == 0 && r->marked_packets == 0)
        return;
    result_explain(r, EXPLAIN_DETAIL,
                   text_format("%s together lowered a rate or a window %llu times; %llu packets "
                               "were marked, %llu CNPs were sent, %llu marks were echoed by ACKs",
                               r->policy, (unsigned long long)r->cc_cuts,
                               (unsigned long long)r->marked_packets,
                               (unsigned long long)fabric->hosts.counters.cnps_sent,
                               (unsigned long long)fabric->hosts.counters.echoed_marks));
}

// Explain why a policy that uses marks did not act.
static void explain_no_marks(const struct fabric *fabric, struct result *r, const struct cc_ops *cc)
{
    char a[UNIT_TEXT], b[UNIT_TEXT];
    uint64_t kmin = lowest_kmin(fabric);
    if (kmin == UINT64_MAX)
        result_explain(r, EXPLAIN_REASON,
                       text_format("%s never acted: ECN is off at every switch", cc->name));
    else
        result_explain(r, EXPLAIN_REASON,
                       text_format("%s never acted: the longest queue held %s, and marking "
                                   "starts at %s",
                                   cc->name, human_bytes(r->max_queue_bytes, a),
                                   human_bytes(kmin, b)));
}

static void explain_marks(const struct fabric *fabric, struct result *r)
{
    const struct dim_spec *dim = &fabric->spec->dims[fabric->spec->n_dims - 1];
    const struct cc_ops *cc = dim->cc;
    char queue[UNIT_TEXT];
    if (dim->n_stacks > 1) {
        explain_policies(fabric, r);
        return;
    }
    bool by_marks = cc->needs & (CC_NEEDS_ECN | CC_NEEDS_CNP) ||
                    (r->marked_packets > 0 && dim->cc_preset->profile.ecn);
    if (!by_marks && r->marked_packets > 0)
        result_explain(r, EXPLAIN_REASON,
                       text_format("%llu packets were marked, but policy %s ignores ECN marks",
                                   (unsigned long long)r->marked_packets, cc->name));
    if (by_marks && r->marked_packets == 0)
        explain_no_marks(fabric, r, cc);
    else if (by_marks)
        result_explain(
            r, EXPLAIN_DETAIL,
            text_format("%s got %llu notifications of %llu marked packets, and lowered a rate "
                        "or a window %llu times",
                        cc->name,
                        (unsigned long long)(cc->needs & CC_NEEDS_CNP
                                                 ? r->cnps
                                                 : fabric->hosts.counters.echoed_marks),
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
static void explain_headroom(const struct fabric *fabric, struct result *r)
{
    unsigned long long drops = r->drops[DROP_HEADROOM];
    if (drops == 0)
        return;
    if (r->lost_pfc_frames > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu packets of lossless classes were dropped: %llu PFC "
                                   "frames were lost on links, so senders were not stopped",
                                   drops, (unsigned long long)r->lost_pfc_frames));
    else if (fabric_pauses_lapse(fabric))
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu packets of lossless classes were dropped: pauses of "
                                   "switch.pfc.quanta end before they can be refreshed",
                                   drops));
    else if (r->watchdog_fired > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu packets of lossless classes were dropped: where the "
                                   "PFC watchdog has fired, a port ignores pauses for a time",
                                   drops));
    else
        result_explain(
            r, EXPLAIN_LOSS,
            text_format("%llu packets of lossless classes were dropped: headroom was too small",
                        drops));
}

static void explain_drops(const struct fabric *fabric, struct result *r)
{
#define SENTENCE(constant, key, help, sentence) sentence,
    static const char *const sentences[] = {DROP_LIST(SENTENCE)};
#undef SENTENCE
    explain_headroom(fabric, r);
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
    uint64_t moved = fabric->hosts.counters.moved;
    if (moved > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu connection%s took another port when routes changed, "
                                   "since their own led nowhere, and sent again what was in "
                                   "flight",
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
    bool moves = false; // ranks that wait for each other, again and again
    for (size_t j = 0; j < spec->n_jobs; j++)
        moves |= !spec->jobs[j].kind->raw;
    bool quiet = moves && noise->start_ps == 0 && noise->step.mean_ps == 0 &&
                 noise->clock_ppm <= 0 && noise->link_delay_ps == 0;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        for (uint32_t t = 0; t < spec->dims[d].n_stacks; t++)
            quiet &= spec->dims[d].stacks[t].transport.start_jitter_ps == 0 &&
                     spec->dims[d].stacks[t].transport.clock_ppm <= 0;
    return quiet && spec_has_noise(spec);
}

// Warn that ranks move in lockstep: the lost or marked packets then depend on the order of arrivals
// at the same instant, which only a simulation has.
static void explain_lockstep(const struct fabric *fabric, struct result *r)
{
    bool loses = r->dropped_packets > 0;
    if ((!loses && r->marked_packets == 0) || !in_lockstep(fabric->spec))
        return;
    result_explain(
        r, EXPLAIN_TIME - 0.001,
        text_format(
            "all ranks move in lockstep, and packets are %s in perfect symmetry, as on no real "
            "cluster: with noise.preset cluster, and several seeds, times may differ",
            loses ? "lost" : "marked"));
}

// How far from packets the times of drawn scenarios were, and whether this one is among them.
static char *hybrid_error_words(const struct hybrid_error *e)
{
    const char *beyond = !e->outside                       ? ""
                         : strcmp(e->outside, "kind") == 0 ? ", none of this kind of work"
                                                           : ", all of fewer ranks";
    return text_format(
        "within %.2g %% of packets in 9 of 10 of %llu drawn scenarios%s%s%s, at most "
        "%.2g %%",
        100 * e->p90, (unsigned long long)e->cases, strcmp(e->kind, "all") == 0 ? "" : " of kind ",
        strcmp(e->kind, "all") == 0 ? "" : e->kind, beyond, 100 * e->most);
}

// How much of a hybrid network was in closed form, and why the largest other part was not.
static void explain_hybrid(struct result *r)
{
    const struct hybrid_result *hybrid = r->hybrid;
    const struct not_quiet_share *most = NULL;
    for (size_t i = 0; hybrid && i < hybrid->n_reasons; i++)
        if (!most || hybrid->reasons[i].share > most->share)
            most = &hybrid->reasons[i];
    if (!hybrid)
        return;
    char why[96] = "";
    if (most)
        snprintf(why, sizeof why, "; the others were packets, most of them by reason `%s`",
                 most->reason);
    char *error = hybrid_error_words(&hybrid->error);
    result_explain(r, EXPLAIN_DETAIL,
                   text_format("hybrid network: %.1f %% of the bytes took the closed form of a "
                               "message that meets no other%s; times were %s (docs/hybrid.md)",
                               100 * hybrid->quiet_share, why, error));
    free(error);
}

void explain(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    if (fabric_is_analytical(fabric)) {
        result_explain(r, EXPLAIN_REASON,
                       text_format("analytical network: closed forms know no contention, so "
                                   "every message took the time that it takes alone; there were "
                                   "no queues, pauses, marks or losses for a policy to act on"));
        explain_time(facts, r);
        explain_collectives(facts, r);
        explain_library(facts, r);
        explain_hosts(facts, r);
        explain_closed_form(fabric, r);
        return;
    }
    explain_hybrid(r);
    explain_deadlock(r);
    explain_lockstep(fabric, r);
    explain_algorithm(facts, r);
    explain_jobs(facts, r);
    explain_time(facts, r);
    explain_pauses(fabric, r);
    explain_marks(fabric, r);
    explain_marks_order(fabric, r);
    explain_drops(fabric, r);
    explain_switches(fabric, r);
    explain_links(fabric, r);
    explain_rates(fabric, r);
    explain_headers(fabric, r);
    explain_losses(fabric, r);
    explain_queue_drops(fabric, r);
    explain_starved(fabric, r);
    explain_latency(fabric, r);
    explain_target(fabric, r);
    explain_nics(fabric, r);
    explain_tcp(fabric, r);
    explain_uec(r);
    explain_admission(fabric, r);
    explain_circuits(fabric, r);
    explain_collectives(facts, r);
    explain_library(facts, r);
    explain_hosts(facts, r);
    explain_fabric(facts, r);
}

static const char *why_waiting(const struct explain_facts *facts, const struct flow_record *f)
{
    const struct fabric *fabric = facts->fabric;
    if (fabric_is_analytical(fabric))
        return "it is on its way";
    const struct sender *s = fabric->hosts.senders[fabric->flow_order[f->qp]];
    if (s->failed)
        return "its retries are used up";
    if (s->nic->paused)
        return s->nic->needs_credit ? "its NIC waits for credit" : "its NIC is paused";
    if (s->una < s->nxt)
        return s->dim->retransmits || !facts->stuck
                   ? "it waits for an ACK"
                   : "a lost packet is not sent again without recovery";
    if (sender_may_send(s))
        return "it was sending";
    return s->nxt < s->tail && s->una == s->nxt ? "its window is closed, or its connection not open"
                                                : "it waits for earlier messages";
}

// Messages that fail, and runs that stall, do so since a link has failed: that comes first.
static void explain_failed_first(const struct explain_facts *facts, struct result *r)
{
    bool ends = r->n_deadlock == 0 && (r->summary.failed > 0 || facts->stuck);
    char *failure = ends ? explain_failure(facts->fabric, r) : NULL;
    if (failure && r->reason) {
        char *why = r->reason;
        r->reason = text_format("%s: %s", failure, why);
        free(why);
    }
    free(failure);
}

// List what blocks the run: every unfinished flow, and every port that PFC has paused.
void explain_waiting(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    char a[2 * GRAPH_NAME], b[GRAPH_NAME], t[UNIT_TEXT];
    explain_failed_first(facts, r);
    explain_waiting_collectives(facts, r);
    for (size_t i = 0, n = 0; i < r->n_flows && n < RESULT_WAITING_MAX; i++) {
        const struct flow_record *f = &r->flows[i];
        if (f->status == MESSAGE_DONE)
            continue;
        n++;
        result_wait(r, text_format("flow %llu %s -> %s: %llu of %llu bytes delivered, %s",
                                   (unsigned long long)f->id,
                                   graph_node_name(&fabric->graph, f->src, a),
                                   graph_node_name(&fabric->graph, f->dst, b),
                                   (unsigned long long)f->delivered_bytes,
                                   (unsigned long long)f->bytes, why_waiting(facts, f)));
    }
    size_t n = 0;
    for (uint32_t p = 0; p < fabric->net.n_ports && n < RESULT_WAITING_MAX; p++) {
        if (fabric->net.ports[p].paused == 0)
            continue;
        n++;
        unsigned cls = fabric->net.class_of_slot[__builtin_ctz(fabric->net.ports[p].paused)];
        ps_t since = fabric->net.pfc[p].cls[cls].since_ps;
        result_wait(
            r,
            text_format("%s %s %s for %s (class %u)", graph_port_name(&fabric->graph, p, a),
                        port_has_credits(&fabric->net, p, cls) ? "has waited for credit of"
                                                               : "is paused by",
                        graph_node_name(&fabric->graph,
                                        fabric->graph.ports[fabric->graph.ports[p].peer].node, b),
                        human_time(r->sim_time_ps - since, t), cls));
    }
}
