// SPDX-License-Identifier: MIT
#include "workload/trace/trace_graph.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collective/nccl/xml/algorithm.h"
#include "engine/base/memory.h"
#include "engine/text/json_file.h"
#include "workload/trace/trace.h"
#include "workload/trace/trace_message.h"

#define TAKES_MAX_US UINT64_C(100000000000) // 100000 s, as in scenarios

struct reading {
    struct trace_graph *g;
    struct trace trace;
    uint32_t rank;
    char *full;         // the prefix with its folder
    const char *prefix; // as the user has given it
    uint64_t *ids;      // what nodes wait for, each beside its place in g->after
    size_t cap_ids;
    const char *path;
    struct err *err;
};

/* ---- nodes ---- */

#define FAIL(r, node, ...) (trace_error(&(r)->trace, node, (r)->path, (r)->err, __VA_ARGS__) == 0)

static bool number(struct reading *r, const struct trace_node *from, enum trace_attribute what,
                   uint64_t least, uint64_t most, uint64_t *value)
{
    int64_t given = from->number[what];
    if (!trace_has(from, what))
        return FAIL(r, from, "a %s needs the attribute %s", trace_type_names[from->type],
                    trace_attribute_names[what]);
    if (given < 0 || (uint64_t)given < least || (uint64_t)given > most)
        return FAIL(r, from, "%s %" PRId64 " must be from %" PRIu64 " to %" PRIu64,
                    trace_attribute_names[what], given, least, most);
    *value = (uint64_t)given;
    return true;
}

static bool read_message(struct reading *r, const struct trace_node *from,
                         struct trace_graph_node *node)
{
    uint64_t peer = 0;
    if (!number(r, from, from->type == TRACE_SEND ? TRACE_COMM_DST : TRACE_COMM_SRC, 0,
                r->g->n_ranks - 1, &peer) ||
        !number(r, from, TRACE_COMM_SIZE, 1, UINT64_C(1) << 50, &node->bytes))
        return false;
    if (peer == r->rank)
        return FAIL(r, from, "rank %u sends a message to itself", r->rank);
    node->tag = trace_has(from, TRACE_COMM_TAG) ? (uint64_t)from->number[TRACE_COMM_TAG] : 0;
    node->peer = (uint32_t)peer;
    return true;
}

static bool read_node(struct reading *r, const struct trace_node *from)
{
    struct trace_graph *g = r->g;
    struct trace_graph_node node = {.type = (uint8_t)from->type,
                                    .rank = r->rank,
                                    .id = from->id,
                                    .record = (uint32_t)r->trace.records.number,
                                    .n_after = (uint32_t)from->n_after,
                                    .first_after = g->n_after};
    if (from->type == TRACE_COMP) {
        if (from->duration_us > TAKES_MAX_US)
            return FAIL(r, from, "a duration of %" PRIu64 " us is more than 100000 s",
                        from->duration_us);
        node.takes_ps = (ps_t)from->duration_us * 1000 * PS_PER_NS;
        if (trace_has(from, TRACE_TAKES_PS) && from->number[TRACE_TAKES_PS] >= 0)
            node.takes_ps = (ps_t)from->number[TRACE_TAKES_PS];
    } else if (from->type != TRACE_SEND && from->type != TRACE_RECV) {
        return FAIL(r, from,
                    "a %s has no place in a collective: it has sends, receives and "
                    "computations",
                    trace_type_names[from->type]);
    } else if (!read_message(r, from, &node)) {
        return false;
    }
    if (g->n_nodes == XML_STEPS_MAX || from->n_after > XML_STEPS_MAX - g->n_after)
        return FAIL(r, from, "the traces have more than %u nodes or dependencies", XML_STEPS_MAX);
    for (size_t i = 0; i < from->n_after; i++) {
        if (g->n_after == r->cap_ids)
            r->ids = memory_grow(r->ids, &r->cap_ids, sizeof *r->ids);
        r->ids[g->n_after++] = from->after[i];
    }
    if (g->n_nodes == g->cap_nodes)
        g->nodes = memory_grow(g->nodes, &g->cap_nodes, sizeof *g->nodes);
    g->nodes[g->n_nodes++] = node;
    return true;
}

/* ---- dependencies ---- */

struct named {
    uint64_t id;
    uint32_t node;
};

