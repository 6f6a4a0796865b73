// SPDX-License-Identifier: MIT
// Nodes are sorted by id. Nodes without dependencies are removed, then those whose dependencies
// have all been removed, and so on (Kahn, 1962); nodes that remain are in a cycle, or depend on
// one.
#include "workload/chakra/deps.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

#define SHOWN 10 // nodes of a cycle, and errors of a kind, that are shown

void deps_free(struct deps *g)
{
    free(g->nodes);
    free(g->after);
    *g = (struct deps){0};
}

void deps_clear(struct deps *g) { g->n_nodes = g->n_after = 0; }

void deps_add(struct deps *g, uint64_t id, const uint64_t *after, size_t n)
{
    if (g->n_nodes == g->cap_nodes)
        g->nodes = memory_grow(g->nodes, &g->cap_nodes, sizeof *g->nodes);
    g->nodes[g->n_nodes++] = (struct deps_node){id, g->n_after, n};
    for (size_t i = 0; i < n; i++) {
        if (g->n_after == g->cap_after)
            g->after = memory_grow(g->after, &g->cap_after, sizeof *g->after);
        g->after[g->n_after++] = after[i];
    }
}

static int compare_nodes(const void *a, const void *b)
{
    const struct deps_node *x = a, *y = b;
    if (x->id != y->id)
        return x->id > y->id ? 1 : -1;
    return (x->first > y->first) - (x->first < y->first);
}

static size_t node_find(const struct deps *g, uint64_t id)
{
    size_t low = 0, high = g->n_nodes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (g->nodes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->n_nodes && g->nodes[low].id == id ? low : SIZE_MAX;
}

// Check that ids are unique and dependencies exist; replaces ids in `after` by indices.
static int resolve(struct deps *g, const char *where, const char *path, struct err *err)
{
    size_t errors = 0;
    for (size_t i = 1; i < g->n_nodes && errors < SHOWN; i++)
        if (g->nodes[i].id == g->nodes[i - 1].id) {
            errors++;
            err_add(err, path, "%s: two nodes have the id %" PRIu64, where, g->nodes[i].id);
        }
    for (size_t i = 0; i < g->n_nodes && errors < SHOWN; i++)
        for (size_t k = 0; k < g->nodes[i].n && errors < SHOWN; k++) {
            uint64_t *after = &g->after[g->nodes[i].first + k];
            size_t found = node_find(g, *after);
            if (found == SIZE_MAX) {
                errors++;
                err_add(err, path,
                        "%s: node %" PRIu64 " is after node %" PRIu64
                        ", which the file does not have: `missing_nodes` ignore leaves it out",
                        where, g->nodes[i].id, *after);
            }
            *after = found;
        }
    return errors == 0 ? 0 : -1;
}

// From any remaining node, go to a remaining node that it is after, until a node comes again.
static int cycle_report(const struct deps *g, const size_t *left, const char *where,
                        const char *path, struct err *err)
{
    size_t at = 0, n = 0;
    bool *seen = memory_zeroed(g->n_nodes, sizeof *seen);
    while (left[at] == 0)
        at++;
    while (!seen[at]) {
        seen[at] = true;
        size_t k = g->nodes[at].first;
        while (left[g->after[k]] == 0)
            k++;
        at = (size_t)g->after[k];
    }
    struct text t = {0};
    FILE *out = text_open(&t);
    size_t start = at;
    do {
        if (n++ < SHOWN)
            fprintf(out, "node %" PRIu64 ", after ", g->nodes[at].id);
        size_t k = g->nodes[at].first;
        while (left[g->after[k]] == 0)
            k++;
        at = (size_t)g->after[k];
    } while (at != start);
    if (n > SHOWN)
        fprintf(out, "%zu more, after ", n - SHOWN);
    fprintf(out, "node %" PRIu64, g->nodes[start].id);
    char *text = text_close(out, &t);
    err_add(err, path, "%s: dependencies form a cycle: %s", where, text);
    free(text);
    free(seen);
    return -1;
}

// `left`: [n_nodes] number of nodes that a node is still after. `next`, `first`: for each node the
// edges that lead to its children.
static size_t remove_all(const struct deps *g, size_t *left)
{
    size_t *first = memory_zeroed(g->n_nodes + 1, sizeof *first);
    size_t *child = memory_zeroed(g->n_after + 1, sizeof *child);
    size_t *ready = memory_zeroed(g->n_nodes + 1, sizeof *ready), n_ready = 0, removed = 0;
    for (size_t i = 0; i < g->n_nodes; i++)
        for (size_t k = 0; k < g->nodes[i].n; k++)
            first[g->after[g->nodes[i].first + k] + 1]++;
    for (size_t i = 0; i < g->n_nodes; i++)
        first[i + 1] += first[i];
    size_t *at = memory_zeroed(g->n_nodes + 1, sizeof *at);
    for (size_t i = 0; i < g->n_nodes; i++) {
        for (size_t k = 0; k < g->nodes[i].n; k++) {
            size_t parent = (size_t)g->after[g->nodes[i].first + k];
            child[first[parent] + at[parent]++] = i;
        }
        left[i] = g->nodes[i].n;
        if (left[i] == 0)
            ready[n_ready++] = i;
    }
    while (removed < n_ready) {
        size_t node = ready[removed++];
        for (size_t k = first[node]; k < first[node + 1]; k++)
            if (--left[child[k]] == 0)
                ready[n_ready++] = child[k];
    }
    free(first);
    free(child);
    free(ready);
    free(at);
    return removed;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

void deps_cut(struct deps *g, void *ctx, void (*missing)(void *ctx, uint64_t id))
{
    uint64_t *ids = NULL;
    size_t n = 0, cap = 0;
    if (g->n_nodes > 0)
        qsort(g->nodes, g->n_nodes, sizeof *g->nodes, compare_nodes);
    for (size_t i = 0; i < g->n_nodes; i++) {
        struct deps_node *node = &g->nodes[i];
        size_t kept = 0;
        for (size_t k = 0; k < node->n; k++) {
            uint64_t id = g->after[node->first + k];
            if (node_find(g, id) != SIZE_MAX) {
                g->after[node->first + kept++] = id;
                continue;
            }
            if (n == cap)
                ids = memory_grow(ids, &cap, sizeof *ids);
            ids[n++] = id;
        }
        node->n = kept;
    }
    if (n > 0)
        qsort(ids, n, sizeof *ids, compare_ids);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            missing(ctx, ids[i]);
    free(ids);
}

int deps_check(struct deps *g, const char *where, const char *path, struct err *err)
{
    if (g->n_nodes == 0)
        return err_add(err, path, "%s has no nodes", where);
    qsort(g->nodes, g->n_nodes, sizeof *g->nodes, compare_nodes);
    if (resolve(g, where, path, err) != 0)
        return -1;
    size_t *left = memory_zeroed(g->n_nodes, sizeof *left);
    int result = 0;
    if (remove_all(g, left) < g->n_nodes)
        result = cycle_report(g, left, where, path, err);
    free(left);
    return result;
}
