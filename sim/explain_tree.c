// SPDX-License-Identifier: MIT
// Makes sentences about congestion trees: where PFC began, what it stopped, and which flows were stopped
// without using that place.
#include <stdio.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"
#include "transport/adapter.h"

#define NO_PORT UINT32_MAX
#define TREE_TEXT (2 * GRAPH_NAME + UNIT_TEXT + 64)
#define TREE_DEPTH_MAX 64 // limit, since routes with loops can form a cycle

// A port of a NIC that may pause its link, which ends a chain of causes.
static bool is_nic(const struct sim *sim, uint32_t port)
{
    return sim->graph.ports[port].node < sim->graph.n_ranks && adapter_of_port(&sim->hosts, port);
}

// The output port that caused most pauses of `port`, or the port of the NIC that paused it; NO_PORT if
// nobody did.
static uint32_t paused_for(const struct sim *sim, uint32_t port)
{
    uint32_t peer = sim->graph.ports[port].peer; // the ingress that sent the pause
    if (is_nic(sim, peer))
        return sim->net.pfc[peer].tx_pause > 0 ? peer : NO_PORT;
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
    uint32_t next = port;
    for (*depth = 0; *depth < TREE_DEPTH_MAX && (next = paused_for(sim, port)) != NO_PORT;) {
        port = next;
        ++*depth;
        if (is_nic(sim, port))
            break;
    }
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

// True if a shortest path from the port's switch to `dst` uses the port, or the NIC is that of `dst`.
static bool on_shortest_path(const struct sim *sim, uint32_t port, uint32_t dst)
{
    const uint16_t *ports;
    uint32_t dim = sim->graph.ports[port].dim;
    if (is_nic(sim, port))
        return graph_owner(&sim->graph, dst, dim) == sim->graph.ports[port].node;
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

// Writes where PFC began: at an output port, or at a NIC that is slower than its links.
static void root_text(const struct sim *sim, const struct result *r, uint32_t root, char *name,
                      char *held)
{
    char queue[UNIT_TEXT];
    if (is_nic(sim, root)) {
        const struct adapter *a = adapter_of_port(&sim->hosts, root);
        char node[GRAPH_NAME];
        snprintf(name, TREE_TEXT, "the NIC of %s",
                 graph_node_name(&sim->graph, sim->graph.ports[root].node, node));
        snprintf(held, TREE_TEXT, "it held up to %s of received packets",
                 human_bytes(a->max_held_bytes, queue));
        return;
    }
    char port[2 * GRAPH_NAME];
    uint64_t longest = port_stats(&sim->net, root, r->sim_time_ps).max_queued_bytes;
    snprintf(name, TREE_TEXT, "%s", graph_port_name(&sim->graph, root, port));
    snprintf(held, TREE_TEXT, "queue up to %s", human_bytes(longest, queue));
}

static void explain_tree(const struct sim *sim, struct result *r, struct tree *tree, bool others)
{
    char name[TREE_TEXT], held[TREE_TEXT];
    double share = result_share(r, PATH_PAUSED);
    count_victims(sim, r, tree);
    root_text(sim, r, tree->root, name, held);
    result_reason(r, REASON_PFC, share > EXPLAIN_LOSS ? share : EXPLAIN_LOSS, -1,
                  text_format("PFC began at %s (%s): it stopped %u port%s (%u of NICs), "
                              "up to %u hop%s away%s",
                              name, held, tree->ports, tree->ports > 1 ? "s" : "", tree->nics,
                              tree->depth, tree->depth > 1 ? "s" : "",
                              others ? "; other such trees are smaller" : ""));
    if (tree->victims > 0)
        result_reason(r, REASON_VICTIMS, share + EXPLAIN_LOSS, -1,
                      text_format("victims of %s: PFC stopped %u flow%s that %s not use it", name,
                                  tree->victims, tree->victims > 1 ? "s" : "",
                                  tree->victims > 1 ? "do" : "does"));
}

void sim_explain_tree(const struct sim *sim, struct result *r)
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
    if (widest)
        explain_tree(sim, r, widest, n > 1);
    free(trees);
}
