// SPDX-License-Identifier: MIT
// Checks a set of traces rank by rank. The nodes and dependencies of a file are checked once, even
// if several ranks have it. Peers and groups depend on the rank, so nodes that communicate are
// checked for each rank.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/chakra/deps.h"
#include "workload/chakra/set.h"
#include "workload/chakra/set_internal.h"
#include "workload/chakra/waits.h"

/* ---- balance ---- */

// Counts operations that must agree between ranks: every message is sent as often as it is
// received, and the members of a communicator run the same collectives.

struct balance_message { // messages from one rank to another with one tag and size
    uint32_t src, dst, tag;
    int64_t open;              // sent and not received, negative = received and not sent
    uint64_t sender, receiver; // ids of the first nodes
};

struct balance_member {    // collectives of one member of a communicator
    uint64_t n, sum, last; // sum of hashes of operations and sizes; id of the last node
};

struct balance {
    struct balance_message *messages; // open hashing; dst == src = free
    size_t n_messages, slots;
    struct balance_member **members; // [group][rank]
    uint32_t n_groups;
};

#define SHOWN 10

static void balance_free(struct balance *b)
{
    for (uint32_t v = 0; v < b->n_groups; v++)
        free(b->members[v]);
    free(b->members);
    free(b->messages);
    *b = (struct balance){0};
}

static uint64_t mix(uint64_t x) // finalizer of MurmurHash3
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

/* ---- messages ---- */

static struct balance_message *message_slot(const struct balance *b, uint32_t src, uint32_t dst,
                                            uint32_t tag)
{
    for (size_t at = mix(((uint64_t)src << 32 | dst) + tag * UINT64_C(0x9e3779b97f4a7c15));; at++) {
        struct balance_message *m = &b->messages[at & (b->slots - 1)];
        if (m->src == m->dst || (m->src == src && m->dst == dst && m->tag == tag))
            return m;
    }
}

// Entries whose messages are all received are dropped when the table grows.
static void messages_grow(struct balance *b)
{
    struct balance old = *b;
    size_t open = 0;
    for (size_t i = 0; i < old.slots; i++)
        open += old.messages[i].open != 0;
    b->slots = 64;
    while (b->slots < 4 * (open + 1))
        b->slots *= 2;
    b->messages = memory_zeroed(b->slots, sizeof *b->messages);
    b->n_messages = open;
    for (size_t i = 0; i < old.slots; i++) {
        const struct balance_message *m = &old.messages[i];
        if (m->open != 0)
            *message_slot(b, m->src, m->dst, m->tag) = *m;
    }
    free(old.messages);
}

static void message_add(struct balance *b, uint32_t src, uint32_t dst, const struct node *node)
{
    if (2 * b->n_messages >= b->slots)
        messages_grow(b);
    struct balance_message *m = message_slot(b, src, dst, node->tag);
    if (m->src == m->dst) {
        *m = (struct balance_message){src, dst, node->tag, 0, UINT64_MAX, UINT64_MAX};
        b->n_messages++;
    }
    bool sends = node->kind == NODE_SEND;
    uint64_t *first = sends ? &m->sender : &m->receiver;
    if (*first == UINT64_MAX)
        *first = node->id;
    m->open += sends ? 1 : -1;
}

/* ---- collectives ---- */

static void collective_add(struct balance *b, const struct trace_set *set, uint32_t rank,
                           const struct node *node)
{
    if (node->group >= b->n_groups) {
        b->members = memory_resize(b->members, node->group + 1, sizeof(struct balance_member *));
        while (b->n_groups <= node->group)
            b->members[b->n_groups++] = memory_zeroed(set->n_ranks, sizeof(struct balance_member));
    }
    struct balance_member *m = &b->members[node->group][rank];
    m->n++;
    m->sum += mix(node->bytes * COLL_OPS + node->op + (uint64_t)node->root * 1000003 +
                  (uint64_t)node->dims * 7919);
    m->last = node->id;
}

static void balance_add(struct balance *b, const struct trace_set *set, uint32_t rank,
                        const struct node *node)
{
    if (node->kind == NODE_SEND)
        message_add(b, rank, node->peer, node);
    else if (node->kind == NODE_RECV)
        message_add(b, node->peer, rank, node);
    else if (node->kind == NODE_COLLECTIVE)
        collective_add(b, set, rank, node);
}

