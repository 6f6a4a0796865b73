// SPDX-License-Identifier: MIT
// The order in which ranks run their collectives is known only from the run; what can be checked
// before is their number, operations and sizes.
#include "workload/chakra/balance.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/base/memory.h"

#define SHOWN 10

void balance_free(struct balance *b)
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

void balance_add(struct balance *b, const struct trace_set *set, uint32_t rank,
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

int balance_check(const struct balance *b, const struct trace_set *set, const char *path,
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
