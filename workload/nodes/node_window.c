// SPDX-License-Identifier: MIT
// Nodes by id in a hash table with chains; links from a node to those after it in a pool.
#include "workload/nodes/node_window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

/* ---- id set ---- */

// A set of 64-bit numbers that only grows, compact where they are close to each other: bitmaps of
// 64 numbers in a hash table.

struct id_block {
    uint64_t key, bits; // numbers key * 64 .. key * 64 + 63
};

static struct id_block *block_of(const struct id_set *s, uint64_t key)
{
    for (size_t at = hash_mix(key);; at++) {
        struct id_block *block = &s->blocks[at & (s->cap - 1)];
        if (block->bits == 0 || block->key == key)
            return block;
    }
}

static void grow(struct id_set *s)
{
    struct id_set old = *s;
    s->cap = old.cap > 0 ? 2 * old.cap : 16;
    s->blocks = memory_zeroed(s->cap, sizeof *s->blocks);
    for (size_t i = 0; i < old.cap; i++)
        if (old.blocks[i].bits != 0)
            *block_of(s, old.blocks[i].key) = old.blocks[i];
    free(old.blocks);
}

static void id_set_add(struct id_set *s, uint64_t id)
{
    if (2 * s->n >= s->cap)
        grow(s);
    struct id_block *block = block_of(s, id / 64);
    s->n += block->bits == 0;
    block->key = id / 64;
    block->bits |= UINT64_C(1) << id % 64;
}

static bool id_set_has(const struct id_set *s, uint64_t id)
{
    return s->cap > 0 && (block_of(s, id / 64)->bits >> id % 64 & 1) != 0;
}

static void id_set_free(struct id_set *s)
{
    free(s->blocks);
    *s = (struct id_set){0};
}

/* ---- node window ---- */

#define NAMES_KEPT (1u << 20) // later nodes have no name, so that memory stays bounded

struct window_link {
    uint32_t slot, next;
};

void window_init(struct node_window *w, void *cursor, const struct node_program *p, uint32_t rank,
                 uint32_t limit, struct name_pool *names)
{
    *w = (struct node_window){.source = p->source,
                              .cursor = cursor,
                              .rank = rank,
                              .limit = limit,
                              .names = names,
                              .in_order = p->in_order};
    for (unsigned s = 0; s < NODE_STREAMS_MAX; s++)
        w->freed_ps[s] = PS_NEVER;
}

void window_free(struct node_window *w)
{
    for (unsigned s = 0; s <= NODE_STREAMS_MAX; s++)
        free(w->ready[s].slots);
    free(w->nodes);
    free(w->buckets);
    free(w->links);
    free(w->collectives);
    id_set_free(&w->ended);
}

/* ---- nodes by id ---- */

static uint32_t *bucket_of(const struct node_window *w, uint64_t id)
{
    return &w->buckets[hash_mix(id) & (w->n_buckets - 1)];
}

static void buckets_grow(struct node_window *w)
{
    w->n_buckets = w->n_buckets > 0 ? 2 * w->n_buckets : 16;
    free(w->buckets);
    w->buckets = memory_zeroed(w->n_buckets, sizeof *w->buckets);
    for (uint32_t slot = 1; slot <= w->n_nodes; slot++) {
        struct window_node *n = window_at(w, slot);
        if (n->state == WINDOW_FREE)
            continue;
        uint32_t *bucket = bucket_of(w, n->node.id);
        n->next = *bucket;
        *bucket = slot;
    }
}

static uint32_t find(const struct node_window *w, uint64_t id)
{
    uint32_t slot = w->n_buckets > 0 ? *bucket_of(w, id) : 0;
    while (slot > 0 && window_at(w, slot)->node.id != id)
        slot = window_at(w, slot)->next;
    return slot;
}

