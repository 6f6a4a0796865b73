// SPDX-License-Identifier: MIT
// Sentences about links: what they sent again, lanes that were lost, and links that flapped.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "sim/explain/explain_internal.h"
#include "sim/fabric/port_patterns.h"

#define FAULT_MIN 0.005 // share of the path from which a fault may have cost time

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

// Returns about what the run would save if the links of the fault had kept their rate.
static ps_t lanes_saving(const struct fabric *fabric, const struct fault_spec *f,
                         const struct result *r)
{
    ps_t end = f->rate_end_ps < r->sim_time_ps ? f->rate_end_ps : r->sim_time_ps;
    double during = (double)(end - f->rate_ps) / (double)r->sim_time_ps;
    struct whole_lanes lanes = {.graph = &fabric->graph,
                                .share = result_same_shares(r),
                                .one_way = f->one_way,
                                .of_time = 1 - during * (1 - f->rate_share)};
    port_patterns_match(&fabric->graph, f->at, add_lanes, &lanes);
    ps_t saving = result_saving_with(r, lanes.share);
    free(lanes.share);
    return saving;
}

// The links of a fault, for one name however the scenario writes them.
struct fault_links {
    const struct graph *graph;
    bool *matched; // [port] the lower one of a link's two ports, unless the fault is one way
    bool one_way;
};

static void add_link(void *ctx, uint32_t port)
{
    struct fault_links *links = ctx;
    uint32_t peer = links->graph->ports[port].peer;
    links->matched[links->one_way || port < peer ? port : peer] = true;
}

static char *fault_place(const struct fabric *fabric, const struct fault_spec *f)
{
    const struct graph *g = &fabric->graph;
    struct fault_links links = {g, memory_zeroed(g->n_ports, sizeof(bool)), f->one_way};
    char name[2 * GRAPH_NAME] = "", more[32] = "";
    uint32_t n = 0;
    port_patterns_match(g, f->at, add_link, &links);
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (links.matched[p] && n++ == 0)
            graph_port_name(g, p, name);
    free(links.matched);
    if (n > 1)
        snprintf(more, sizeof more, " and %u more", n - 1);
    return text_format("%s%s", name, more);
}

// Add a cause that ends with the fault, if it may have cost time; else what happened. Takes `at`
// and `seen`.
static void fault_seen(const struct fabric *fabric, const struct fault_spec *f, struct result *r,
                       enum reason_kind kind, ps_t saving, char *at, char *seen, const char *change)
{
    if (!result_has_path(r) || result_share_of(r, saving) < FAULT_MIN) {
        result_explain(r, EXPLAIN_LOSS, seen);
        free(at);
        return;
    }
    struct reason_result *reason = result_cause(r, kind, saving, seen, change);
    reason->at = at;
    reason_set(reason, "faults[%zu]=null", (size_t)(f - fabric->spec->faults));
}

// Time of the path in which what links lost while they were down, or changed, was recovered.
static ps_t down_recovery_ps(const struct result *r)
{
    if (!r->last || r->drops[DROP_LINK_DOWN] == 0)
        return 0;
    return r->last->critical.parts[PATH_TIMEOUT] + r->last->critical.parts[PATH_RESENDING];
}

