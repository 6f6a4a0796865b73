// SPDX-License-Identifier: MIT
// Sentences about links: what they sent again, lanes that were lost, and links that flapped.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"
#include "sim/explain/explain_internal.h"
#include "sim/fabric/port_patterns.h"

#define FAILURE_TIGHT 2 // of the direct saving: a looser bound is not stated

static void explain_retry(struct result *r)
{
    const struct port_result *most = NULL;
    char all[UNIT_TEXT], time[UNIT_TEXT];
    for (size_t i = 0; i < r->n_ports; i++)
        if (r->ports[i].retries > 0 && (!most || r->ports[i].retry_ps > most->retry_ps))
            most = &r->ports[i];
    if (most)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("link-level retry resent %llu packets (%llu retries, %s); "
                                   "most at %s (%s)",
                                   (unsigned long long)r->retried_packets,
                                   (unsigned long long)r->retries, human_time(r->retry_ps, all),
                                   most->at, human_time(most->retry_ps, time)));
}

// The share of its time that each port would transmit with all of its lanes.
struct whole_lanes {
    const struct graph *graph;
    double *share; // [port]
    bool one_way;
    double of_time;
};

static void add_lanes(void *ctx, uint32_t port)
{
    struct whole_lanes *lanes = ctx;
    lanes->share[port] = lanes->of_time;
    if (!lanes->one_way)
        lanes->share[lanes->graph->ports[port].peer] = lanes->of_time;
}

// Returns what the run would save if the links of the fault had kept their rate.
static struct rate_saving lanes_saving(const struct explain_facts *facts,
                                       const struct fault_spec *f, const struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    ps_t end = f->rate_end_ps < r->sim_time_ps ? f->rate_end_ps : r->sim_time_ps;
    double during = (double)(end - f->rate_ps) / (double)r->sim_time_ps;
    struct whole_lanes lanes = {.graph = &fabric->graph,
                                .share = result_same_shares(r),
                                .one_way = f->one_way,
                                .of_time = 1 - during * (1 - f->rate_share)};
    port_patterns_match(&fabric->graph, f->at, add_lanes, &lanes);
    struct rate_saving saving = result_saving_with(r, lanes.share);
    bool busiest = lanes.share[result_busiest_link(r) - r->ports] < 1;
    free(lanes.share);
    if (!result_bound_by_rate(r) && busiest)
        return result_loose_saving(r, lanes.of_time);
    if (!result_bound_by_rate(r))
        return (struct rate_saving){0};
    explain_with_shares(facts, r, NULL, &saving); // closed forms know no faults
    return saving;
}

// Add the setting that removes a fault.
static void without_fault(const struct fabric *fabric, const struct fault_spec *f,
                          struct reason_result *reason)
{
    reason_remedy(reason, "faults[%zu]=null", (size_t)(f - fabric->spec->faults));
}

// Time of the path in which what links lost while they were down, or changed, was recovered.
static ps_t down_recovery_ps(const struct result *r)
{
    if (!r->last || r->drops[DROP_LINK_DOWN] == 0)
        return 0;
    return r->last->critical.parts[PATH_TIMEOUT] + r->last->critical.parts[PATH_RESENDING];
}

static void explain_lanes(const struct explain_facts *facts, const struct fault_spec *f,
                          struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    char from[UNIT_TEXT], to[UNIT_TEXT];
    bool ends = f->rate_end_ps != PS_NEVER;
    if (f->rate_share <= 0 || f->rate_share >= 1 || f->rate_ps >= r->sim_time_ps)
        return;
    char *sentence = text_format("%s had %g %% of its rate from %s %s%s", f->at,
                                 100 * f->rate_share, human_time(f->rate_ps, from),
                                 ends ? "to " : "on", ends ? human_time(f->rate_end_ps, to) : "");
    struct rate_saving saving = {0};
    if (result_may_be_bound(r))
        saving = lanes_saving(facts, f, r);
    ps_t recovery = down_recovery_ps(r);
    saving.direct_ps += recovery;
    if (recovery > 0 && result_share_of(r, recovery) >= SAVING_MIN)
        saving.bound_ps = -1;
    if (saving.direct_ps > 0 && result_share_of(r, saving.direct_ps) >= SAVING_MIN)
        without_fault(fabric, f,
                      result_rate_reason(r, REASON_SLOW_LINK, saving, sentence, "all of it"));
    else
        result_explain(r, EXPLAIN_LOSS, sentence);
}

