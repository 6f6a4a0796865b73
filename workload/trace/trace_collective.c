// SPDX-License-Identifier: MIT
// A member's nodes begin in the order of their ids. Messages match by sender, receiver, tag and
// size. Source: ASTRA-sim 2, CustomAlgorithm.cc, Sys.cc (front_end_sim_send).
#include "workload/trace/trace_collective.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "workload/trace/trace_message.h"
#include "workload/trace/trace_node.h"

#define TAGS 500000000 // tags are taken modulo this number

struct making {
    const struct trace_graph *g;
    const struct trace_members *members;
    struct coll_graph_node *nodes; // in the graph's order
    uint32_t *first, *first_key, *next;
    uint32_t *order; // [node of the graph] of the traces
    uint32_t *place; // the reverse
};

/* ---- nodes ---- */

static uint32_t file_of(const struct making *m, uint32_t member)
{
    return m->members->file != NULL ? m->members->file[member] : member;
}

static uint32_t member_of(const struct making *m, uint32_t rank)
{
    return m->members->member != NULL ? m->members->member[rank] : rank;
}

struct named {
    uint64_t id;
    uint32_t node;
};

static int by_id(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_nodes(struct making *m)
{
    const struct trace_graph *g = m->g;
    struct named *names = memory_zeroed(g->n_nodes + 1, sizeof *names);
    uint32_t at = 0;
    for (uint32_t member = 0; member < g->n_ranks; member++) {
        uint32_t file = file_of(m, member), n = g->first[file + 1] - g->first[file];
        for (uint32_t i = 0; i < n; i++)
            names[i] = (struct named){g->nodes[g->first[file] + i].id, g->first[file] + i};
        qsort(names, n, sizeof *names, by_id);
        m->first[member] = at;
        for (uint32_t i = 0; i < n; i++, at++) {
            m->order[at] = names[i].node;
            m->place[names[i].node] = at;
        }
    }
    m->first[g->n_ranks] = at;
    free(names);
}

static void fill_node(struct making *m, uint32_t at)
{
    const struct trace_graph_node *from = &m->g->nodes[m->order[at]];
    struct coll_graph_node *node = &m->nodes[at];
    *node = (struct coll_graph_node){.kind = COLL_GRAPH_COMPUTE, .before = from->n_after};
    if (from->type == TRACE_COMP) {
        node->takes_ps = from->takes_ps > 0 ? from->takes_ps : PS_PER_NS;
        return;
    }
    node->kind = from->type == TRACE_SEND ? COLL_GRAPH_SEND : COLL_GRAPH_RECEIVE;
    node->peer = member_of(m, from->peer);
    node->tag = (uint32_t)(from->tag % TAGS);
    node->bytes = from->bytes;
}

// The nodes behind each node, in the order in which they begin.
static void fill_next(struct making *m)
{
    const struct trace_graph *g = m->g;
    uint32_t sum = 0;
    for (size_t a = 0; a < g->n_after; a++)
        m->nodes[m->place[g->after[a]]].n_next++;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        m->nodes[i].first_next = sum;
        sum += m->nodes[i].n_next;
        m->nodes[i].n_next = 0;
    }
    for (uint32_t member = 0; member < g->n_ranks; member++)
        for (uint32_t i = m->first[member]; i < m->first[member + 1]; i++) {
            const struct trace_graph_node *from = &g->nodes[m->order[i]];
            for (uint32_t k = 0; k < from->n_after; k++) {
                struct coll_graph_node *before =
                    &m->nodes[m->place[g->after[from->first_after + k]]];
                m->next[before->first_next + before->n_next++] = i - m->first[member];
            }
        }
}

/* ---- messages ---- */

