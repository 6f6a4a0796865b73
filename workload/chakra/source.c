// SPDX-License-Identifier: MIT
// The nodes of a checked set of traces, read from the files when the run needs them.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "workload/chakra/set_internal.h"

struct source_cursor {
    struct trace_set *set;
    struct trace *traces; // [rank]
};

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void *source_open(const void *self)
{
    struct trace_set *const *set = self;
    struct source_cursor *cursor = memory_zeroed(1, sizeof *cursor);
    cursor->set = *set;
    cursor->traces = memory_zeroed(cursor->set->n_ranks, sizeof *cursor->traces);
    for (uint32_t r = 0; r < cursor->set->n_ranks; r++)
        cursor->traces[r].records.file = cursor->set->files[r];
    return cursor;
}

// Leave out dependencies on nodes that the file does not have.
static void after_cut(const struct trace_ids *missing, struct trace *t, struct node *node)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < node->n_after; i++) {
        uint64_t id = node->after[i];
        if (bsearch(&id, missing->items, missing->n, sizeof id, compare_ids) == NULL)
            t->after[kept++] = id;
    }
    node->n_after = kept;
}

static int source_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct source_cursor *c = cursor;
    struct trace *t = &c->traces[rank];
    struct trace_node from;
    int result = trace_next(t, &from, NULL, err);
    if (result == 1 && trace_convert(c->set, rank, t, &from, node, NULL, err) != 0)
        return -1;
    const struct trace_ids *missing = &c->set->missing[c->set->same[rank]];
    if (result == 1 && missing->n > 0)
        after_cut(missing, t, node);
    return result;
}

static void source_close(void *cursor)
{
    struct source_cursor *c = cursor;
    for (uint32_t r = 0; r < c->set->n_ranks; r++)
        trace_free(&c->traces[r]);
    free(c->traces);
    free(c);
}

static const struct node_source_ops source_ops = {
    .open = source_open, .next = source_next, .close = source_close, .free = free};

static char **words_copy(const struct trace_words *words)
{
    char **copy = memory_zeroed(words->n + 1, sizeof *copy);
    for (uint32_t i = 0; i < words->n; i++)
        copy[i] = memory_text(words->items[i]);
    return copy;
}

struct node_program trace_set_program(struct trace_set *set)
{
    struct trace_set **self = memory_zeroed(1, sizeof(struct trace_set *));
    *self = set;
    struct node_program p = {.source = &source_ops,
                             .self = self,
                             .n_ranks = set->n_ranks,
                             .n_groups = (uint32_t)set->groups.n,
                             .n_uses = set->uses.n,
                             .n_layers = set->layers.n};
    p.groups = memory_zeroed(p.n_groups + 1, sizeof *p.groups);
    for (uint32_t g = 0; g < p.n_groups; g++) {
        const struct trace_group *group = &set->groups.items[g];
        p.groups[g].name = memory_text(group->name[0] ? group->name : "all");
        if (group->ranks == NULL)
            continue;
        p.groups[g].ranks = memory_zeroed(group->n, sizeof *group->ranks);
        for (uint32_t m = 0; m < group->n; m++)
            p.groups[g].ranks[m] = group->ranks[m];
    }
    const struct trace_program *exported = &set->exported;
    for (uint32_t g = 1; g < p.n_groups && exported->known; g++) {
        char *end;
        unsigned long id = strtoul(p.groups[g].name, &end, 10);
        if (*end != '\0' || id == 0 || id > exported->n_groups)
            continue;
        free(p.groups[g].name);
        p.groups[g].name = memory_text(exported->groups[id - 1]);
        p.groups[g].inner = (uint32_t)exported->inner[id - 1];
    }
    p.in_order = exported->in_order;
    p.idle_use = exported->known ? exported->idle_use : set->uses.n;
    p.uses = words_copy(&set->uses);
    p.layers = words_copy(&set->layers);
    return p;
}
