// SPDX-License-Identifier: MIT
// Makes sentences about the fabric from counters: which links were busy, how evenly equal paths
// were used, where packets were dropped.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/explain/explain_internal.h"

// ---- links ----

static int busier(const void *a, const void *b)
{
    const struct port_result *x = *(const struct port_result *const *)a;
    const struct port_result *y = *(const struct port_result *const *)b;
    if (x->utilization != y->utilization)
        return x->utilization < y->utilization ? 1 : -1;
    return x < y ? -1 : x > y;
}

#define BUSIEST 3

static void explain_busiest_links(struct result *r)
{
    const struct port_result **order = memory_zeroed(r->n_ports, sizeof(void *));
    uint64_t all = 0, top = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->n_ports; i++) {
        all += r->ports[i].bytes;
        if (r->ports[i].bytes > 0)
            order[n++] = &r->ports[i];
    }
    qsort(order, n, sizeof(void *), busier);
    char text[512];
    size_t used = 0;
    for (size_t i = 0; i < n && i < BUSIEST; i++) {
        top += order[i]->bytes;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s, in use %.0f %% of the time",
                             i > 0 ? "; " : "", order[i]->at, 100 * order[i]->utilization);
    }
    if (n > 0)
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("busiest link%s: %s; together %.0f %% of the bytes of all links",
                                   n > 1 ? "s" : "", text, 100 * (double)top / (double)all));
    free(order);
}

// ---- equal paths ----

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

static bool on_critical_path(const struct result *r, const char *port)
{
    for (size_t i = 0; r->last && i < r->last->critical.n_places; i++)
        if (strcmp(r->last->critical.places[i].at, port) == 0)
            return true;
    return false;
}

// Returns the time that congestion has added to the critical path, without losses.
static ps_t congestion_ps(const struct result *r)
{
    static const enum path_cause causes[] = {PATH_WINDOW, PATH_PACE,   PATH_PAUSED,
                                             PATH_CREDIT, PATH_QUEUED, PATH_NIC};
    ps_t sum = 0;
    for (size_t i = 0; r->last && i < sizeof causes / sizeof *causes; i++)
        sum += r->last->critical.parts[causes[i]];
    return sum;
}

// Returns the least time of the run with evenly spread traffic: the busy time of the ranks' links,
// and the mean busy time of the uneven ports.
static ps_t spread_ps(const struct result *r, const struct imbalance *worst, const char *port)
{
    ps_t least = 0;
    for (size_t i = 0; i < r->n_ports; i++) {
        ps_t busy = result_busy_ps(r, &r->ports[i]);
        bool to_rank = strstr(r->ports[i].at, "->rank") || !r->ports[i].from_switch;
        if (strcmp(r->ports[i].at, port) == 0)
            busy = (ps_t)((double)busy / worst->ratio);
        else if (!to_rank)
            continue;
        least = busy > least ? busy : least;
    }
    return least;
}

static void explain_imbalance(const struct fabric *fabric, struct result *r,
                              const struct imbalance *worst)
{
    char name[GRAPH_NAME], port[2 * GRAPH_NAME], less[UNIT_TEXT], saving[96] = "";
    double weight = EXPLAIN_LOSS;
    graph_port_name(&fabric->graph, worst->port, port);
    const struct port_result *link = result_busiest_link(r);
    bool bounds = on_critical_path(r, port) || (link && strcmp(link->at, port) == 0);
    ps_t least = r->last && result_bounded(r) ? spread_ps(r, worst, port) : 0;
    ps_t cost = r->last ? result_saving_ps(r, congestion_ps(r), least) : 0;
    if (bounds && cost > 0) {
        int kind = fabric->spec->dims[fabric->graph.ports[worst->port].dim].sw.routing.kind;
        bool by_packet = kind == ROUTING_SPRAY || kind == ROUTING_SOURCE;
        snprintf(saving, sizeof saving, "; spread evenly%s up to %s less",
                 by_packet ? "" : " (routing.kind spray)", human_time(cost, less));
        weight = (double)cost / (double)r->last->critical.total_ps;
    }
    result_reason(
        r, REASON_PATHS, weight, bounds ? cost : -1,
        text_format("uneven paths: of the %u equal ports of %s, %s carried %.2f times the mean%s",
                    worst->count, fabric_switch_name(fabric, worst->index, name), port,
                    worst->ratio, saving));
}

static void explain_balance(const struct fabric *fabric, struct result *r)
{
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
        explain_imbalance(fabric, r, &worst);
}

// ---- planes ----

// Count the ports by which ranks reach the switches of a dimension, and how many of them have sent.
// Ranks with one such port, and ranks that sent nothing, are left out.
static void count_planes(const struct fabric *fabric, uint32_t dim, uint32_t *ports, uint32_t *used)
{
    const struct graph *g = &fabric->graph;
    *ports = *used = 0;
    for (uint32_t rank = 0; rank < g->n_ranks && !g->dim_direct[dim]; rank++) {
        uint32_t first, n = graph_ports_in(g, rank, dim, &first), sent = 0;
        for (uint32_t i = 0; i < n; i++)
            sent += fabric->net.ports[first + i].tx_bytes > 0;
        if (n > 1 && sent > 0) {
            *ports += n;
            *used += sent;
        }
    }
}

static void explain_planes(const struct fabric *fabric, struct result *r)
{
    for (uint32_t d = 0; d < fabric->graph.n_dims; d++) {
        uint32_t ports, used;
        count_planes(fabric, d, &ports, &used);
        if (4 * used > 3 * ports || ports == 0 || fabric->spec->dims[d].transport.stripe)
            continue;
        result_reason(
            r, REASON_PLANES, result_share(r, PATH_SENDING) / 2 + EXPLAIN_LOSS, -1,
            text_format("idle planes: ranks sent by %u of their %u ports in dimension %u, since "
                        "a message uses one plane; transport.stripe splits it over all",
                        used, ports, d));
    }
}

// ---- drops ----

static void explain_drop_place(struct result *r)
{
    const struct port_result *most = NULL;
    for (size_t i = 0; i < r->n_ports; i++)
        if (r->ports[i].dropped_packets > 0 &&
            (!most || r->ports[i].dropped_packets > most->dropped_packets))
            most = &r->ports[i];
    if (most)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("most drops: %s, %llu of %llu packets", most->at,
                                   (unsigned long long)most->dropped_packets,
                                   (unsigned long long)r->dropped_packets));
}

void explain_fabric(const struct fabric *fabric, struct result *r)
{
    explain_tree(fabric, r);
    explain_busiest_links(r);
    explain_balance(fabric, r);
    explain_planes(fabric, r);
    explain_drop_place(r);
}
