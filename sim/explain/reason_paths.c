// SPDX-License-Identifier: MIT
// Sentences about equal paths that carried unequal traffic.
#include <stdlib.h>

#include "sim/explain/explain_internal.h"
#include "sim/fabric/tiers.h"

#define IMBALANCE_FROM 1.1

struct imbalance {
    double ratio, busy_ps;       // of the fullest port: its bytes by the mean; time it transmitted
    uint32_t index, port, count; // port: the first of the group; count: its ports
};

static void look_at_set(const struct fabric *fabric, uint32_t index, const struct next_hop_set *set,
                        struct imbalance *worst)
{
    const struct switch_node *s = &fabric->switches.nodes[index];
    double sum = 0, max = 0;
    uint32_t fullest = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t port = s->node_port + s->routes.ports[set->first + i];
        for (uint32_t k = 0; k < i; k++)
            if (s->routes.ports[set->first + k] == s->routes.ports[set->first + i])
                return; // ports of different weights
        double bytes = (double)port_stats(&fabric->net, port, fabric->engine.now_ps).tx_bytes;
        sum += bytes;
        if (bytes > max) {
            max = bytes;
            fullest = port;
        }
    }
    double ratio = sum > 0 ? max * set->count / sum : 0;
    if (ratio < IMBALANCE_FROM)
        return;
    double busy_ps = port_stats(&fabric->net, fullest, fabric->engine.now_ps).busy_ps;
    if (busy_ps > worst->busy_ps)
        *worst = (struct imbalance){ratio, busy_ps, index, fullest, set->count};
}

static bool is_attached(const struct fabric *fabric, uint32_t rank, uint32_t dim, uint32_t node)
{
    const struct graph *g = &fabric->graph;
    uint32_t first, n = graph_ports_in(g, graph_owner(g, rank, dim), dim, &first);
    for (uint32_t i = 0; i < n; i++)
        if (fabric->net.ports[first + i].peer_node == node)
            return true;
    return false;
}

// Returns the number of flows from ranks at this switch to ranks elsewhere, or of all flows if no
// rank at the switch sends.
static uint32_t flows_by(const struct fabric *fabric, uint32_t index)
{
    const struct switch_node *s = &fabric->switches.nodes[index];
    uint32_t local = 0, leaving = 0, node = fabric->graph.ports[s->node_port].node;
    for (uint32_t i = 0; i < fabric->hosts.flows.n; i++) {
        const struct flow_id *id = &fabric->hosts.flows.ids[i];
        if (id->dim != s->dim || !is_attached(fabric, id->src, id->dim, node))
            continue;
        local++;
        leaving += !is_attached(fabric, id->dst, id->dim, node);
    }
    return local > 0 ? leaving : fabric->hosts.flows.n;
}

// The share of its transmissions that each port keeps if all of equal use take the mean: trunks of
// a switch to one tier, and trunks into a switch from one tier, whose traffic follows from the
// choices below them.
static double *spread_shares(const struct graph *g, const struct result *r)
{
    double *share = result_same_shares(r);
    uint32_t *tier = tiers_of(g);
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint32_t from = g->ports[p].node, to = g->ports[g->ports[p].peer].node;
        if (from < g->n_ends || to < g->n_ends || tier[from] == tier[to])
            continue;
        uint32_t lower = tier[from] < tier[to] ? from : to;
        const struct graph_node *node = &g->nodes[lower];
        double sum = 0, n = 0;
        for (uint32_t i = node->first_port; i < node->first_port + node->n_ports; i++) {
            uint32_t other = lower == from ? i : g->ports[i].peer;
            if (!graph_same_kind(g, other, p))
                continue;
            sum += result_use(r, &r->ports[other]);
            n++;
        }
        if (result_use(r, &r->ports[p]) > 0)
            share[p] = sum / n / result_use(r, &r->ports[p]);
    }
    free(tier);
    return share;
}

// Packets of RoCE may take all paths, if receivers accept them in any order. For TCP no setting
// spreads a flow.
static void add_remedy(struct reason_result *reason)
{
    reason_set(reason, "switch.routing.kind=spray");
    reason_set(reason, "transport.recovery=selective_repeat");
    reason_set(reason, "transport.reorder=256");
}

// About what spreading evenly would save: by the bytes of the ports; or, if that is more, by the
// closed forms of the collective that ended last, since flows that share a link for a step only
// leave the sums of bytes even.
static ps_t spread_saving(const struct explain_facts *facts, const struct result *r)
{
    double *share = spread_shares(&facts->fabric->graph, r),
           total = (double)r->last->critical.total_ps;
    ps_t saving = result_saving_with(r, share);
    free(share);
    ps_t drawn = explain_alone_ps(facts, r->last, false),
         even = explain_alone_ps(facts, r->last, true);
    double slower = drawn > 0 && total > (double)drawn ? total / (double)drawn : 1;
    ps_t by_form = drawn > 0 && even > 0 ? (ps_t)(total - slower * (double)even) : 0;
    saving = by_form > saving && even < drawn ? by_form : saving;
    ps_t waits = critical_sum_ps(&r->last->critical, CAUSES_OF_OTHERS); // even paths save no more
    return saving < waits ? saving : waits;
}

static void explain_imbalance(const struct explain_facts *facts, struct result *r,
                              const struct imbalance *worst)
{
    const struct fabric *fabric = facts->fabric;
    char name[GRAPH_NAME], port[2 * GRAPH_NAME];
    const struct graph_port *at = &fabric->graph.ports[worst->port];
    graph_port_name(&fabric->graph, worst->port, port);
    int kind = fabric->spec->dims[at->dim].sw.routing.kind;
    bool by_packet = kind == ROUTING_SPRAY || kind == ROUTING_SOURCE || kind == ROUTING_ADAPTIVE ||
                     kind == ROUTING_FLOWLET;
    // UEC's own senders choose a path for each packet already.
    bool spreads = by_packet || fabric_is_uec(hosts_dim(&fabric->hosts, at->dim, 0)) ||
                   fabric_is_tcp(hosts_dim(&fabric->hosts, at->dim, 0));
    ps_t saving = result_has_path(r) && !spreads ? spread_saving(facts, r) : 0;
    char *seen = text_format(
        "uneven paths: of the %u equal ports of %s, %s carried %.2f times the mean", worst->count,
        fabric_switch_name(fabric, worst->index, name), port, worst->ratio);
    if (saving == 0 || result_share_of(r, saving) < SAVING_MIN) {
        result_reason(r, REASON_PATHS, EXPLAIN_LOSS, seen)->at = text_format("%s", port);
        return;
    }
    struct reason_result *reason =
        result_cause(r, REASON_PATHS, saving, seen, "spread evenly (routing.kind spray)");
    reason->at = text_format("%s", port);
    add_remedy(reason);
}

void explain_paths(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    struct imbalance worst = {0};
    for (uint32_t i = 0; i < fabric->switches.n_switches; i++) {
        const struct next_hops *routes = &fabric->switches.nodes[i].routes;
        uint32_t last = NEXT_NONE;
        for (uint32_t g = 0; g < fabric->routes.n_groups; g++) {
            uint32_t next = routes->next[g];
            if (!(next & NEXT_SET) || next >= NEXT_HERE || next == last)
                continue;
            look_at_set(fabric, i, &routes->sets[next & ~NEXT_SET], &worst);
            last = next;
        }
    }
    if (worst.count > 0 && flows_by(fabric, worst.index) >= worst.count)
        explain_imbalance(facts, r, &worst);
}
