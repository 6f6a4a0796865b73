// SPDX-License-Identifier: MIT
// Checks a set of traces rank by rank. The nodes and dependencies of a file are checked once, even
// if several ranks have it. Peers and groups depend on the rank, so nodes that communicate are
// checked for each rank.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/chakra/balance.h"
#include "workload/chakra/deps.h"
#include "workload/chakra/set_internal.h"

#define ERRORS_MAX 50 // more are not shown

struct check {
    struct trace_set *set;
    struct deps deps;
    struct balance balance;
    struct {         // [rank] of the first rank with its file
        bool varies; // its content depends on the rank: messages, or collectives of groups
        bool damaged;
        uint64_t nodes;
    } * files;
    const char *path;
    struct err *err;
};

static void count(struct check *c, uint32_t rank, const struct node *node)
{
    struct trace_set *set = c->set;
    bool group = node->kind == NODE_COLLECTIVE && node->group > 0;
    c->files[rank].nodes++;
    if (group || node->kind == NODE_SEND || node->kind == NODE_RECV)
        c->files[rank].varies = true;
    if (node->kind == NODE_SEND) {
        set->messages++;
        set->message_bytes += node->bytes;
    }
    if (node->kind == NODE_COLLECTIVE)
        set->used[node->group] |= UINT32_C(1) << node->op;
    balance_add(&c->balance, set, rank, node);
}

// Read the metadata nodes of a file for the groups that they define.
static int groups_collect(struct check *c, uint32_t rank)
{
    struct trace t = {.records.file = c->set->files[rank]};
    struct trace_node from;
    int result;
    while ((result = trace_next(&t, &from, c->path, c->err)) == 1) {
        if (from.type != TRACE_METADATA || from.inputs[0] == '\0')
            continue;
        char *where = text_format("%s: node %llu", t.records.file, (unsigned long long)from.id);
        if (trace_groups_metadata(&c->set->groups, from.inputs, where, c->path, c->err) != 0)
            result = -1;
        free(where);
        if (result < 0)
            break;
    }
    trace_free(&t);
    return result;
}

static void missing_add(void *ctx, uint64_t id)
{
    struct trace_ids *ids = ctx;
    if (ids->n == ids->cap)
        ids->items = memory_grow(ids->items, &ids->cap, sizeof *ids->items);
    ids->items[ids->n++] = id;
}

// Take over the names of an exported program, so that they keep their numbers.
static void exported_read(struct check *c)
{
    struct trace t = {.records.file = c->set->files[0]};
    struct trace_program *p = &c->set->exported;
    if (c->files[0].damaged || trace_begin(&t, c->path, c->err) != 0 || !t.program.known) {
        trace_free(&t);
        return;
    }
    *p = t.program;
    t.program = (struct trace_program){0};
    trace_free(&t);
    free(c->set->uses.items[0]);
    c->set->uses.n = 0;
    for (uint32_t i = 0; i < p->n_uses; i++)
        trace_word(&c->set->uses, p->uses[i]);
    for (uint32_t i = 0; i < p->n_layers; i++)
        trace_word(&c->set->layers, p->layers[i]);
}

static int rank_check(struct check *c, uint32_t rank)
{
    struct trace t = {.records.file = c->set->files[rank]};
    struct trace_node from;
    struct node node;
    size_t errors = c->err->n_errors;
    bool first = c->set->same[rank] == rank;
    int result;
    deps_clear(&c->deps);
    while ((result = trace_next(&t, &from, c->path, c->err)) == 1) {
        if (c->err->n_errors > errors + ERRORS_MAX)
            break;
        if (first)
            deps_add(&c->deps, from.id, from.after, from.n_after);
        if (trace_convert(c->set, rank, &t, &from, &node, c->path, c->err) != 0)
            continue;
        const struct trace_rules *rules = &c->set->rules;
        if (node.kind == NODE_SEND && rules->reaches &&
            !rules->reaches(rules->reaches_ctx, rank, node.peer))
            continue;
        count(c, rank, &node);
    }
    if (result == 0 && first && c->set->rules.cut)
        deps_cut(&c->deps, &c->set->missing[rank], missing_add);
    if (result == 0 && first)
        deps_check(&c->deps, t.records.file, c->path, c->err);
    trace_free(&t);
    c->set->n_nodes += c->files[rank].nodes;
    return c->err->n_errors > errors ? -1 : 0;
}

// Count a file again for another rank, if its content does not depend on the rank.
static void rank_repeat(struct check *c, uint32_t rank)
{
    uint32_t first = c->set->same[rank];
    c->set->n_nodes += c->files[first].nodes;
    for (uint32_t v = 0; v < c->balance.n_groups; v++)
        c->balance.members[v][rank] = c->balance.members[v][first];
}

int trace_set_check(struct trace_set *set, const char *path, struct err *err)
{
    struct check c = {.set = set, .path = path, .err = err};
    size_t errors = err->n_errors;
    c.files = memory_zeroed(set->n_ranks, sizeof *c.files);
    for (uint32_t r = 0; r < set->n_ranks && err->n_errors < errors + ERRORS_MAX; r++)
        if (set->same[r] == r)
            c.files[r].damaged = groups_collect(&c, r) != 0;
    exported_read(&c);
    set->missing = memory_zeroed(set->n_ranks, sizeof *set->missing);
    set->used = memory_zeroed(set->groups.n, sizeof *set->used);
    for (uint32_t r = 0; r < set->n_ranks && err->n_errors < errors + ERRORS_MAX; r++) {
        uint32_t first = set->same[r];
        if (c.files[first].damaged)
            continue;
        if (first == r || c.files[first].varies)
            rank_check(&c, r);
        else
            rank_repeat(&c, r);
    }
    if (err->n_errors == errors)
        balance_check(&c.balance, set, path, err);
    free(c.files);
    deps_free(&c.deps);
    balance_free(&c.balance);
    return err->n_errors > errors ? -1 : 0;
}