// The slot of a node; it is made if the id is not known.
static uint32_t slot_of(struct node_window *w, uint64_t id)
{
    uint32_t slot = find(w, id);
    if (slot > 0)
        return slot;
    slot = w->free_slot;
    if (slot > 0) {
        w->free_slot = window_at(w, slot)->next;
    } else {
        if (w->n_nodes >= w->n_buckets)
            buckets_grow(w);
        if (w->n_nodes == w->cap) {
            size_t cap = w->cap;
            w->nodes = memory_grow(w->nodes, &cap, sizeof *w->nodes);
            w->cap = (uint32_t)cap;
        }
        slot = ++w->n_nodes;
    }
    struct window_node *n = window_at(w, slot);
    *n = (struct window_node){.node.id = id, .state = WINDOW_AWAITED, .cause = id};
    uint32_t *bucket = bucket_of(w, id);
    n->next = *bucket;
    *bucket = slot;
    return slot;
}

static void slot_free(struct node_window *w, uint32_t slot)
{
    struct window_node *n = window_at(w, slot);
    uint32_t *at = bucket_of(w, n->node.id);
    while (*at != slot)
        at = &window_at(w, *at)->next;
    *at = n->next;
    n->state = WINDOW_FREE;
    n->next = w->free_slot;
    w->free_slot = slot;
}

static void link_add(struct node_window *w, uint32_t before, uint32_t slot)
{
    uint32_t at = w->free_link;
    if (at > 0) {
        w->free_link = w->links[at - 1].next;
    } else {
        if (w->n_links == w->cap_links) {
            size_t cap = w->cap_links;
            w->links = memory_grow(w->links, &cap, sizeof *w->links);
            w->cap_links = (uint32_t)cap;
        }
        at = ++w->n_links;
    }
    w->links[at - 1] = (struct window_link){slot, window_at(w, before)->after};
    window_at(w, before)->after = at;
}

/* ---- ready nodes ---- */

static bool goes_first(const struct node_window *w, uint32_t a, uint32_t b)
{
    const struct node *x = &window_at(w, a)->node, *y = &window_at(w, b)->node;
    if (w->in_order && x->stream != NODE_NO_STREAM)
        return window_at(w, a)->turn < window_at(w, b)->turn;
    return x->priority != y->priority ? x->priority > y->priority : x->id < y->id;
}

static struct ready_heap *heap_of(struct node_window *w, const struct node *node)
{
    return &w->ready[node->stream == NODE_NO_STREAM ? NODE_STREAMS_MAX : node->stream];
}

static void heap_push(struct node_window *w, struct ready_heap *h, uint32_t slot)
{
    if (h->n == h->cap) {
        size_t cap = h->cap;
        h->slots = memory_grow(h->slots, &cap, sizeof *h->slots);
        h->cap = (uint32_t)cap;
    }
    uint32_t at = h->n++;
    for (; at > 0 && goes_first(w, slot, h->slots[(at - 1) / 2]); at = (at - 1) / 2)
        h->slots[at] = h->slots[(at - 1) / 2];
    h->slots[at] = slot;
}

static uint32_t heap_pop(struct node_window *w, struct ready_heap *h)
{
    uint32_t first = h->slots[0], last = h->slots[--h->n], at = 0;
    for (uint32_t child = 1; child < h->n; child = 2 * at + 1) {
        child += child + 1 < h->n && goes_first(w, h->slots[child + 1], h->slots[child]);
        if (!goes_first(w, h->slots[child], last))
            break;
        h->slots[at] = h->slots[child];
        at = child;
    }
    h->slots[at] = last;
    return first;
}

static void become_ready(struct node_window *w, uint32_t slot)
{
    struct window_node *n = window_at(w, slot);
    n->state = WINDOW_READY;
    w->n_ready++;
    heap_push(w, heap_of(w, &n->node), slot);
}

/* ---- reading ---- */

static struct group_count *count_of(struct node_window *w, uint32_t group)
{
    for (size_t i = 0; i < w->n_groups; i++)
        if (w->collectives[i].group == group)
            return &w->collectives[i];
    if (w->n_groups == w->cap_groups)
        w->collectives = memory_grow(w->collectives, &w->cap_groups, sizeof *w->collectives);
    w->collectives[w->n_groups] = (struct group_count){.group = group};
    return &w->collectives[w->n_groups++];
}