/* ---- the check ---- */

static int compare_messages(const void *a, const void *b)
{
    const struct balance_message *x = a, *y = b;
    if (x->src != y->src)
        return x->src > y->src ? 1 : -1;
    if (x->dst != y->dst)
        return x->dst > y->dst ? 1 : -1;
    return (x->tag > y->tag) - (x->tag < y->tag);
}

static int messages_check(const struct balance *b, const struct trace_set *set, const char *path,
                          struct err *err)
{
    struct balance_message *open = memory_zeroed(b->slots + 1, sizeof *open);
    size_t n = 0;
    for (size_t i = 0; i < b->slots; i++)
        if (b->messages[i].open != 0)
            open[n++] = b->messages[i];
    qsort(open, n, sizeof *open, compare_messages);
    for (size_t i = 0; i < n && i < SHOWN; i++) {
        const struct balance_message *m = &open[i];
        const struct trace_tag *tag = &set->tags[m->tag];
        uint64_t bytes = tag->bytes;
        if (bytes == UINT64_MAX) // of an exported program
            err_add(err, path,
                    "rank %u sends %" PRId64 " messages with tag %" PRIu64
                    " to rank %u more than it receives",
                    m->src, m->open, tag->tag, m->dst);
        else if (m->open > 0)
            err_add(err, path,
                    "rank %u sends %" PRId64 " messages of %" PRIu64 " bytes with tag %" PRIu64
                    " (node %" PRIu64 ") that rank %u does not receive",
                    m->src, m->open, tag->bytes, tag->tag, m->sender, m->dst);
        else
            err_add(err, path,
                    "rank %u receives %" PRId64 " messages of %" PRIu64 " bytes with tag %" PRIu64
                    " (node %" PRIu64 ") that rank %u does not send",
                    m->dst, -m->open, tag->bytes, tag->tag, m->receiver, m->src);
    }
    if (n > SHOWN)
        err_add(err, path, "%zu more pairs of ranks and tags do not match", n - SHOWN);
    free(open);
    return n > 0 ? -1 : 0;
}

static int group_check(const struct balance *b, const struct trace_set *set, uint32_t v,
                       const char *path, struct err *err)
{
    const struct trace_group *group = &set->groups.items[v];
    uint32_t first = group->ranks != NULL ? group->ranks[0] : 0;
    const struct balance_member *a = &b->members[v][first];
    for (uint32_t i = 1; i < group->n; i++) {
        uint32_t rank = group->ranks != NULL ? group->ranks[i] : i;
        const struct balance_member *m = &b->members[v][rank];
        uint64_t last = m->n > 0 ? m->last : a->last;
        if (m->n != a->n)
            return err_add(err, path,
                           "communicator \"%s\": rank %u runs %" PRIu64 " collectives, but rank "
                           "%u runs %" PRIu64 " (node %" PRIu64 " of rank %u is its last)",
                           group->name, first, a->n, rank, m->n, last, m->n > 0 ? rank : first);
        if (m->sum != a->sum)
            return err_add(err, path,
                           "communicator \"%s\": the collectives of ranks %u and %u differ in "
                           "operation or size",
                           group->name, first, rank);
    }
    return 0;
}

// Returns 0, or -1 with errors at `path`.
static int balance_check(const struct balance *b, const struct trace_set *set, const char *path,
                         struct err *err)
{
    int result = messages_check(b, set, path, err);
    unsigned shown = 0;
    for (uint32_t v = 0; v < b->n_groups && shown < SHOWN; v++)
        if (group_check(b, set, v, path, err) != 0) {
            shown++;
            result = -1;
        }
    return result;
}

/* ---- check ---- */

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
    struct wait_watch waits = {0}; // of the first rank, for all
    size_t errors = c->err->n_errors;
    bool first = c->set->same[rank] == rank;
    int result;
    deps_clear(&c->deps);
    while ((result = trace_next(&t, &from, c->path, c->err)) == 1) {
        if (c->err->n_errors > errors + ERRORS_MAX)
            break;
        if (first)
            deps_add(&c->deps, from.id, from.after, from.n_after);
        if (rank == 0)
            wait_watch_add(&waits, &from);
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
    if (result == 0 && c->err->n_errors == errors)
        wait_watch_end(&waits, t.records.file, c->path, c->err);
    wait_watch_free(&waits);
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