static void explain_lanes(const struct fabric *fabric, const struct fault_spec *f, struct result *r)
{
    char from[UNIT_TEXT], to[UNIT_TEXT];
    bool ends = f->rate_end_ps != PS_NEVER;
    if (f->rate_share <= 0 || f->rate_share >= 1 || f->rate_ps >= r->sim_time_ps)
        return;
    char *at = fault_place(fabric, f);
    char *seen = text_format("%s had %g %% of its rate from %s %s%s", at, 100 * f->rate_share,
                             human_time(f->rate_ps, from), ends ? "to " : "on",
                             ends ? human_time(f->rate_end_ps, to) : "");
    ps_t saving = result_has_path(r) ? lanes_saving(fabric, f, r) + down_recovery_ps(r) : 0;
    fault_seen(fabric, f, r, REASON_SLOW_LINK, saving, at, seen, "with all of it");
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

// Returns about what the run would save if the link had not failed: the transmissions that others
// took over, and the recovery of what was lost.
static ps_t failure_saving(const struct fabric *fabric, const struct fault_spec *f,
                           const struct result *r)
{
    ps_t end = f->up_ps < r->sim_time_ps ? f->up_ps : r->sim_time_ps;
    struct failed failed = {.graph = &fabric->graph,
                            .share = result_same_shares(r),
                            .during = (double)(end - f->down_ps) / (double)r->sim_time_ps};
    port_patterns_match(&fabric->graph, f->at, add_failed, &failed);
    ps_t saving = result_saving_with(r, failed.share) + down_recovery_ps(r);
    free(failed.share);
    return saving;
}

static void explain_down(const struct fabric *fabric, const struct fault_spec *f, struct result *r)
{
    char down[UNIT_TEXT], up[UNIT_TEXT];
    bool back = f->up_ps <= r->sim_time_ps;
    if (f->down_ps > r->sim_time_ps)
        return;
    char *at = fault_place(fabric, f);
    char *seen =
        text_format("%s failed at %s%s%s", at, human_time(f->down_ps, down),
                    back ? ", and was repaired at " : "", back ? human_time(f->up_ps, up) : "");
    ps_t saving = result_has_path(r) ? failure_saving(fabric, f, r) : 0;
    fault_seen(fabric, f, r, REASON_LINK_DOWN, saving, at, seen, "without this failure");
}

static void explain_flap(const struct fabric *fabric, const struct fault_spec *f, struct result *r)
{
    char down[UNIT_TEXT];
    if (f->flap_period_ps == 0 || f->flap_ps > r->sim_time_ps)
        return;
    uint64_t times = (uint64_t)((r->sim_time_ps - f->flap_ps) / f->flap_period_ps) + 1;
    times = times < f->flap_count ? times : f->flap_count;
    ps_t saving = down_recovery_ps(r) + (ps_t)times * f->flap_down_ps;
    char *at = fault_place(fabric, f);
    char *seen = text_format("%s flapped: it was down %llu times, for %s each", at,
                             (unsigned long long)times, human_time(f->flap_down_ps, down));
    fault_seen(fabric, f, r, REASON_LINK_DOWN, saving, at, seen, "without these failures");
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

// A storm is sent by ranks alone (sim/fabric/faults.c), however its link is written.
static void add_stormed(void *ctx, uint32_t port)
{
    struct stormed *s = ctx;
    const struct graph *g = &s->fabric->graph;
    char name[2 * GRAPH_NAME];
    uint32_t sends = g->ports[port].node < g->n_ranks ? port : g->ports[port].peer;
    if (g->ports[sends].node >= g->n_ranks || s->n == STORMED_MAX)
        return;
    graph_port_name(g, g->ports[sends].peer, name);
    if (s->n > 0 && strcmp(s->first, name) == 0)
        return;
    for (size_t i = 0; i < s->r->n_pfc_ports; i++)
        if (strcmp(s->r->pfc_ports[i].at, name) == 0)
            s->paused_ps += s->r->pfc_ports[i].paused_ps;
    if (s->n++ == 0)
        memcpy(s->first, name, sizeof name);
}

#define STORM_CAUSES ((CAUSES_OF_OTHERS & ~CAUSE(CREDIT)) | CAUSES_OF_LOSS)

// Explain a PFC storm before its consequences: the ports that it stops let buffers behind them
// fill, and a policy then cuts rates.
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
    ps_t waits = result_has_path(r) ? critical_sum_ps(&r->last->critical, STORM_CAUSES) : 0;
    char *seen = text_format("the PFC storm of %s (`faults`), from %s %s%s, stopped %s%s for %s",
                             s.first, human_time(f->storm_ps, from), ends ? "to " : "on",
                             ends ? human_time(f->storm_end_ps, to) : "", s.first, more,
                             human_time(s.paused_ps, time));
    fault_seen(fabric, f, r, REASON_STORM, waits, text_format("%s", s.first), seen, "without it");
}

void explain_links(const struct fabric *fabric, struct result *r)
{
    explain_retry(r);
    for (size_t i = 0; i < fabric->spec->n_faults; i++) {
        explain_lanes(fabric, &fabric->spec->faults[i], r);
        explain_down(fabric, &fabric->spec->faults[i], r);
        explain_flap(fabric, &fabric->spec->faults[i], r);
        explain_storm(fabric, &fabric->spec->faults[i], r);
    }
}

char *explain_failure(const struct fabric *fabric, const struct result *r)
{
    char down[UNIT_TEXT];
    for (size_t i = 0; i < fabric->spec->n_faults; i++) {
        const struct fault_spec *f = &fabric->spec->faults[i];
        if (f->down_ps > r->sim_time_ps)
            continue;
        char *at = fault_place(fabric, f);
        char *text = text_format("%s failed at %s", at, human_time(f->down_ps, down));
        free(at);
        return text;
    }
    return NULL;
}
