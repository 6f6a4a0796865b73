// SPDX-License-Identifier: MIT
// Sentences about what held senders back on the critical path: the policy's cuts, a window that
// does not fill the path, the receivers' timers and retransmission timers.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

#define BUSY 0.85  // use of a link from which it bounds the run
#define GENTLE 0.9 // a cut to at least this share of line rate or BDP does not count

// The flow that waited longest for a cause, on the path; a path keeps few places, so else of all
// flows. `name` is its name. Returns false if none waited.
static bool longest_wait(const struct fabric *fabric, const struct result *r, enum path_cause cause,
                         struct critical_place *place, char name[2 * GRAPH_NAME])
{
    const struct critical_place *kept = critical_place_of(&r->last->critical, cause);
    char from[GRAPH_NAME], to[GRAPH_NAME];
    *place = (struct critical_place){.at = name};
    if (kept) {
        snprintf(name, 2 * GRAPH_NAME, "%s", kept->at);
        place->index = kept->index;
        place->ps = kept->ps;
        return true;
    }
    for (size_t i = 0; i < r->n_flows && r->last->critical.parts[cause] > 0; i++) {
        const struct flow_record *f = &r->flows[i];
        if (f->job != r->last->job || f->life_ps[cause] <= place->ps)
            continue;
        place->ps = f->life_ps[cause];
        place->index = f->qp;
        snprintf(name, 2 * GRAPH_NAME, "%s->%s", graph_node_name(&fabric->graph, f->src, from),
                 graph_node_name(&fabric->graph, f->dst, to));
    }
    return place->ps > 0;
}

// The flow that its policy held back longest, by its window or pace.
static bool held_back(const struct fabric *fabric, const struct result *r,
                      struct critical_place *place, char name[2 * GRAPH_NAME])
{
    const ps_t *parts = r->last->critical.parts;
    enum path_cause more = parts[PATH_PACE] > parts[PATH_WINDOW] ? PATH_PACE : PATH_WINDOW;
    return longest_wait(fabric, r, more, place, name);
}

// The time that a flow needs to grow back after its last cut, as in "; recovering to the line rate
// in steps of 100 Mb/s every 55 us takes 54 ms"; "" if the policy states no growth.
static void growth_text(const struct sender *s, char *text, size_t size)
{
    const struct sender_cuts *cuts = &sender_rare(s)->cuts;
    const struct cc_env *env = sender_env(s);
    char step[UNIT_TEXT], every[UNIT_TEXT], takes[UNIT_TEXT];
    text[0] = '\0';
    if (!cc_extras_of(s->cc->ops)->growth)
        return;
    struct cc_growth g = cc_extras_of(s->cc->ops)->growth(s->cc);
    uint64_t bdp = cc_bdp_bytes(env);
    if (g.step_bps > 0 && cuts->rate_bps < env->line_bps) {
        ps_t all = (ps_t)((env->line_bps - cuts->rate_bps) / g.step_bps) * g.every_ps;
        snprintf(text, size, "; recovering to the line rate in steps of %s every %s takes %s",
                 human_rate((double)g.step_bps, step), human_time(g.every_ps, every),
                 human_time(all, takes));
    } else if (g.step_bytes > 0 && cuts->window_bytes < bdp) {
        ps_t all = (ps_t)((bdp - cuts->window_bytes) / g.step_bytes) * g.every_ps;
        snprintf(text, size,
                 "; recovering to a window of bandwidth times RTT in steps of %s every %s takes %s",
                 human_bytes(g.step_bytes, step), human_time(g.every_ps, every),
                 human_time(all, takes));
    }
}

static void explain_cuts(struct result *r, const struct sender *s, const char *flow, ps_t saving)
{
    const struct sender_cuts *cuts = &sender_rare(s)->cuts;
    const struct port_result *link = result_busiest_link(r);
    char first[UNIT_TEXT], last[UNIT_TEXT], left[UNIT_TEXT], growth[256], idle[96], when[96];
    bool paced = cuts->rate_bps < sender_env(s)->line_bps;
    growth_text(s, growth, sizeof growth);
    if (cuts->n == 1)
        snprintf(when, sizeof when, "once, at %s", human_time(cuts->last_ps, last));
    else
        snprintf(when, sizeof when, "%u times between %s and %s", cuts->n,
                 human_time(cuts->first_ps, first), human_time(cuts->last_ps, last));
    idle[0] = '\0';
    if (link && result_use(r, link) < BUSY)
        snprintf(idle, sizeof idle, "; the busiest link was idle %.0f %% of the time",
                 100 * (1 - result_use(r, link)));
    struct reason_result *reason =
        result_cause(r, REASON_CUTS, saving,
                     text_format("%s cut %s %s, to %s%s%s", s->cc->ops->name, flow, when,
                                 paced ? human_rate((double)cuts->rate_bps, left)
                                       : human_bytes(cuts->window_bytes, left),
                                 idle, growth),
                     "with no policy");
    reason->at = text_format("%s", flow);
    reason_set(reason, "cc={\"kind\":\"none\"}");
}