static int by_id(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return x->id != y->id ? (x->id > y->id) - (x->id < y->id)
                          : (x->node > y->node) - (x->node < y->node);
}

// The node of an id among those of the rank, sorted by their ids; XML_NONE without one.
static uint32_t node_of(const struct named *names, uint32_t n, uint64_t id)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (names[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && names[low].id == id ? names[low].node : XML_NONE;
}

__attribute__((format(printf, 3, 4))) static bool fail_at(struct reading *r, uint32_t node,
                                                          const char *format, ...)
{
    char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const struct trace_graph_node *n = &r->g->nodes[node];
    err_add(r->err, r->path, "%s.%u.et: node %" PRIu64 " (record %u): %s", r->prefix, n->rank,
            n->id, n->record, text);
    return false;
}

// Turn the ids that the nodes of the rank wait for into nodes.
static bool find_after(struct reading *r, uint32_t first)
{
    struct trace_graph *g = r->g;
    uint32_t n = (uint32_t)g->n_nodes - first;
    struct named *names = memory_zeroed((size_t)n + 1, sizeof *names);
    bool good = true;
    g->after = memory_resize(g->after, g->n_after + 1, sizeof *g->after);
    for (uint32_t i = 0; i < n; i++)
        names[i] = (struct named){g->nodes[first + i].id, first + i};
    qsort(names, n, sizeof *names, by_id);
    for (uint32_t i = 1; i < n && good; i++)
        if (names[i].id == names[i - 1].id)
            good = fail_at(r, names[i].node, "another node has this id");
    for (uint32_t i = first; i < g->n_nodes && good; i++)
        for (uint32_t k = 0; k < g->nodes[i].n_after && good; k++) {
            size_t at = g->nodes[i].first_after + k;
            g->after[at] = node_of(names, n, r->ids[at]);
            if (g->after[at] == XML_NONE)
                good = fail_at(r, i, "waits for node %" PRIu64 ", which the file does not have",
                               r->ids[at]);
        }
    free(names);
    return good;
}

// The dependencies of a rank, from each node to the nodes that wait for it. With nodes numbered
// from the rank's first, items[begin[i]] to items[begin[i + 1] - 1] wait for node i.
struct waiters {
    uint32_t *begin, *items;
};

static struct waiters waiters_of(const struct trace_graph *g, uint32_t first)
{
    uint32_t n = (uint32_t)g->n_nodes - first;
    size_t base = n > 0 ? g->nodes[first].first_after : g->n_after;
    struct waiters w = {.begin = memory_zeroed((size_t)n + 2, sizeof *w.begin),
                        .items = memory_zeroed(g->n_after - base + 1, sizeof *w.items)};
    // While items are put down, begin[i + 1] is the place of the next one of node i.
    for (size_t a = base; a < g->n_after; a++)
        w.begin[g->after[a] - first + 2]++;
    for (uint32_t i = 0; i < n; i++)
        w.begin[i + 2] += w.begin[i + 1];
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < g->nodes[first + i].n_after; k++)
            w.items[w.begin[g->after[g->nodes[first + i].first_after + k] - first + 1]++] = i;
    return w;
}

// Give the nodes of the rank their turns: each behind all that it waits for, otherwise in the order
// of the file.
static bool order_rank(struct reading *r, uint32_t first)
{
    struct trace_graph *g = r->g;
    uint32_t n = (uint32_t)g->n_nodes - first, ready = 0, done;
    struct waiters w = waiters_of(g, first);
    uint32_t *left = memory_zeroed((size_t)n + 1, sizeof *left); // nodes that it still waits for
    uint32_t *order = memory_zeroed((size_t)n + 1, sizeof *order);
    for (uint32_t i = 0; i < n; i++)
        if ((left[i] = g->nodes[first + i].n_after) == 0)
            order[ready++] = first + i;
    for (done = 0; done < ready; done++) {
        uint32_t i = order[done] - first;
        g->nodes[first + i].turn = done;
        for (uint32_t k = w.begin[i]; k < w.begin[i + 1]; k++)
            if (--left[w.items[k]] == 0)
                order[ready++] = first + w.items[k];
    }
    uint32_t stuck = 0;
    while (stuck < n && left[stuck] == 0)
        stuck++;
    free(w.begin);
    free(w.items);
    free(left);
    free(order);
    return stuck == n || fail_at(r, first + stuck, "waits for nodes that wait for it");
}