// All messages, sorted by the receiver first.
static size_t collect_messages(const struct making *m, struct trace_message *list)
{
    size_t n = 0;
    for (uint32_t member = 0; member < m->g->n_ranks; member++)
        for (uint32_t i = m->first[member]; i < m->first[member + 1]; i++) {
            const struct coll_graph_node *node = &m->nodes[i];
            bool sends = node->kind == COLL_GRAPH_SEND;
            if (node->kind != COLL_GRAPH_COMPUTE)
                list[n++] = (struct trace_message){.rank = sends ? node->peer : member,
                                                   .peer = sends ? member : node->peer,
                                                   .tag = node->tag,
                                                   .bytes = node->bytes,
                                                   .turn = i,
                                                   .node = i};
        }
    trace_messages_sort(list, n);
    return n;
}

// Number the keys of each receiver. Returns a message of a key whose sends and receives differ in
// number, or that a member sends to itself; NULL if there is none.
static const struct trace_message *number_keys(struct making *m, const struct trace_message *list,
                                               size_t n)
{
    uint32_t member = 0, keys = 0, own = 0;
    for (size_t i = 0, end; i < n; i = end, own++, keys++) {
        size_t sends = 0;
        for (; member < list[i].rank; own = 0)
            m->first_key[++member] = keys;
        for (end = i; end < n && trace_message_compare(&list[i], &list[end]) == 0; end++) {
            m->nodes[list[end].node].key = own;
            sends += m->nodes[list[end].node].kind == COLL_GRAPH_SEND;
        }
        if (2 * sends != end - i || list[i].rank == list[i].peer)
            return &list[i];
    }
    while (member < m->g->n_ranks)
        m->first_key[++member] = keys;
    return NULL;
}

static bool match(struct making *m, const char *what, const char *path, struct err *err)
{
    struct trace_message *list = memory_zeroed(m->g->n_nodes + 1, sizeof *list);
    size_t n = collect_messages(m, list);
    const struct trace_message *bad = number_keys(m, list, n);
    if (bad != NULL)
        err_add(err, path,
                "%s: member %u sends %" PRIu64 " bytes with tag %" PRIu64
                " to member %u, which does not "
                "receive them as often: ASTRA-sim takes traces in the order of the ranks, and "
                "peers in that of the group's list",
                what, bad->peer, bad->bytes, bad->tag, bad->rank);
    free(list);
    return bad == NULL;
}

/* ---- the graph ---- */

// One block of memory: the graph, its nodes and its lists.
static struct coll_graph *graph_new(struct making *m)
{
    const struct trace_graph *g = m->g;
    size_t heads = 2 * ((size_t)g->n_ranks + 1);
    size_t bytes = sizeof(struct coll_graph) + g->n_nodes * sizeof *m->nodes +
                   (heads + g->n_after) * sizeof(uint32_t);
    struct coll_graph *graph = memory_zeroed(1, bytes);
    m->nodes = (struct coll_graph_node *)(void *)(graph + 1);
    m->first = (uint32_t *)(void *)(m->nodes + g->n_nodes);
    m->first_key = m->first + g->n_ranks + 1;
    m->next = m->first_key + g->n_ranks + 1;
    *graph = (struct coll_graph){.n = g->n_ranks,
                                 .nodes = m->nodes,
                                 .first = m->first,
                                 .first_key = m->first_key,
                                 .next = m->next};
    return graph;
}

struct coll_graph *trace_collective_make(const struct trace_graph *g,
                                         const struct trace_members *members, const char *what,
                                         const char *path, struct err *err)
{
    struct making m = {.g = g, .members = members};
    struct coll_graph *graph = graph_new(&m);
    m.order = memory_zeroed(g->n_nodes + 1, sizeof *m.order);
    m.place = memory_zeroed(g->n_nodes + 1, sizeof *m.place);
    sort_nodes(&m);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        fill_node(&m, i);
    fill_next(&m);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        graph->bytes += m.nodes[i].kind == COLL_GRAPH_SEND ? m.nodes[i].bytes : 0;
    free(m.order);
    free(m.place);
    if (match(&m, what, path, err))
        return graph;
    free(graph);
    return NULL;
}
