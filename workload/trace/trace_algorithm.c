// SPDX-License-Identifier: MIT
#include "workload/trace/trace_algorithm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "workload/trace/trace_graph.h"
#include "workload/trace/trace_node.h"

struct making {
    const struct trace_graph *g;
    struct xml_algorithm *a;
    uint64_t step_bytes;
    // [node] its block among all, the first of its steps in the block, and their number
    uint32_t *block, *first, *n;
    uint32_t *queue; // [node] those of each rank, block by block in the order of their steps
};

/* ---- blocks ---- */

// Which block a node belongs to: the kind, then the peer; and its place there. A receive has the
// place of its send, so that both ends of a connection have one order.
struct member {
    uint8_t kind;
    uint32_t peer, turn, node;
};

static int by_block(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind > y->kind ? 1 : -1;
    if (x->peer != y->peer)
        return x->peer > y->peer ? 1 : -1;
    return (x->turn > y->turn) - (x->turn < y->turn);
}

static bool same_block(const struct member *a, const struct member *b)
{
    return a->kind == b->kind && a->peer == b->peer;
}

// Sort the nodes of a rank into blocks. Returns their number.
static uint32_t sort_rank(struct making *m, uint32_t rank, uint32_t first_block)
{
    const struct trace_graph *g = m->g;
    uint32_t first = g->first[rank], n = g->first[rank + 1] - first, blocks = 0;
    struct member *members = memory_zeroed((size_t)n + 1, sizeof *members);
    for (uint32_t i = 0; i < n; i++) {
        const struct trace_graph_node *node = &g->nodes[first + i];
        bool receives = node->type == TRACE_RECV;
        members[i] = (struct member){.kind = node->type,
                                     .peer = node->peer,
                                     .turn = receives ? g->nodes[node->match].turn : node->turn,
                                     .node = first + i};
    }
    qsort(members, n, sizeof *members, by_block);
    for (uint32_t i = 0; i < n; i++) {
        blocks += i == 0 || !same_block(&members[i - 1], &members[i]);
        m->queue[first + i] = members[i].node;
        m->block[members[i].node] = first_block + blocks - 1;
    }
    free(members);
    return blocks;
}

/* ---- steps ---- */

// The dependencies of a node for which its thread block has to wait: those on nodes of other
// blocks. A thread block runs its sends, or its computations, in an order in which every node
// comes behind those of the block that it depends on. Receives are in the order of the sends at
// the other end, so that they may depend on any receive of their block.
static uint32_t awaited(const struct making *m, uint32_t node, uint32_t *items)
{
    const struct trace_graph *g = m->g;
    const struct trace_graph_node *x = &g->nodes[node];
    uint32_t n = 0;
    for (uint32_t k = 0; k < x->n_after; k++) {
        uint32_t before = g->after[x->first_after + k];
        if (m->block[before] == m->block[node] && x->type != TRACE_RECV)
            continue;
        if (items != NULL)
            items[n] = before;
        n++;
    }
    return n;
}

// Steps of a node: one for each dependency but the last, then those that move or compute.
static uint64_t steps_of(const struct making *m, uint32_t node)
{
    const struct trace_graph_node *x = &m->g->nodes[node];
    uint32_t waits = awaited(m, node, NULL);
    uint64_t own = x->type == TRACE_COMP ? 1 : (x->bytes + m->step_bytes - 1) / m->step_bytes;
    return own + (waits > 0 ? waits - 1 : 0);
}

static void make_steps(const struct making *m, uint32_t node, uint32_t *items)
{
    const struct trace_graph_node *x = &m->g->nodes[node];
    const struct xml_block *b = &m->a->blocks[m->block[node]];
    struct xml_step *steps = &m->a->steps[b->first_step + m->first[node]];
    uint32_t waits = awaited(m, node, items);
    uint64_t left = x->bytes;
    for (uint32_t i = 0; i < m->n[node]; i++) {
        struct xml_step s = {
            .type = XML_NOP, .line = x->record, .after_block = XML_NONE, .after_step = XML_NONE};
        if (i < waits) {
            uint32_t before = items[i];
            s.after_block = m->a->blocks[m->block[before]].id;
            s.after_step = m->first[before] + m->n[before] - 1;
        }
        if (i + 1 >= waits && x->type != TRACE_COMP) {
            s.type = x->type == TRACE_SEND ? XML_SEND : XML_RECEIVE;
            s.count = (uint32_t)(left < m->step_bytes ? left : m->step_bytes);
            left -= s.count;
        }
        if (i + 1 == m->n[node])
            s.takes_ps = x->takes_ps;
        steps[i] = s;
    }
}

