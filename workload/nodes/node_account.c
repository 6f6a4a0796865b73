// SPDX-License-Identifier: MIT
// The nodes that ended in the present gap are kept in the order of their ends.
#include "workload/nodes/node_account.h"

#include <stdlib.h>

#include "engine/base/memory.h"

void account_init(struct node_account *a, const struct node_program *p)
{
    *a = (struct node_account){.n_ranks = p->n_ranks, .n_uses = p->n_uses, .n_layers = p->n_layers};
    a->ranks = memory_zeroed(a->n_ranks, sizeof *a->ranks);
    a->layers = memory_zeroed(a->n_layers + 1, sizeof *a->layers);
    a->layer_compute_ps = memory_zeroed(a->n_layers + 1, sizeof *a->layer_compute_ps);
    a->blamed_ps = memory_zeroed(a->n_ranks, sizeof *a->blamed_ps);
    for (uint32_t r = 0; r < a->n_ranks; r++) {
        a->ranks[r].end_ps = PS_NEVER;
        a->ranks[r].uses = memory_zeroed(a->n_uses, sizeof *a->ranks[r].uses);
        a->ranks[r].sent_bytes = memory_zeroed(a->n_uses, sizeof *a->ranks[r].sent_bytes);
    }
}

void account_free(struct node_account *a)
{
    for (uint32_t r = 0; r < a->n_ranks; r++) {
        free(a->ranks[r].uses);
        free(a->ranks[r].sent_bytes);
        free(a->ranks[r].ended);
    }
    free(a->ranks);
    free(a->layers);
    free(a->layer_compute_ps);
    free(a->blamed_ps);
}

// Returns the node with this id among the first `*n`, the newest first; *n becomes its place. The
// node that let another one start ended before it.
static const struct ended_node *ended_find(const struct rank_account *r, uint64_t id, size_t *n)
{
    while (*n > 0)
        if (r->ended[--*n].id == id)
            return &r->ended[*n];
    return NULL;
}

// Add the part of a node's time between `from` and `to`.
static void add(struct node_account *a, struct rank_account *r, const struct ended_node *node,
                ps_t from, ps_t to)
{
    ps_t split = node->peers_ps < from ? from : node->peers_ps > to ? to : node->peers_ps;
    if (!node->communicates)
        return;
    r->uses[node->use].waiting_ps += split - from;
    r->uses[node->use].exposed_ps += to - split;
    a->layers[node->layer].waiting_ps += split - from;
    a->layers[node->layer].exposed_ps += to - split;
    if (node->late_rank != UINT32_MAX)
        a->blamed_ps[node->late_rank] += split - from;
}

// Explain the gap that ends now by the chain of nodes that ends with `cause`.
static void close_gap(struct node_account *a, struct rank_account *r, uint64_t cause, ps_t now)
{
    ps_t until = now;
    size_t n = r->n_ended;
    const struct ended_node *node;
    while (until > r->idle_since_ps && (node = ended_find(r, cause, &n)) != NULL) {
        ps_t to = node->end_ps < until ? node->end_ps : until;
        ps_t from = node->start_ps > r->idle_since_ps ? node->start_ps : r->idle_since_ps;
        if (from < to)
            add(a, r, node, from, to);
        until = from < to ? from : to;
        if (node->cause == cause)
            break;
        cause = node->cause;
    }
    r->n_ended = 0;
}

void account_begin(struct node_account *a, uint32_t rank, ps_t now)
{
    a->ranks[rank].idle_since_ps = now;
}

void account_compute(struct node_account *a, uint32_t rank, uint64_t cause, ps_t now)
{
    struct rank_account *r = &a->ranks[rank];
    if (r->idle_since_ps != PS_NEVER)
        close_gap(a, r, cause, now);
    r->idle_since_ps = PS_NEVER;
}

void account_computed(struct node_account *a, uint32_t rank, uint32_t layer, ps_t takes_ps,
                      ps_t now)
{
    struct rank_account *r = &a->ranks[rank];
    r->compute_ps += takes_ps;
    a->layer_compute_ps[layer] += takes_ps;
    r->idle_since_ps = now;
    r->n_ended = 0;
}

void account_ended(struct node_account *a, uint32_t rank, const struct ended_node *node)
{
    struct rank_account *r = &a->ranks[rank];
    if (r->idle_since_ps == PS_NEVER)
        return;
    if (r->n_ended == r->cap_ended)
        r->ended = memory_grow(r->ended, &r->cap_ended, sizeof *r->ended);
    r->ended[r->n_ended++] = *node;
}

void account_finish(struct node_account *a, uint32_t rank, uint64_t cause, ps_t now)
{
    struct rank_account *r = &a->ranks[rank];
    if (r->idle_since_ps != PS_NEVER)
        close_gap(a, r, cause, now);
    r->end_ps = now;
}
