// SPDX-License-Identifier: MIT
// Sentences about rates of links that bound a run: a link slower than its peers, and a tier of
// switches with less rate towards the tiers above than towards the ranks (oversubscription).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"
#include "sim/fabric/tiers.h"

#define SLOWER 0.95 // of the usual rate: below it a link is slow
#define PEERS_MIN 3 // links of a kind from which they have a usual rate

/* ---- links slower than their peers ---- */

static int by_rate(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

// Returns the median of the rates of the links of the kind of `port`; 0 if there are too few.
static uint64_t usual_rate(const struct graph *g, uint32_t port)
{
    uint64_t *rates = memory_zeroed(g->n_ports, sizeof *rates);
    size_t n = 0;
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (graph_same_kind(g, p, port))
            rates[n++] = g->ports[p].rate_bps;
    qsort(rates, n, sizeof *rates, by_rate);
    uint64_t median = rates[n / 2];
    free(rates);
    return n < PEERS_MIN ? 0 : median;
}

// Add the settings that give slow links the rate of their peers, after the scenario's own `links`.
static void add_usual_rates(const struct fabric *fabric, struct reason_result *reason,
                            uint32_t busiest, uint64_t usual)
{
    const struct graph *g = &fabric->graph;
    size_t n = fabric->spec->n_links;
    char name[2 * GRAPH_NAME];
    for (uint32_t p = 0; p < g->n_ports; p++) {
        if (!graph_same_kind(g, p, busiest) ||
            (double)g->ports[p].rate_bps >= SLOWER * (double)usual)
            continue;
        reason_set(reason, "links[%zu]={\"at\":\"%s\",\"rate\":\"%llubps\"}", n++,
                   graph_port_name(g, p, name), (unsigned long long)usual);
    }
}

static void explain_slow_link(const struct fabric *fabric, struct result *r, uint32_t busiest)
{
    const struct graph *g = &fabric->graph;
    uint64_t usual = usual_rate(g, busiest), rate = g->ports[busiest].rate_bps;
    if ((double)rate >= SLOWER * (double)usual)
        return;
    double *share = result_same_shares(r);
    uint32_t slow = 0;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        double of_usual = (double)g->ports[p].rate_bps / (double)usual;
        uint32_t peer = g->ports[p].peer;
        if (of_usual >= SLOWER ||
            !(graph_same_kind(g, p, busiest) || graph_same_kind(g, peer, busiest)))
            continue;
        share[p] = of_usual;
        slow += graph_same_kind(g, p, busiest);
    }
    ps_t saving = result_saving_with(r, share);
    free(share);
    if (result_share_of(r, saving) < SAVING_MIN)
        return;
    char name[2 * GRAPH_NAME], mine[UNIT_TEXT], theirs[UNIT_TEXT], more[48] = "";
    if (slow > 1)
        snprintf(more, sizeof more, " (and %u more such links)", slow - 1);
    struct reason_result *reason = result_cause(
        r, REASON_SLOW_LINK, saving,
        text_format("slow link: %s%s has %s, its peers %s", graph_port_name(g, busiest, name), more,
                    human_rate((double)rate, mine), human_rate((double)usual, theirs)),
        "with the rate of its peers");
    reason->at = text_format("%s", name);
    add_usual_rates(fabric, reason, busiest, usual);
}

/* ---- oversubscribed tiers ---- */

// The lower of the two switches that a link joins, if it joins two tiers; else GRAPH_NONE.
static uint32_t lower_switch(const struct graph *g, const uint32_t *tier, uint32_t port)
{
    uint32_t a = g->ports[port].node, b = g->ports[g->ports[port].peer].node;
    if (a < g->n_ends || b < g->n_ends || tier[a] == tier[b])
        return GRAPH_NONE;
    return tier[a] < tier[b] ? a : b;
}

// The median rate of the links of a kind; of few links as well.
static uint64_t median_rate(const struct graph *g, uint32_t port)
{
    uint64_t usual = usual_rate(g, port);
    return usual > 0 ? usual : g->ports[port].rate_bps;
}

// A tier of switches whose trunks carry less than what is below them.
struct narrow_tier {
    uint32_t n, narrow; // switches of the tier; those with less rate upwards than downwards
    uint64_t up_bps, down_bps;
};

static struct narrow_tier tier_like(const struct graph *g, const uint32_t *tier, uint32_t lower)
{
    struct narrow_tier all = {0};
    for (uint32_t node = g->n_ends; node < g->n_nodes; node++) {
        if (tier[node] != tier[lower] || g->nodes[node].dim != g->nodes[lower].dim ||
            g->nodes[node].role != g->nodes[lower].role)
            continue;
        struct subscription s = tier_subscription(g, tier, node);
        all.n++;
        all.narrow += subscription_share(&s) < 1;
        all.up_bps += s.up_bps;
        all.down_bps += s.down_bps;
    }
    return all;
}

