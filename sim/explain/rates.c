// SPDX-License-Identifier: MIT
// Sentences about rates of links that bound a run: a link slower than its peers, and a tier of
// switches with less rate towards the tiers above than towards the ranks (oversubscription).
//
// What is saved is stated for a network in which these links have the missing rate.
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
    for (uint32_t p = 0; p < g->n_ports && reason; p++) {
        if (!graph_same_kind(g, p, busiest) ||
            (double)g->ports[p].rate_bps >= SLOWER * (double)usual)
            continue;
        reason_remedy(reason, "links[%zu]={\"at\":\"%s\",\"rate\":\"%llubps\"}", n++,
                      graph_port_name(g, p, name), (unsigned long long)usual);
    }
}

static void explain_slow_link(const struct explain_facts *facts, struct result *r, uint32_t busiest)
{
    const struct fabric *fabric = facts->fabric;
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
    struct rate_saving saving = result_saving_with(r, share);
    explain_with_shares(facts, r, share, &saving);
    if (!result_bound_by_rate(r))
        saving = result_loose_saving(r, share[busiest]);
    free(share);
    char name[2 * GRAPH_NAME], mine[UNIT_TEXT], theirs[UNIT_TEXT], more[48] = "";
    if (slow > 1)
        snprintf(more, sizeof more, " (and %u more such links)", slow - 1);
    struct reason_result *reason = result_rate_reason(
        r, REASON_SLOW_LINK, saving,
        text_format("slow link: %s%s has %s, its peers %s", graph_port_name(g, busiest, name), more,
                    human_rate((double)rate, mine), human_rate((double)usual, theirs)),
        "the rate of its peers");
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

// Give the trunks of a switch, in both directions, the rate of what is below it.
static void speed_up_trunks(const struct graph *g, const uint32_t *tier, uint32_t node,
                            double *share)
{
    const struct graph_node *n = &g->nodes[node];
    struct subscription s = tier_subscription(g, tier, node);
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++)
        if (lower_switch(g, tier, p) == node)
            share[p] = share[g->ports[p].peer] = subscription_share(&s);
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

// Add the setting that gives all links of a kind a rate that is `times` as high.
static void faster_links(const struct fabric *fabric, struct reason_result *reason, uint32_t port,
                         double times)
{
    const struct graph *g = &fabric->graph;
    char from[GRAPH_NAME], to[GRAPH_NAME];
    reason_remedy(reason, "links[%zu]={\"at\":\"%s->%s\",\"rate\":\"%.0fbps\"}",
                  fabric->spec->n_links, kind_name(g, g->ports[port].node, from),
                  kind_name(g, g->ports[g->ports[port].peer].node, to),
                  times * (double)g->ports[port].rate_bps);
}

static void explain_oversubscription(const struct explain_facts *facts, struct result *r,
                                     uint32_t busiest)
{
    const struct fabric *fabric = facts->fabric;
    const struct graph *g = &fabric->graph;
    uint32_t *tier = tiers_of(g), lower = lower_switch(g, tier, busiest);
    struct subscription s = {0};
    if (lower != GRAPH_NONE)
        s = tier_subscription(g, tier, lower);
    double times = 1 / subscription_share(&s);
    if (times > 1) {
        double *share = result_same_shares(r);
        for (uint32_t n = g->n_ends; n < g->n_nodes; n++)
            if (tier[n] == tier[lower])
                speed_up_trunks(g, tier, n, share);
        char name[GRAPH_NAME], up[UNIT_TEXT], down[UNIT_TEXT], remedy[64];
        snprintf(remedy, sizeof remedy, "trunks %.3g times as fast", times);
        struct rate_saving saving = result_saving_with(r, share);
        explain_with_shares(facts, r, share, &saving);
        if (!result_bound_by_rate(r))
            saving = result_loose_saving(r, share[busiest]);
        struct reason_result *reason = result_rate_reason(
            r, REASON_OVERSUBSCRIPTION, saving,
            text_format("oversubscription: the trunks of %s carry %s for %s below it (%.3g:1)",
                        graph_node_name(g, lower, name), human_rate((double)s.up_bps, up),
                        human_rate((double)s.down_bps, down), times),
            remedy);
        faster_links(fabric, reason, busiest, times);
        free(share);
    }
    free(tier);
}

void explain_rates(const struct explain_facts *facts, struct result *r)
{
    if (!result_may_be_bound(r))
        return;
    uint32_t busiest = (uint32_t)(result_busiest_link(r) - r->ports);
    explain_slow_link(facts, r, busiest);
    explain_oversubscription(facts, r, busiest);
}