/* ---- the algorithm ---- */

// Sort all nodes into blocks, and count their steps. Returns false if there are too many.
static bool count(struct making *m, uint32_t *n_blocks, uint32_t *n_steps, const char **many)
{
    const struct trace_graph *g = m->g;
    uint64_t blocks = 0, steps = 0;
    for (uint32_t rank = 0; rank < g->n_ranks; rank++) {
        uint32_t own = sort_rank(m, rank, (uint32_t)blocks);
        blocks += own;
        *many = "a rank exchanges messages with more than 511 others";
        if (own > XML_BLOCKS_MAX || blocks > XML_ALL_BLOCKS_MAX)
            return false;
    }
    *many = "the messages are more than 4194304 steps of the library";
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint64_t n = steps_of(m, i);
        if ((steps += n) > XML_STEPS_MAX)
            return false;
        m->n[i] = (uint32_t)n;
    }
    *n_blocks = (uint32_t)blocks;
    *n_steps = (uint32_t)steps;
    return true;
}

static void fill_blocks(struct making *m)
{
    const struct trace_graph *g = m->g;
    struct xml_algorithm *a = m->a;
    uint32_t steps = 0, blocks = 0;
    for (uint32_t rank = 0; rank < g->n_ranks; rank++) {
        struct xml_gpu *gpu = &a->gpus[rank];
        *gpu = (struct xml_gpu){.first_block = blocks};
        for (uint32_t i = g->first[rank]; i < g->first[rank + 1]; i++) {
            const struct trace_graph_node *node = &g->nodes[m->queue[i]];
            uint32_t index = m->block[m->queue[i]];
            struct xml_block *b = &a->blocks[index];
            if (index == blocks) {
                *b = (struct xml_block){.gpu = rank,
                                        .id = gpu->n_blocks++,
                                        .send = node->type == TRACE_SEND ? node->peer : XML_NONE,
                                        .receive = node->type == TRACE_RECV ? node->peer : XML_NONE,
                                        .first_step = steps,
                                        .line = node->record};
                blocks++;
            }
            m->first[m->queue[i]] = b->n_steps;
            b->n_steps += m->n[m->queue[i]];
            steps += m->n[m->queue[i]];
        }
        a->most_blocks = gpu->n_blocks > a->most_blocks ? gpu->n_blocks : a->most_blocks;
    }
}

static struct xml_algorithm *make(struct making *m, const char *prefix, const char **many)
{
    const struct trace_graph *g = m->g;
    const char *slash = strrchr(prefix, '/');
    uint32_t blocks, steps, most = 0;
    if (!count(m, &blocks, &steps, many))
        return NULL;
    struct xml_algorithm *a = m->a = xml_algorithm_new(g->n_ranks, blocks, steps);
    snprintf(a->name, sizeof a->name, "%.*s", XML_NAME - 1, slash != NULL ? slash + 1 : prefix);
    strcpy(a->coll, "custom");
    a->protocol = NCCL_SIMPLE;
    a->n_channels = a->n_chunks = 1;
    a->own_sizes = true;
    a->place = "record";
    fill_blocks(m);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        most = g->nodes[i].n_after > most ? g->nodes[i].n_after : most;
    uint32_t *items = memory_zeroed((size_t)most + 1, sizeof *items);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        make_steps(m, i, items);
    free(items);
    return a;
}

struct xml_algorithm *trace_algorithm_read(const char *dir, const char *prefix, uint64_t step_bytes,
                                           const char *path, struct err *err)
{
    struct trace_graph g;
    struct xml_error error = {0};
    struct xml_algorithm *a = NULL;
    const char *many = NULL;
    if (trace_graph_read(&g, dir, prefix, path, err)) {
        struct making m = {.g = &g, .step_bytes = step_bytes};
        uint32_t **lists[] = {&m.block, &m.first, &m.n, &m.queue};
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            *lists[i] = memory_zeroed(g.n_nodes + 1, sizeof **lists[i]);
        a = make(&m, prefix, &many);
        for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
            free(*lists[i]);
        if (a == NULL)
            err_add(err, path, "%s: %s", prefix, many);
    }
    trace_graph_free(&g);
    if (a != NULL && !xml_algorithm_link(a, &error)) {
        err_add(err, path, "%s, record %u: %s", prefix, error.line, error.text);
        free(a);
        return NULL;
    }
    return a;
}