// Returns the part of the waits for a window that a larger one would save. A window that fills the
// path at its base round trip costs nothing: then its flow waits since queues make round trips
// longer. With V = wait, S = sending: a round trip takes window / line rate * (1 + V / S).
static ps_t short_window_ps(const struct result *r, const struct sender *s, uint64_t bytes)
{
    const struct cc_env *env = sender_env(s);
    double window = (double)bytes, wait = (double)r->last->critical.parts[PATH_WINDOW],
           sending = (double)r->last->critical.parts[PATH_SENDING],
           coalesced = env->ack_packets > 1 ? (double)(env->ack_packets - 1) * env->mtu_bytes : 0,
           missing = (double)cc_bdp_bytes(env) + coalesced - window,
           idle = sending > 0 ? window * wait / sending : window;
    double share = missing <= 0 ? 0 : missing < idle ? missing / idle : 1;
    return (ps_t)(share * wait);
}

// Words for a window that fills the path; NULL = no setting makes one.
static const char *larger_window(const struct sender *s)
{
    if (strcmp(s->cc->ops->name, "window") == 0)
        return "with a window that fills it";
    return fabric_is_tcp(s->dim) ? NULL : "with no policy";
}

static void explain_window(const struct fabric *fabric, struct result *r, const struct sender *s,
                           const struct critical_place *flow)
{
    char window[UNIT_TEXT], bdp[UNIT_TEXT], wait[UNIT_TEXT];
    uint64_t bytes = s->cold.cap_bytes < s->cwnd_bytes ? s->cold.cap_bytes : s->cwnd_bytes;
    ps_t saving = result_wait_saving_ps(r, short_window_ps(r, s, bytes));
    if (bytes == CC_UNLIMITED || explain_has_target(fabric) ||
        result_share_of(r, saving) < SAVING_MIN)
        return;
    char *seen = text_format("%s waited %s for its window (%s at the end; %s fill its path)",
                             flow->at, human_time(flow->ps, wait), human_bytes(bytes, window),
                             human_bytes(cc_bdp_bytes(sender_env(s)), bdp));
    const char *change = larger_window(s);
    if (!change) {
        result_reason(r, REASON_WINDOW, EXPLAIN_TIME - 0.1, seen)->at = text_format("%s", flow->at);
        return;
    }
    struct reason_result *reason = result_cause(r, REASON_WINDOW, saving, seen, change);
    reason->at = text_format("%s", flow->at);
    double times = (double)cc_bdp_bytes(sender_env(s)) / (double)bytes;
    if (strcmp(s->cc->ops->name, "window") == 0)
        reason_set(reason, "cc={\"kind\":\"window\",\"k\":%.3g}", times < 1 ? 2.0 : 2 * times);
    else
        reason_set(reason, "cc={\"kind\":\"none\"}");
}

// True if RoCE's own limit, a bandwidth-delay product, and not the policy bounds the bytes in
// flight.
static bool is_capped(const struct sender *s)
{
    const struct transport_spec *t = &s->dim->spec;
    const struct param p = param_find(t->ops->params, t->ops->n_params, "bdp_cap");
    char text[PARAM_TEXT_MAX];
    return p.name && strcmp(param_text(&p, t->own, text), "true") == 0 &&
           s->cold.cap_bytes < s->cwnd_bytes;
}

static void explain_cap(struct result *r, const struct sender *s, const struct critical_place *flow,
                        ps_t saving)
{
    char cap[UNIT_TEXT], wait[UNIT_TEXT];
    struct reason_result *reason = result_cause(
        r, REASON_BDP_CAP, saving,
        text_format("%s waited %s since RoCE has at most %s in flight "
                    "(transport.bdp_cap)",
                    flow->at, human_time(flow->ps, wait), human_bytes(s->cold.cap_bytes, cap)),
        "without this cap");
    reason->at = text_format("%s", flow->at);
    reason_set(reason, "transport.bdp_cap=false");
}

// Returns true if cuts hold the flow back: the last cut left it well below the line rate, or below
// the window that fills its path.
static bool was_cut(const struct sender *s)
{
    const struct sender_cuts *cuts = &sender_rare(s)->cuts;
    const struct cc_env *env = sender_env(s);
    return cuts->n > 0 && ((double)cuts->rate_bps < GENTLE * (double)env->line_bps ||
                           (double)cuts->window_bytes < GENTLE * (double)cc_bdp_bytes(env));
}

