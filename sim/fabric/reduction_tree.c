// SPDX-License-Identifier: MIT
// A tree is the union of shortest paths from the ranks to the root.
#include "sim/fabric/reduction_tree.h"

#include <stdlib.h>

#include "engine/base/memory.h"

void tree_search_init(struct tree_search *s, const struct graph *g, uint32_t dim)
{
    *s = (struct tree_search){.g = g,
                              .dim = dim,
                              .distance = memory_zeroed(g->n_nodes, sizeof *s->distance),
                              .towards = memory_zeroed(g->n_nodes, sizeof *s->towards),
                              .queue = memory_zeroed(g->n_nodes, sizeof *s->queue)};
    for (uint32_t node = 0; node < g->n_nodes; node++)
        s->distance[node] = GRAPH_NONE;
}

void tree_search_free(struct tree_search *s)
{
    free(s->distance);
    free(s->towards);
    free(s->queue);
}

static void reach(struct tree_search *s, uint32_t node, uint32_t from, uint32_t distance)
{
    s->distance[node] = distance;
    s->towards[node] = from;
    s->queue[s->n_reached++] = node;
}

// The switch of a rank that is nearest to the root, or GRAPH_NONE.
static uint32_t nearest_switch(const struct tree_search *s, uint32_t rank)
{
    uint32_t first = 0, n = graph_ports_in(s->g, graph_owner(s->g, rank, s->dim), s->dim, &first);
    uint32_t best = GRAPH_NONE;
    for (uint32_t p = first; p < first + n; p++) {
        uint32_t sw = s->g->ports[s->g->ports[p].peer].node;
        if (sw >= s->g->n_ends && s->distance[sw] != GRAPH_NONE &&
            (best == GRAPH_NONE || s->distance[sw] < s->distance[best]))
            best = sw;
    }
    return best;
}

uint32_t tree_search_from(struct tree_search *s, uint32_t root, const uint32_t *ranks, uint32_t n)
{
    const struct graph *g = s->g;
    // Only what the last search has reached is reset, so the cost does not grow with the network.
    for (uint32_t i = 0; i < s->n_reached; i++)
        s->distance[s->queue[i]] = GRAPH_NONE;
    s->n_reached = 0;
    reach(s, root, root, 0);
    for (uint32_t head = 0; head < s->n_reached; head++) {
        const struct graph_node *node = &g->nodes[s->queue[head]];
        for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
            uint32_t next = g->ports[g->ports[p].peer].node;
            // Paths lead over switches only: endpoints do not forward.
            if (next >= g->n_ends && s->distance[next] == GRAPH_NONE)
                reach(s, next, s->queue[head], s->distance[s->queue[head]] + 1);
        }
    }
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t sw = nearest_switch(s, ranks[i]);
        if (sw == GRAPH_NONE)
            return GRAPH_NONE;
        most = s->distance[sw] > most ? s->distance[sw] : most;
    }
    return most;
}

/* ---- the tree ---- */

struct growth {
    const struct tree_search *s;
    uint32_t root, n;
    const uint32_t *ranks;
    uint32_t *children; // [node of the graph] number of its children among ranks and switches
    uint32_t *number;   // [node of the graph] its number in the tree, 0 = none yet
};

static void count_children(const struct growth *g)
{
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t sw = nearest_switch(g->s, g->ranks[i]);
        // Above a switch that has a child already, the path to the root has been counted.
        while (g->children[sw]++ == 0 && sw != g->root)
            sw = g->s->towards[sw];
    }
}

// The first switch from `sw` towards the root that has several children. A switch with one child
// has nothing to add up, so it only forwards and is not part of the tree.
static uint32_t kept_from(const struct growth *g, uint32_t sw)
{
    while (sw != g->root && g->children[sw] == 1)
        sw = g->s->towards[sw];
    return sw;
}

// Number the switches of the tree, the root first, and set the parents of ranks. Returns the number
// of switches.
static uint32_t number_switches(const struct growth *g, uint32_t *parent, uint32_t *switches)
{
    uint32_t n = 0;
    switches[n++] = g->root;
    // In the tree, ranks have the numbers below g->n, and switches those from there on.
    g->number[g->root] = g->n;
    for (uint32_t i = 0; i < g->n; i++) {
        uint32_t sw = kept_from(g, nearest_switch(g->s, g->ranks[i]));
        // All switches above a numbered one are numbered.
        for (uint32_t up = sw; g->number[up] == 0; up = kept_from(g, g->s->towards[up])) {
            g->number[up] = g->n + n;
            switches[n++] = up;
        }
        parent[i] = g->number[sw];
    }
    return n;
}

static void list_children(struct coll_tree *tree, uint32_t n_ranks, const uint32_t *parent)
{
    uint32_t nodes = n_ranks + tree->n_aggregators;
    uint32_t *first = memory_zeroed(tree->n_aggregators + 2, sizeof *first);
    uint32_t *children = memory_zeroed(nodes, sizeof *children);
    // Counting sort by parent. The counts stand two places later than their aggregator, so that
    // first[a], which moves while the children are placed, ends at the first child of a.
    for (uint32_t node = 0; node < nodes; node++)
        if (parent[node] != COLL_NO_PARENT)
            first[parent[node] - n_ranks + 2]++;
    for (uint32_t a = 2; a <= tree->n_aggregators; a++)
        first[a] += first[a - 1];
    for (uint32_t node = 0; node < nodes; node++)
        if (parent[node] != COLL_NO_PARENT)
            children[first[parent[node] - n_ranks + 1]++] = node;
    tree->first = first;
    tree->children = children;
}

struct coll_tree tree_of_search(const struct tree_search *s, uint32_t root, const uint32_t *ranks,
                                uint32_t n, uint32_t **switches)
{
    struct growth g = {.s = s,
                       .root = root,
                       .n = n,
                       .ranks = ranks,
                       .children = memory_zeroed(s->g->n_nodes, sizeof *g.children),
                       .number = memory_zeroed(s->g->n_nodes, sizeof *g.number)};
    uint32_t *parent = memory_zeroed(n + s->n_reached, sizeof *parent);
    *switches = memory_zeroed(s->n_reached, sizeof **switches);
    count_children(&g);
    struct coll_tree tree = {.n_aggregators = number_switches(&g, parent, *switches),
                             .parent = parent};
    parent[n] = COLL_NO_PARENT;
    for (uint32_t a = 1; a < tree.n_aggregators; a++)
        parent[n + a] = g.number[kept_from(&g, s->towards[(*switches)[a]])];
    list_children(&tree, n, parent);
    free(g.children);
    free(g.number);
    return tree;
}
