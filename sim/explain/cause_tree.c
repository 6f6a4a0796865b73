// SPDX-License-Identifier: MIT
// Makes sentences about congestion trees: where PFC began, what it stopped, and which flows were
// stopped without using that place.
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"
#include "transport/nic/adapter.h"

#define NO_PORT UINT32_MAX
#define TREE_TEXT (2 * GRAPH_NAME + UNIT_TEXT + 64)
#define TREE_DEPTH_MAX 64 // limit, since routes with loops can form a cycle

// The NIC behind a port of a rank, if it has paused the link of that port; NULL = it has not.
static const struct adapter *pausing_nic(const struct fabric *fabric, uint32_t port)
{
    const struct adapters *all = fabric->hosts.adapters;
    bool of_rank = fabric->graph.ports[port].node < fabric->graph.n_ranks;
    return all && of_rank && all->ports[port].pauses > 0 ? all->ports[port].adapter : NULL;
}

// Returns the output port that caused most pauses of `port`; NO_PORT if no switch has paused it. If
// a NIC has paused it, *nic is set, and the first port of the NIC is returned.
static uint32_t paused_for(const struct fabric *fabric, uint32_t port, const struct adapter **nic)
{
    uint32_t peer = fabric->graph.ports[port].peer; // the ingress that sent the pause
    uint64_t pauses = 0;
    *nic = pausing_nic(fabric, peer);
    if (*nic)
        return (*nic)->first_port;
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        pauses += fabric->net.pfc[port].cls[cls].pauses;
    if (pauses == 0 || fabric->switches.ports[peer].xoff_votes == 0)
        return NO_PORT;
    return fabric->switches.ports[peer].xoff_cause;
}

// The origin of the pauses of a port.
struct root {
    uint32_t port;             // a port that was not paused, or the first port of a NIC
    const struct adapter *nic; // NULL = an output port of a switch
    unsigned depth;            // pauses on the way
};

static struct root root_of(const struct fabric *fabric, uint32_t port)
{
    struct root root = {.port = port};
    while (root.depth < TREE_DEPTH_MAX && !root.nic) {
        uint32_t next = paused_for(fabric, root.port, &root.nic);
        if (next == NO_PORT)
            break;
        root.port = next;
        root.depth++;
    }
    return root;
}

bool *fabric_pfc_roots(const struct fabric *fabric)
{
    bool *roots = memory_zeroed(fabric->net.n_ports, sizeof *roots);
    for (uint32_t p = 0; p < fabric->net.n_ports; p++) {
        struct root root = root_of(fabric, p);
        roots[root.port] |= root.depth > 0 && root.depth < TREE_DEPTH_MAX && !root.nic;
    }
    return roots;
}

struct tree {
    struct root root; // its depth is the largest
    unsigned ports, nics, victims;
};

static bool same(const struct root *a, const struct root *b)
{
    return a->port == b->port && a->nic == b->nic;
}

static struct tree *tree_at(struct tree **trees, size_t *n, const struct root *root)
{
    for (size_t i = 0; i < *n; i++)
        if (same(&(*trees)[i].root, root))
            return &(*trees)[i];
    *trees = memory_resize(*trees, *n + 1, sizeof **trees);
    (*trees)[*n] = (struct tree){.root = *root};
    return &(*trees)[(*n)++];
}

// True if a shortest path to `dst` uses the root, or the NIC is that of `dst`.
static bool is_used(const struct fabric *fabric, const struct root *root, uint32_t dst)
{
    const uint16_t *ports;
    uint32_t dim = fabric->graph.ports[root->port].dim;
    dst = graph_owner(&fabric->graph, dst, dim);
    if (root->nic)
        return dst == root->nic->node;
    const struct switch_node *s = switch_of_port(&fabric->switches, root->port);
    uint32_t n = routes_of_row(&fabric->routes, s->row, s->dim, dst, &ports);
    for (uint32_t i = 0; i < n; i++)
        if (ports[i] == fabric->graph.ports[root->port].local)
            return true;
    return false;
}

// Count the flows whose NIC was paused because of a link, or a NIC, that they do not use.
static void count_victims(const struct fabric *fabric, const struct result *r, struct tree *tree)
{
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct sender *s = fabric->hosts.senders[fabric->flow_order[r->flows[i].qp]];
        struct root root = root_of(fabric, s->port);
        if (root.depth > 0 && same(&root, &tree->root) && !is_used(fabric, &root, r->flows[i].dst))
            tree->victims++;
    }
}

// Writes where PFC began: at an output port, or at a NIC that is slower than its links.
static void root_text(const struct fabric *fabric, const struct result *r, const struct root *root,
                      char *name, char *held)
{
    char queue[UNIT_TEXT], port[2 * GRAPH_NAME];
    if (root->nic) {
        snprintf(name, TREE_TEXT, "the NIC of %s",
                 graph_node_name(&fabric->graph, root->nic->node, port));
        snprintf(held, TREE_TEXT, "it held up to %s of received packets",
                 human_bytes(root->nic->counters.max_held_bytes, queue));
        return;
    }
    uint64_t longest = port_stats(&fabric->net, root->port, r->sim_time_ps).max_queued_bytes;
    snprintf(name, TREE_TEXT, "%s", graph_port_name(&fabric->graph, root->port, port));
    snprintf(held, TREE_TEXT, "queue up to %s", human_bytes(longest, queue));
}

static void explain_one(const struct fabric *fabric, struct result *r, struct tree *tree,
                        bool others)
{
    char name[TREE_TEXT], held[TREE_TEXT];
    double share = result_share(r, PATH_PAUSED);
    unsigned depth = tree->root.depth;
    count_victims(fabric, r, tree);
    root_text(fabric, r, &tree->root, name, held);
    result_reason(r, REASON_PFC, share > EXPLAIN_LOSS ? share : EXPLAIN_LOSS,
                  text_format("PFC began at %s (%s): it stopped %u port%s (%u of NICs), up to "
                              "%u hop%s away%s",
                              name, held, tree->ports, tree->ports > 1 ? "s" : "", tree->nics,
                              depth, depth > 1 ? "s" : "",
                              others ? "; other such trees are smaller" : ""));
    if (tree->victims > 0)
        result_reason(r, REASON_VICTIMS, share + EXPLAIN_LOSS,
                      text_format("victims of %s: PFC stopped %u flow%s that %s not use it", name,
                                  tree->victims, tree->victims > 1 ? "s" : "",
                                  tree->victims > 1 ? "do" : "does"));
}

void explain_tree(const struct fabric *fabric, struct result *r)
{
    struct tree *trees = NULL, *widest = NULL;
    size_t n = 0;
    for (uint32_t p = 0; p < fabric->net.n_ports; p++) {
        struct root root = root_of(fabric, p);
        if (root.depth == 0 || root.depth == TREE_DEPTH_MAX)
            continue;
        struct tree *t = tree_at(&trees, &n, &root);
        t->ports++;
        t->nics += (fabric->graph.ports[p].node < fabric->graph.n_ranks);
        t->root.depth = root.depth > t->root.depth ? root.depth : t->root.depth;
    }
    for (size_t i = 0; i < n; i++)
        if (!widest || trees[i].ports > widest->ports)
            widest = &trees[i];
    if (widest)
        explain_one(fabric, r, widest, n > 1);
    free(trees);
}
