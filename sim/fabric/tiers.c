// SPDX-License-Identifier: MIT
// Tiers of a graph.
#include "sim/fabric/tiers.h"

#include "engine/base/memory.h"

#define TIER_NONE UINT32_MAX

uint32_t *tiers_of(const struct graph *g)
{
    uint32_t *tier = memory_zeroed(g->n_nodes, sizeof *tier);
    bool found = true;
    for (uint32_t n = g->n_ranks; n < g->n_nodes; n++)
        tier[n] = TIER_NONE;
    // Breadth-first search from all ranks at once: the tier is the distance from the nearest rank.
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

struct subscription tier_subscription(const struct graph *g, const uint32_t *tier, uint32_t node)
{
    struct subscription s = {0};
    const struct graph_node *n = &g->nodes[node];
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
        uint32_t peer = g->ports[g->ports[p].peer].node;
        // Links between switches of one tier lead neither up nor down, and those of aggregators
        // carry what their switch itself sends and receives.
        if (graph_is_aggregator(g, peer) || tier[peer] == tier[node])
            continue;
        *(tier[peer] > tier[node] ? &s.up_bps : &s.down_bps) += g->ports[p].rate_bps;
    }
    return s;
}

double subscription_share(const struct subscription *s)
{
    bool enough = s->down_bps == 0 || s->up_bps >= s->down_bps;
    return enough ? 1 : (double)s->up_bps / (double)s->down_bps;
}