// Ports of one kind beside a failed link: those of the same switch, whose traffic they take over.
struct failed {
    const struct graph *graph;
    double *share; // [port] of its transmissions that remain if the link had not failed
    double during; // share of the run in which it was down
};

static void relieve(const struct failed *f, uint32_t port, bool into)
{
    const struct graph *g = f->graph;
    uint32_t node = into ? g->ports[g->ports[port].peer].node : g->ports[port].node, n = 0;
    const struct graph_node *at = &g->nodes[node];
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t p = at->first_port; p < at->first_port + at->n_ports; p++) {
            uint32_t other = into ? g->ports[p].peer : p;
            if (!graph_same_kind(g, other, port))
                continue;
            if (pass == 0)
                n++;
            else if (other != port)
                f->share[other] = 1 - f->during / n;
        }
}

static void add_failed(void *ctx, uint32_t port)
{
    const struct failed *f = ctx;
    uint32_t peer = f->graph->ports[port].peer;
    relieve(f, port, false);
    relieve(f, port, true);
    relieve(f, peer, false);
    relieve(f, peer, true);
}

// Returns what the run would save if the link had not failed: the transmissions that others took
// over, and the recovery of what was lost.
static struct rate_saving failure_saving(const struct fabric *fabric, const struct fault_spec *f,
                                         const struct result *r)
{
    ps_t end = f->up_ps < r->sim_time_ps ? f->up_ps : r->sim_time_ps;
    struct failed failed = {.graph = &fabric->graph,
                            .share = result_same_shares(r),
                            .during = (double)(end - f->down_ps) / (double)r->sim_time_ps};
    port_patterns_match(&fabric->graph, f->at, add_failed, &failed);
    struct rate_saving saving = result_saving_within(r, failed.share, FAILURE_TIGHT);
    free(failed.share);
    saving.direct_ps += down_recovery_ps(r);
    if (saving.bound_ps >= 0 && saving.bound_ps < saving.direct_ps)
        saving.bound_ps = saving.direct_ps;
    return saving;
}

static void explain_down(const struct fabric *fabric, const struct fault_spec *f, struct result *r)
{
    char down[UNIT_TEXT], up[UNIT_TEXT];
    bool back = f->up_ps <= r->sim_time_ps;
    if (f->down_ps > r->sim_time_ps)
        return;
    char *sentence =
        text_format("%s failed at %s%s%s", f->at, human_time(f->down_ps, down),
                    back ? ", and was repaired at " : "", back ? human_time(f->up_ps, up) : "");
    struct rate_saving saving = {0};
    if (result_has_path(r))
        saving = failure_saving(fabric, f, r);
    if (saving.direct_ps > 0 && result_share_of(r, saving.direct_ps) >= SAVING_MIN)
        without_fault(fabric, f,
                      result_rate_reason(r, REASON_LINK_DOWN, saving, sentence, "the link"));
    else
        result_explain(r, EXPLAIN_LOSS, sentence);
}

static void explain_flap(const struct fault_spec *f, struct result *r)
{
    char down[UNIT_TEXT];
    if (f->flap_period_ps == 0 || f->flap_ps > r->sim_time_ps)
        return;
    uint64_t times = (uint64_t)((r->sim_time_ps - f->flap_ps) / f->flap_period_ps) + 1;
    times = times < f->flap_count ? times : f->flap_count;
    result_explain(r, EXPLAIN_LOSS,
                   text_format("%s flapped: it was down %llu times, for %s each", f->at,
                               (unsigned long long)times, human_time(f->flap_down_ps, down)));
}

// The ports that a PFC storm has paused: the peers of the ports of the ranks that send the storm.
struct stormed {
    const struct fabric *fabric;
    const struct result *r;
    ps_t paused_ps; // of all of them
    uint32_t n;
    char first[2 * GRAPH_NAME];
};

#define STORMED_MAX 256 // ports whose pauses are summed