static void take_in(struct node_window *w, const struct node *node)
{
    uint32_t slot = slot_of(w, node->id), left = 0;
    for (uint32_t i = 0; i < node->n_after; i++) {
        if (id_set_has(&w->ended, node->after[i]))
            continue;
        link_add(w, slot_of(w, node->after[i]), slot);
        left++;
    }
    struct window_node *n = window_at(w, slot);
    n->node = *node;
    n->node.after = NULL;
    n->node.name = w->names->n < NAMES_KEPT ? name_keep(w->names, node->name) : NULL;
    n->left = left;
    if (w->in_order && node->stream != NODE_NO_STREAM)
        n->turn = w->turns[node->stream]++;
    if (w->in_order && node->kind == NODE_COLLECTIVE)
        n->node.number = count_of(w, node->group)->n++;
    n->state = WINDOW_WAITING;
    w->n_held++;
    if (node->stream != NODE_NO_STREAM && node->stream >= w->n_streams)
        w->n_streams = node->stream + 1u;
    if (left == 0)
        become_ready(w, slot);
}

int window_fill(struct node_window *w, struct err *err)
{
    while (!w->source_ended && (w->n_held < w->limit || w->n_ready + w->n_running == 0)) {
        struct node node = {0};
        int got = w->source->next(w->cursor, w->rank, &node, err);
        if (got < 0)
            return -1;
        if (got > 0)
            take_in(w, &node);
        w->source_ended = got == 0;
    }
    return 0;
}

const struct node *window_awaited(const struct node_window *w, uint32_t slot)
{
    for (uint32_t other = 1; other <= w->n_nodes; other++) {
        const struct window_node *n = window_at(w, other);
        for (uint32_t at = n->state != WINDOW_FREE ? n->after : 0; at > 0;
             at = w->links[at - 1].next)
            if (w->links[at - 1].slot == slot)
                return &n->node;
    }
    return NULL;
}

/* ---- starts and ends ---- */

uint32_t window_start(struct node_window *w, ps_t now)
{
    struct ready_heap *best = NULL;
    uint64_t first = 0;
    for (uint32_t s = 0; s <= w->n_streams && w->n_ready > 0; s++) {
        bool streamless = s == w->n_streams;
        struct ready_heap *h = &w->ready[streamless ? NODE_STREAMS_MAX : s];
        if (h->n == 0 || (!streamless && w->busy[s]))
            continue;
        const struct window_node *head = window_at(w, h->slots[0]);
        if (w->in_order && !streamless && head->turn != w->turn[s])
            continue;
        uint64_t id = head->node.id;
        if (best == NULL || id < first) {
            best = h;
            first = id;
        }
    }
    if (best == NULL)
        return 0;
    uint32_t slot = heap_pop(w, best);
    struct window_node *n = window_at(w, slot);
    w->n_ready--;
    w->n_running++;
    n->state = WINDOW_RUNNING;
    if (n->node.stream != NODE_NO_STREAM) {
        w->busy[n->node.stream] = true;
        w->turn[n->node.stream]++;
        if (w->freed_ps[n->node.stream] == now && n->ready_ps < now)
            n->cause = w->freed_by[n->node.stream];
    }
    n->start_ps = now;
    return slot;
}

void window_end(struct node_window *w, uint32_t slot, ps_t now)
{
    struct window_node *n = window_at(w, slot);
    uint64_t id = n->node.id;
    if (n->node.stream != NODE_NO_STREAM) {
        w->busy[n->node.stream] = false;
        w->freed_by[n->node.stream] = id;
        w->freed_ps[n->node.stream] = now;
    }
    for (uint32_t at = n->after, next; at > 0; at = next) {
        uint32_t child = w->links[at - 1].slot;
        next = w->links[at - 1].next;
        w->links[at - 1].next = w->free_link;
        w->free_link = at;
        if (--window_at(w, child)->left > 0)
            continue;
        window_at(w, child)->cause = id;
        window_at(w, child)->ready_ps = now;
        become_ready(w, child);
    }
    id_set_add(&w->ended, id);
    slot_free(w, slot);
    w->n_held--;
    w->n_running--;
    w->last_id = id;
}