/* ---- messages ---- */

// All sends, or all receives, sorted by the sender first.
static struct trace_message *messages_of(const struct trace_graph *g, uint8_t type, size_t *n)
{
    struct trace_message *list = memory_zeroed(g->n_nodes + 1, sizeof *list);
    *n = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const struct trace_graph_node *node = &g->nodes[i];
        if (node->type != type)
            continue;
        bool sends = type == TRACE_SEND;
        list[(*n)++] = (struct trace_message){sends ? node->rank : node->peer,
                                              sends ? node->peer : node->rank,
                                              node->tag,
                                              node->bytes,
                                              node->turn,
                                              i};
    }
    trace_messages_sort(list, *n);
    return list;
}

// Of several equal messages the first one sent is the first one received.
static bool match(struct reading *r)
{
    struct trace_graph *g = r->g;
    size_t n_sends, n_receives;
    struct trace_message *sends = messages_of(g, TRACE_SEND, &n_sends),
                         *receives = messages_of(g, TRACE_RECV, &n_receives),
                         none = {.rank = UINT32_MAX};
    bool good = true;
    for (size_t i = 0; (i < n_sends || i < n_receives) && good; i++) {
        const struct trace_message *s = i < n_sends ? &sends[i] : &none,
                                   *v = i < n_receives ? &receives[i] : &none;
        int order = trace_message_compare(s, v);
        if (order < 0)
            good = fail_at(r, s->node,
                           "unmatched send: rank %u does not receive %" PRIu64
                           " bytes with tag %" PRIu64,
                           s->peer, s->bytes, s->tag);
        else if (order > 0)
            good = fail_at(r, v->node,
                           "unmatched receive: rank %u does not send %" PRIu64
                           " bytes with tag %" PRIu64,
                           v->rank, v->bytes, v->tag);
        else {
            g->nodes[s->node].match = v->node;
            g->nodes[v->node].match = s->node;
        }
    }
    free(sends);
    free(receives);
    return good;
}

/* ---- files ---- */

static char *file_of(const struct reading *r, uint32_t rank)
{
    char end[32];
    snprintf(end, sizeof end, ".%u.et", rank);
    size_t n = strlen(r->full) + sizeof end;
    char *name = memory_bytes(n);
    snprintf(name, n, "%s%s", r->full, end);
    return name;
}

static bool read_rank(struct reading *r, uint32_t rank)
{
    struct trace_node node;
    uint32_t first = (uint32_t)r->g->n_nodes;
    char *name = file_of(r, rank);
    int result;
    r->rank = rank;
    r->trace = (struct trace){.records = {.file = name}};
    bool good = true;
    while (good && (result = trace_next(&r->trace, &node, r->path, r->err)) != 0)
        good = result == 1 && read_node(r, &node);
    trace_free(&r->trace);
    free(name);
    r->g->first[rank + 1] = (uint32_t)r->g->n_nodes;
    return good && find_after(r, first) && order_rank(r, first);
}

static uint32_t count_files(const struct reading *r)
{
    for (uint32_t n = 0;; n++) {
        char *name = file_of(r, n);
        bool exists = n < XML_GPUS_MAX && access(name, R_OK) == 0;
        free(name);
        if (!exists)
            return n;
    }
}

bool trace_graph_read(struct trace_graph *g, const char *dir, const char *prefix, const char *path,
                      struct err *err)
{
    struct reading r = {
        .g = g, .full = path_from(dir, prefix), .prefix = prefix, .path = path, .err = err};
    *g = (struct trace_graph){.n_ranks = count_files(&r)};
    g->first = memory_zeroed((size_t)g->n_ranks + 1, sizeof *g->first);
    bool good = g->n_ranks > 0;
    if (!good)
        err_add(err, path,
                "cannot open %s.0.et: the traces of ranks are PREFIX.0.et, PREFIX.1.et, ..",
                prefix);
    for (uint32_t rank = 0; rank < g->n_ranks && good; rank++)
        good = read_rank(&r, rank);
    good = good && match(&r);
    free(r.ids);
    free(r.full);
    return good;
}

void trace_graph_free(struct trace_graph *g)
{
    free(g->first);
    free(g->nodes);
    free(g->after);
}
