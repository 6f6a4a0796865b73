// SPDX-License-Identifier: MIT
// What links of a graph are alike, and how far its nodes are from the ranks.
#include "engine/memory.h"
#include "sim/explain/explain_internal.h"

#define TIER_NONE UINT32_MAX

// Links are of a kind if they belong to the same dimension and join nodes of the same two roles in
// the same direction.
bool graph_same_kind(const struct graph *g, uint32_t a, uint32_t b)
{
    const struct graph_port *x = &g->ports[a], *y = &g->ports[b];
    return x->dim == y->dim && g->nodes[x->node].role == g->nodes[y->node].role &&
           g->nodes[g->ports[x->peer].node].role == g->nodes[g->ports[y->peer].node].role;
}

// Returns the tier of every node: its distance from the nearest rank.
uint32_t *graph_tiers(const struct graph *g)
{
    uint32_t *tier = memory_zeroed(g->n_nodes, sizeof *tier);
    bool found = true;
    for (uint32_t n = g->n_ranks; n < g->n_nodes; n++)
        tier[n] = TIER_NONE;
    for (uint32_t at = 0; found; at++) {
        found = false;
        for (uint32_t p = 0; p < g->n_ports; p++) {
            uint32_t next = g->ports[g->ports[p].peer].node;
            if (tier[g->ports[p].node] != at || tier[next] != TIER_NONE)
                continue;
            tier[next] = at + 1;
            found = true;
        }
    }
    return tier;
}