void explain_policy(const struct fabric *fabric, struct result *r)
{
    struct critical_place at, *flow = &at;
    char name[2 * GRAPH_NAME];
    const ps_t *parts = r->last->critical.parts;
    ps_t saving = result_wait_saving_ps(r, parts[PATH_PACE] + parts[PATH_WINDOW]);
    if (!held_back(fabric, r, flow, name) || result_share_of(r, saving) < SAVING_MIN)
        return;
    const struct sender *s = fabric->hosts.senders[fabric->flow_order[flow->index]];
    if (fabric_is_uec(s->dim))
        return; // without its policy switches would trim or drop what it does not send
    if (was_cut(s))
        explain_cuts(r, s, flow->at, saving);
    else if (is_capped(s))
        explain_cap(r, s, flow, saving);
    else
        explain_window(fabric, r, s, flow);
}

/* ---- acknowledgements ---- */

void explain_ack_delay(const struct fabric *fabric, struct result *r)
{
    struct critical_place at, *flow = &at;
    char name[2 * GRAPH_NAME];
    // Loss probes of a sender that waits for the same timer count as waits for the window.
    ps_t saving = result_wait_saving_ps(
        r, critical_sum_ps(&r->last->critical, CAUSE(ACK_DELAY) | CAUSE(WINDOW)));
    char wait[UNIT_TEXT];
    if (!longest_wait(fabric, r, PATH_ACK_DELAY, flow, name) ||
        result_share(r, PATH_ACK_DELAY) < SAVING_MIN)
        return;
    struct reason_result *reason = result_cause(
        r, REASON_ACK_DELAY, saving,
        text_format("%s waited %s for acknowledgements that the receiver's timer held back "
                    "(transport.delayed_ack)",
                    flow->at, human_time(flow->ps, wait)),
        "with an ACK for each segment");
    reason->at = text_format("%s", flow->at);
    reason_set(reason, "transport.delayed_ack.segments=1");
}

/* ---- timeouts ---- */

#define RTO_LEAST (250 * PS_PER_US) // shorter ones may expire while a link that failed is noticed
#define AFTER_LOSS 0.5              // of the saving counts: what was lost is the first cause
#define RTO_RTTS 25                 // a timer of so many round trips is longer than most queues

static ps_t short_timer_ps(const struct sender *s)
{
    ps_t rto = RTO_RTTS * sender_env(s)->base_rtt_ps;
    return rto > RTO_LEAST ? rto : RTO_LEAST;
}

// With shorter timers a sender waits for as many of them, and then sends as much again.
void explain_timeouts(const struct fabric *fabric, struct result *r)
{
    struct critical_place at, *flow = &at;
    char name[2 * GRAPH_NAME];
    const ps_t *parts = r->last->critical.parts;
    char wait[UNIT_TEXT], total[UNIT_TEXT], of_flow[UNIT_TEXT], rto[UNIT_TEXT], change[64];
    if (!longest_wait(fabric, r, PATH_TIMEOUT, flow, name))
        return;
    const struct sender *s = fabric->hosts.senders[fabric->flow_order[flow->index]];
    double n = s->cold.timeouts > 0 ? s->cold.timeouts : 1, timer = (double)short_timer_ps(s),
           less_each = 1 - timer * n / (double)flow->ps;
    ps_t saving = result_wait_saving_ps(r, (ps_t)(less_each * (double)parts[PATH_TIMEOUT]));
    if (less_each <= 0 || result_share_of(r, saving) < SAVING_MIN)
        return;
    char *seen = text_format(
        "flows on the path waited %s of %s for retransmission timers, %s %s (expired %llu time%s)",
        human_time(parts[PATH_TIMEOUT], wait), human_time(r->last->critical.total_ps, total),
        flow->at, human_time(flow->ps, of_flow), (unsigned long long)s->cold.timeouts,
        s->cold.timeouts > 1 ? "s" : "");
    // Timers that follow the path, as of selective repeat and UEC, have no setting for it.
    if (!fabric_is_tcp(s->dim) && !explain_goes_back(fabric)) {
        result_reason(r, REASON_TIMEOUTS, EXPLAIN_TIME - 0.1, seen)->at =
            text_format("%s", flow->at);
        return;
    }
    snprintf(change, sizeof change, "with timers of %s", human_time((ps_t)timer, rto));
    struct reason_result *reason =
        result_cause(r, REASON_TIMEOUTS, (ps_t)(AFTER_LOSS * (double)saving), seen, change);
    reason->at = text_format("%s", flow->at);
    long long ns = (long long)((ps_t)timer / PS_PER_NS);
    if (fabric_is_tcp(s->dim)) {
        reason_set(reason, "transport.rto_min=%lldns", ns);
        reason_set(reason, "transport.rto_initial=%lldns", ns);
    } else {
        reason_set(reason, "transport.rto=%lldns", ns);
    }
}