static void add_stormed(void *ctx, uint32_t port)
{
    struct stormed *s = ctx;
    const struct graph *g = &s->fabric->graph;
    char name[2 * GRAPH_NAME];
    if (g->ports[port].node >= g->n_ranks || s->n == STORMED_MAX)
        return; // switches send no storms (sim/fabric/faults.c)
    graph_port_name(g, g->ports[port].peer, name);
    for (size_t i = 0; i < s->r->n_pfc_ports; i++)
        if (strcmp(s->r->pfc_ports[i].at, name) == 0)
            s->paused_ps += s->r->pfc_ports[i].paused_ps;
    if (s->n++ == 0)
        memcpy(s->first, name, sizeof name);
}

#define AFTER_TIME 0.001 // right after where the time went, where the path was not stopped itself
#define STORM_WAITS 2    // times that a port is stopped: more is not waited for it
#define STORM_CAUSES ((CAUSES_OF_OTHERS & ~CAUSE(CREDIT)) | CAUSES_OF_LOSS)
#define AS_LONG 1.1 // waits of the path that are those for the ports

// True if the path waited for a port that a storm stopped, or was stopped by PFC.
static bool was_stopped(const struct result *r, const char *port)
{
    const struct critical_result *c = &r->last->critical;
    for (size_t i = 0; i < c->n_places; i++)
        if (strcmp(c->places[i].at, port) == 0)
            return true;
    return (double)c->parts[PATH_PAUSED] >= SAVING_MIN * (double)c->total_ps;
}

// Explain a PFC storm before its consequences: the ports that it stops let buffers behind them
// fill.
static void explain_storm(const struct fabric *fabric, const struct fault_spec *f, struct result *r)
{
    struct stormed s = {.fabric = fabric, .r = r};
    char from[UNIT_TEXT], to[UNIT_TEXT], time[UNIT_TEXT], more[32] = "";
    bool ends = f->storm_end_ps != PS_NEVER;
    if (f->storm_ps == PS_NEVER || f->storm_ps > r->sim_time_ps)
        return;
    port_patterns_match(&fabric->graph, f->at, add_stormed, &s);
    if (s.paused_ps == 0)
        return;
    if (s.n > 1)
        snprintf(more, sizeof more, " and %u more ports", s.n - 1);
    // senders wait for the ports that it stops, and may recover later than it ends
    ps_t stopped = s.paused_ps / s.n,
         waits = !r->last ? 0 : critical_sum_ps(&r->last->critical, STORM_CAUSES),
         most = STORM_WAITS * stopped,
         saving = !r->last ? 0 : result_wait_saving_ps(r, most < waits ? most : waits);
    bool exact = (double)waits <= AS_LONG * (double)stopped;
    char *sentence = text_format(
        "the PFC storm of %s (`faults`), from %s %s%s, stopped %s%s for %s: what waited "
        "behind it did not wait for the policy",
        f->at, human_time(f->storm_ps, from), ends ? "to " : "on",
        ends ? human_time(f->storm_end_ps, to) : "", s.first, more, human_time(s.paused_ps, time));
    if (!r->last || result_share_of(r, saving) < SAVING_MIN) {
        result_explain(r, EXPLAIN_LOSS, sentence);
        return;
    }
    bool stopped_path = was_stopped(r, s.first);
    char saved[2 * UNIT_TEXT] = "";
    if (stopped_path)
        snprintf(saved, sizeof saved, "; %s%s less without it", exact ? "" : "up to ",
                 human_time(saving, time));
    char *whole = text_format("%s%s", sentence, saved);
    struct reason_result *reason =
        stopped_path ? result_saving(r, REASON_STORM, saving, whole)
                     : result_reason(r, REASON_STORM, EXPLAIN_TIME - AFTER_TIME, -1, whole);
    reason->bound = !exact;
    without_fault(fabric, f, reason);
    free(sentence);
}

void explain_links(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    explain_retry(r);
    for (size_t i = 0; i < fabric->spec->n_faults; i++) {
        explain_lanes(facts, &fabric->spec->faults[i], r);
        explain_down(fabric, &fabric->spec->faults[i], r);
        explain_flap(&fabric->spec->faults[i], r);
        explain_storm(fabric, &fabric->spec->faults[i], r);
    }
}
