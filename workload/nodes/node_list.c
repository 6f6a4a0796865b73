// SPDX-License-Identifier: MIT
// The dependencies of a rank's nodes are in one array; nodes refer to it by offset.
#include "workload/nodes/node_list.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct listed_node {
    struct node node;
    size_t first_after; // in `after` of the rank
};

struct node_list_rank {
    struct listed_node *nodes;
    size_t n, cap;
    uint64_t *after;
    size_t n_after, cap_after;
};

struct kept_vectors {
    struct coll_uneven uneven;
    size_t n;
    uint64_t bytes[];
};

struct list_cursor {
    const struct node_list *list;
    size_t at[]; // [rank]
};

struct node_list *node_list_new(uint32_t n_ranks)
{
    struct node_list *list = memory_zeroed(1, sizeof *list);
    list->n_ranks = n_ranks;
    list->ranks = memory_zeroed(n_ranks, sizeof *list->ranks);
    return list;
}

void node_list_free(void *self)
{
    struct node_list *list = self;
    if (list == NULL)
        return;
    for (uint32_t r = 0; r < list->n_ranks; r++) {
        free(list->ranks[r].nodes);
        free(list->ranks[r].after);
    }
    free(list->ranks);
    for (size_t i = 0; i < list->n_vectors; i++)
        free(list->vectors[i]);
    free(list->vectors);
    names_free(&list->names);
    free(list);
}

void node_list_add(struct node_list *list, uint32_t rank, const struct node *node)
{
    struct node_list_rank *r = &list->ranks[rank];
    if (r->n == r->cap)
        r->nodes = memory_grow(r->nodes, &r->cap, sizeof *r->nodes);
    while (r->n_after + node->n_after > r->cap_after)
        r->after = memory_grow(r->after, &r->cap_after, sizeof *r->after);
    struct listed_node *added = &r->nodes[r->n++];
    *added = (struct listed_node){*node, r->n_after};
    added->node.after = NULL;
    added->node.name = name_keep(&list->names, node->name);
    if (node->n_after > 0)
        memcpy(&r->after[r->n_after], node->after, node->n_after * sizeof *r->after);
    r->n_after += node->n_after;
}

const struct coll_uneven *node_list_vectors(struct node_list *list, const uint64_t *bytes, size_t n,
                                            bool of_receiver)
{
    for (size_t i = 0; i < list->n_vectors; i++) {
        const struct kept_vectors *kept = list->vectors[i];
        if (kept->n == n && kept->uneven.of_receiver == of_receiver &&
            memcmp(kept->bytes, bytes, n * sizeof *bytes) == 0)
            return &kept->uneven;
    }
    struct kept_vectors *kept = memory_zeroed(1, sizeof *kept + n * sizeof *bytes);
    memcpy(kept->bytes, bytes, n * sizeof *bytes);
    kept->n = n;
    kept->uneven = (struct coll_uneven){kept->bytes, of_receiver};
    if (list->n_vectors == list->cap_vectors)
        list->vectors =
            memory_grow(list->vectors, &list->cap_vectors, sizeof(struct kept_vectors *));
    list->vectors[list->n_vectors++] = kept;
    return &kept->uneven;
}

size_t node_list_size(const struct node_list *list, uint32_t rank) { return list->ranks[rank].n; }

// Node `i` of a rank, with its dependencies.
static struct node node_at(const struct node_list *list, uint32_t rank, size_t i)
{
    const struct node_list_rank *r = &list->ranks[rank];
    struct node node = r->nodes[i].node;
    node.after = node.n_after > 0 ? &r->after[r->nodes[i].first_after] : NULL;
    return node;
}

static void *list_open(const void *self)
{
    const struct node_list *list = self;
    struct list_cursor *c = memory_zeroed(1, sizeof *c + list->n_ranks * sizeof *c->at);
    c->list = list;
    return c;
}

static int list_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct list_cursor *c = cursor;
    (void)err;
    if (c->at[rank] == c->list->ranks[rank].n)
        return 0;
    *node = node_at(c->list, rank, c->at[rank]++);
    return 1;
}

static void list_close(void *cursor) { free(cursor); }

const struct node_source_ops node_list_source = {
    .open = list_open,
    .next = list_next,
    .close = list_close,
    .free = node_list_free,
};
