// SPDX-License-Identifier: MIT
// What links of a graph are alike.
#include "sim/explain/explain_internal.h"

// Links are of a kind if they belong to the same dimension and join nodes of the same two roles in
// the same direction.
bool graph_same_kind(const struct graph *g, uint32_t a, uint32_t b)
{
    const struct graph_port *x = &g->ports[a], *y = &g->ports[b];
    return x->dim == y->dim && g->nodes[x->node].role == g->nodes[y->node].role &&
           g->nodes[g->ports[x->peer].node].role == g->nodes[g->ports[y->peer].node].role;
}
