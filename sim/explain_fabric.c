// SPDX-License-Identifier: MIT
// Makes sentences about the fabric from counters: which ports caused pauses, which links were busy,
// how evenly equal paths were used, where packets were dropped.
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

// ---- the congestion tree ----

#define NO_PORT UINT32_MAX
#define TREE_DEPTH_MAX 64 // limit, since routes with loops can form a cycle

// The output port that caused most pauses of `port`; NO_PORT if no switch has paused `port`.
static uint32_t paused_for(const struct sim *sim, uint32_t port)
{
    uint32_t peer = sim->graph.ports[port].peer; // the ingress that sent the pause
    uint64_t pauses = 0;
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        pauses += sim->net.pfc[port].cls[cls].pauses;
    if (pauses == 0 || sim->switches.ports[peer].xoff_votes == 0)
        return NO_PORT;
    return sim->switches.ports[peer].xoff_cause;
}

// Follow the causes to a port that was not paused; *depth counts the pauses on the way.
static uint32_t root_of(const struct sim *sim, uint32_t port, unsigned *depth)
{
    uint32_t next;
    for (*depth = 0; *depth < TREE_DEPTH_MAX && (next = paused_for(sim, port)) != NO_PORT; ++*depth)
        port = next;
    return port;
}

struct tree {
    uint32_t root;
    unsigned ports, nics, depth, victims;
};

static struct tree *tree_at(struct tree **trees, size_t *n, uint32_t root)
{
    for (size_t i = 0; i < *n; i++)
        if ((*trees)[i].root == root)
            return &(*trees)[i];
    *trees = memory_resize(*trees, *n + 1, sizeof **trees);
    (*trees)[*n] = (struct tree){.root = root};
    return &(*trees)[(*n)++];
}

// True if a shortest path from the port's switch to `dst` uses the port.
static bool on_shortest_path(const struct sim *sim, uint32_t port, uint32_t dst)
{
    const uint16_t *ports;
    const struct switch_node *s = switch_of_port(&sim->switches, port);
    dst = graph_owner(&sim->graph, dst, s->dim);
    uint32_t n = routes_of_row(&sim->routes, s->row, s->dim, dst, &ports);
    for (uint32_t i = 0; i < n; i++)
        if (ports[i] == sim->graph.ports[port].local)
            return true;
    return false;
}

// Count the flows whose NIC was paused because of a link that they do not use.
static void count_victims(const struct sim *sim, const struct result *r, struct tree *tree)
{
    for (size_t i = 0; i < r->n_flows; i++) {
        unsigned depth;
        const struct sender *s = sim->hosts.senders[sim->flow_order[r->flows[i].qp]];
        if (root_of(sim, s->port, &depth) == tree->root && depth > 0 &&
            !on_shortest_path(sim, tree->root, r->flows[i].dst))
            tree->victims++;
    }
}

static void explain_trees(const struct sim *sim, struct result *r)
{
    struct tree *trees = NULL, *widest = NULL;
    size_t n = 0;
    for (uint32_t p = 0; p < sim->net.n_ports; p++) {
        unsigned depth;
        uint32_t root = root_of(sim, p, &depth);
        if (depth == 0 || depth == TREE_DEPTH_MAX)
            continue;
        struct tree *t = tree_at(&trees, &n, root);
        t->ports++;
        t->nics += (sim->graph.ports[p].node < sim->graph.n_ranks);
        t->depth = depth > t->depth ? depth : t->depth;
    }
    for (size_t i = 0; i < n; i++)
        if (!widest || trees[i].ports > widest->ports)
            widest = &trees[i];
    if (widest) {
        char name[2 * GRAPH_NAME], queue[UNIT_TEXT];
        count_victims(sim, r, widest);
        result_explain(
            r, text_format(
                   "congestion tree: %s (max queue %s) paused %u ports, %u of "
                   "them NICs, up to %u hops away; %u flows that do not use it "
                   "were held up%s",
                   graph_port_name(&sim->graph, widest->root, name),
                   human_bytes(port_stats(&sim->net, widest->root, r->sim_time_ps).max_queued_bytes,
                               queue),
                   widest->ports, widest->nics, widest->depth, widest->victims,
                   n > 1 ? "; other trees are smaller" : ""));
    }
    free(trees);
}

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

static void explain_links(struct result *r)
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
            (size_t)snprintf(text + used, sizeof text - used, "%s%s, %.1f %% of the time sending",
                             i > 0 ? "; " : "", order[i]->at, 100 * order[i]->utilization);
    }
    if (n > 0)
        result_explain(r, text_format("busiest link%s: %s; %.0f %% of all bytes on links",
                                      n > 1 ? "s" : "", text, 100 * (double)top / (double)all));
    free(order);
}

// ---- equal paths ----

#define IMBALANCE_FROM 1.1

struct imbalance {
    double ratio;
    uint32_t index, port, count; // port: the first of the group; count: its ports
};

static void look_at_set(const struct sim *sim, uint32_t index, const struct next_hop_set *set,
                        struct imbalance *worst)
{
    const struct switch_node *s = &sim->switches.nodes[index];
    double sum = 0, max = 0;
    uint32_t fullest = 0;
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t port = s->node_port + s->routes.ports[set->first + i];
        double bytes = (double)port_stats(&sim->net, port, sim->engine.now_ps).tx_bytes;
        sum += bytes;
        if (bytes > max) {
            max = bytes;
            fullest = port;
        }
    }
    double ratio = sum > 0 ? max * set->count / sum : 0;
    if (ratio > worst->ratio)
        *worst = (struct imbalance){ratio, index, fullest, set->count};
}

static void explain_balance(const struct sim *sim, struct result *r)
{
    struct imbalance worst = {0};
    for (uint32_t i = 0; i < sim->switches.n_switches; i++) {
        const struct next_hops *routes = &sim->switches.nodes[i].routes;
        uint32_t last = NEXT_NONE;
        for (uint32_t g = 0; g < sim->routes.n_groups; g++) {
            uint32_t next = routes->next[g];
            if (!(next & NEXT_SET) || next >= NEXT_HERE || next == last)
                continue;
            look_at_set(sim, i, &routes->sets[next & ~NEXT_SET], &worst);
            last = next;
        }
    }
    char name[GRAPH_NAME], port[2 * GRAPH_NAME];
    if (worst.ratio > IMBALANCE_FROM)
        result_explain(r, text_format("uneven paths: of the %u equal ports of %s, %s carried %.2f "
                                      "times the mean",
                                      worst.count, sim_switch_name(sim, worst.index, name),
                                      graph_port_name(&sim->graph, worst.port, port), worst.ratio));
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
        result_explain(r, text_format("most drops: %s, %llu of %llu packets", most->at,
                                      (unsigned long long)most->dropped_packets,
                                      (unsigned long long)r->dropped_packets));
}

void sim_explain_fabric(const struct sim *sim, struct result *r)
{
    explain_trees(sim, r);
    explain_links(r);
    explain_balance(sim, r);
    explain_drop_place(r);
}