// The share of their time for which the trunks of a tier would transmit, were they wide enough.
static double *wide_shares(const struct graph *g, const struct result *r, const uint32_t *tier,
                           uint32_t lower, double times)
{
    double *share = result_same_shares(r);
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint32_t node = lower_switch(g, tier, p);
        if (node != GRAPH_NONE && tier[node] == tier[lower] &&
            g->nodes[node].dim == g->nodes[lower].dim)
            share[p] = 1 / times;
    }
    return share;
}

// Writes the name of a node with * for its number, so that it matches all nodes of its kind.
static const char *kind_name(const struct graph *g, uint32_t node, char text[GRAPH_NAME])
{
    graph_node_name(g, node, text);
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] >= '0' && text[length - 1] <= '9')
        length--;
    text[length] = '*';
    text[length + 1 < GRAPH_NAME ? length + 1 : length] = '\0';
    return text;
}

// Add the setting that gives all trunks of a kind a rate that is `times` as high as usual.
static void faster_links(const struct fabric *fabric, struct reason_result *reason, uint32_t port,
                         double times)
{
    const struct graph *g = &fabric->graph;
    char from[GRAPH_NAME], to[GRAPH_NAME];
    reason_set(reason, "links[%zu]={\"at\":\"%s->%s\",\"rate\":\"%.0fbps\"}", fabric->spec->n_links,
               kind_name(g, g->ports[port].node, from),
               kind_name(g, g->ports[g->ports[port].peer].node, to),
               times * (double)median_rate(g, port));
}

static void explain_oversubscription(const struct fabric *fabric, struct result *r,
                                     uint32_t busiest)
{
    const struct graph *g = &fabric->graph;
    uint32_t *tier = tiers_of(g), lower = lower_switch(g, tier, busiest);
    struct narrow_tier all = {0};
    if (lower != GRAPH_NONE)
        all = tier_like(g, tier, lower);
    // A single slow trunk makes no tier narrow.
    if (2 * all.narrow > all.n && all.up_bps > 0) {
        double times = (double)all.down_bps / (double)all.up_bps;
        double *share = wide_shares(g, r, tier, lower, times);
        ps_t saving = result_saving_with(r, share);
        struct subscription s = tier_subscription(g, tier, lower);
        char name[GRAPH_NAME], up[UNIT_TEXT], down[UNIT_TEXT], change[64];
        free(share);
        snprintf(change, sizeof change, "with trunks %.3g times as fast", times);
        struct reason_result *reason = result_cause(
            r, REASON_OVERSUBSCRIPTION, saving,
            text_format("oversubscription: the trunks of %s carry %s for %s below it (%.3g:1)",
                        graph_node_name(g, lower, name), human_rate((double)s.up_bps, up),
                        human_rate((double)s.down_bps, down), times),
            change);
        reason->at = text_format("%s", name);
        faster_links(fabric, reason, busiest, times);
    }
    free(tier);
}

/* ---- links of ranks at their rate ---- */

#define AT_RATE 0.85      // use of a link from which only its rate, or fewer bytes, help
#define RATE_WEIGHT 0.021 // share by which the trial of faster NICs is ordered: after any cause

// Links of ranks that transmit nearly all the time: fewer bytes, another algorithm or faster NICs
// are all that shortens the run.
static void explain_rate(const struct fabric *fabric, struct result *r, uint32_t busiest)
{
    const struct graph *g = &fabric->graph;
    const struct graph_port *port = &g->ports[busiest];
    double use = result_use(r, &r->ports[busiest]);
    bool of_rank = port->node < g->n_ranks || g->ports[port->peer].node < g->n_ranks;
    if (!result_bound_by_rate(r) || use < AT_RATE || !of_rank)
        return;
    char name[2 * GRAPH_NAME];
    struct reason_result *reason = result_cause(
        r, REASON_RATE, (ps_t)(RATE_WEIGHT * (double)r->last->critical.total_ps),
        text_format("%.0f %% of the time is bytes over NICs of ranks at line rate (%s): only fewer "
                    "bytes, another algorithm or faster NICs help",
                    100 * use, graph_port_name(g, busiest, name)),
        "with NICs twice as fast");
    reason->at = text_format("%s", name);
    char dim[16] = "";
    if (fabric->spec->n_dims > 1)
        snprintf(dim, sizeof dim, ":dim%u", port->dim);
    reason_set(reason, "links[%zu]={\"at\":\"rank*%s\",\"rate\":\"%llubps\"}",
               fabric->spec->n_links, dim,
               2 * (unsigned long long)fabric->spec->dims[port->dim].links[0].rate_bps);
}

void explain_rates(const struct fabric *fabric, struct result *r)
{
    if (!result_may_be_bound(r))
        return;
    uint32_t busiest = (uint32_t)(result_busiest_link(r) - r->ports);
    explain_slow_link(fabric, r, busiest);
    explain_oversubscription(fabric, r, busiest);
    explain_rate(fabric, r, busiest);
}
